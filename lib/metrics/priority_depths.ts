import type { MetricsProvider } from "../contracts/metrics.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { type Meter, meterOf } from "./meter.ts";

/**
 * Queue depth by priority, for named priorities. If every numeric priority were a label value, the number of series
 * would be unbounded. A key is counted under the priority with which it was first added, even if the priority is raised
 * later.
 */
export class PriorityDepths {
  readonly #gauges = new Map<number, Meter | undefined>();
  /** For each key, the gauge in which the key is counted. */
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
