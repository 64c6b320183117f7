import type { MetricsProvider } from "../contracts/metrics.ts";
import { tellGone } from "./meter.ts";

/** State shared by all queues and pools that report metrics under the same name to the same provider. */
export interface MeasuredName {
  /** Maximum number of handlers that run at once, in total across all pools. */
  concurrency: number;
  /** Number of queues and pools that report metrics under this name. */
  count: number;
  /** Unregisters a queue or pool. After the last one has been unregistered, calls the provider's `gone`. */
  end(): void;
}

const measured = /* @__PURE__ */ new WeakMap<MetricsProvider, Map<string, MeasuredName>>();

/** Registers a queue or pool that begins to report metrics. */
export function measureName(provider: MetricsProvider, name: string): MeasuredName {
  const names = measured.get(provider) ?? new Map<string, MeasuredName>();
  measured.set(provider, names);
  const end = () => {
    shared.count--;
    if (shared.count > 0) return;
    names.delete(name); // a program may keep creating new names
    tellGone(provider, name);
  };
  const shared = names.get(name) ?? { concurrency: 0, count: 0, end };
  names.set(name, shared);
  shared.count++;
  return shared;
}

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
  const shared = measureName(provider, name);
  let hasEnded = false;
  return () => {
    if (hasEnded) return;
    hasEnded = true;
    shared.end();
  };
}
