import type { MetricsProvider } from "../contracts/metrics.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { type Meter, meterOf } from "./meter.ts";

/**
 * The depth of a queue by priority, for the priorities that have a name: a label for each number would grow without
 * bound. A key is counted under the priority that it was added with first, whatever it is raised to later.
 */
export class PriorityDepths {
  readonly #gauges = new Map<number, Meter | undefined>();
  /** Where each key is counted that is counted at all. */
  readonly #gaugeOf = new ChurnMap<unknown, Meter>();

  constructor(provider: MetricsProvider, queue: string, levels: Readonly<Record<string, number>>) {
    for (const [name, priority] of Object.entries(levels)) {
      this.#gauges.set(priority, meterOf(provider, "priorityDepth", queue, name));
    }
  }

  added(key: unknown, priority: number): void {
    const gauge = this.#gauges.get(priority);
    if (gauge === undefined) return;
    this.#gaugeOf.set(key, gauge);
    gauge.inc();
  }

  taken(key: unknown): void {
    this.#gaugeOf.get(key)?.dec();
    this.#gaugeOf.delete(key);
  }
}
