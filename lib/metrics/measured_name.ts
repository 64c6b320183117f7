import type { MetricsProvider } from "../contracts/metrics.ts";
import { tellGone } from "./meter.ts";

/** State shared by all queues and pools that report metrics under the same name to the same provider. */
export class MeasuredName {
  /** Maximum number of handlers that run at once, in total across all pools. */
  concurrency = 0;
  readonly #provider: MetricsProvider;
  readonly #name: string;
  /** Number of queues and pools that report metrics under this name. */
  #count = 0;

  private constructor(provider: MetricsProvider, name: string) {
    this.#provider = provider;
    this.#name = name;
  }

  /** Registers a queue or pool that begins to report metrics. */
  static begin(provider: MetricsProvider, name: string): MeasuredName {
    let names = measured.get(provider);
    if (names === undefined) measured.set(provider, names = new Map());
    let found = names.get(name);
    if (found === undefined) names.set(name, found = new MeasuredName(provider, name));
    found.#count++;
    return found;
  }

  /** Unregisters a queue or pool. After the last one has been unregistered, calls the provider's `gone`. */
  end(): void {
    this.#count--;
    if (this.#count > 0) return;
    // Unused names are removed, because a program may keep creating new ones
    measured.get(this.#provider)?.delete(this.#name);
    tellGone(this.#provider, this.#name);
  }
}

const measured = /* @__PURE__ */ new WeakMap<MetricsProvider, Map<string, MeasuredName>>();

/**
 * Registers an object that reports metrics under the given name. Queues and pools register themselves. When the last
 * registration under the name ends, the provider's `gone` is called.
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
 * @param provider Receives the measurements.
 * @param name Name of the queue.
 * @returns A function that ends the registration. Only the first call has an effect.
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
