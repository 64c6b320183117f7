import type { MetricsProvider } from "../contracts/metrics.ts";
import { tellGone } from "./meter.ts";

/** What all have in common that measure under one name and send it to one provider: queues and pools. */
export class MeasuredName {
  /** How many handlers may run at once, over all pools. */
  concurrency = 0;
  readonly #provider: MetricsProvider;
  readonly #name: string;
  /** How many of them there are. */
  #count = 0;

  private constructor(provider: MetricsProvider, name: string) {
    this.#provider = provider;
    this.#name = name;
  }

  /** One more begins to measure. */
  static begin(provider: MetricsProvider, name: string): MeasuredName {
    let names = measured.get(provider);
    if (names === undefined) measured.set(provider, names = new Map());
    let found = names.get(name);
    if (found === undefined) names.set(name, found = new MeasuredName(provider, name));
    found.#count++;
    return found;
  }

  /** The last one is told to the provider: nothing is measured after that. */
  end(): void {
    this.#count--;
    if (this.#count > 0) return;
    // Names may come and go; what is left of this one is known to nobody
    measured.get(this.#provider)?.delete(this.#name);
    tellGone(this.#provider, this.#name);
  }
}

const measured = /* @__PURE__ */ new WeakMap<MetricsProvider, Map<string, MeasuredName>>();

/**
 * Tells that something begins to measure under a name. Queues and pools do so themselves. When all have ended that
 * measure under that name, the provider is told that it is `gone`.
 *
 * @example Usage
 * ```ts
 * import { beginMeasuring, InMemoryMetrics } from "@workqueue/core/metrics";
 * import { createWorkQueue } from "@workqueue/core/work-queue";
 * import { assertEquals } from "@std/assert";
 *
 * const gone: string[] = [];
 * const metrics = Object.assign(new InMemoryMetrics(), { gone: (name: string) => gone.push(name) });
 * const end = beginMeasuring(metrics, "images");
 * createWorkQueue({ name: "images", metrics }).shutDown();
 * assertEquals(gone, []);
 * end();
 * assertEquals(gone, ["images"]);
 * ```
 *
 * @param provider Where the measurements go.
 * @param name The name of the queue.
 * @returns Tells that it has ended. Only the first call does.
 */
export function beginMeasuring(provider: MetricsProvider, name: string): () => void {
  const shared = MeasuredName.begin(provider, name);
  let hasEnded = false;
  return () => {
    if (hasEnded) return;
    hasEnded = true;
    shared.end();
  };
}
