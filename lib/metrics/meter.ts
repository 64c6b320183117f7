import { callSafely } from "../base/call_safely.ts";
import { inspect } from "../base/errors.ts";
import { firstErrorReporter } from "../base/first_error.ts";
import type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";

/**
 * A metric of a provider, whose methods never throw: no metric can cost an item anything, or keep others from being
 * measured.
 */
export interface Meter extends Gauge, Counter, Histogram, SettableGauge {}

/** A method of a provider that makes a metric. */
export type MeteredMethod = Exclude<keyof MetricsProvider, "gone">;

/**
 * The meter of what a method makes; `undefined` if the provider leaves out the method, which it may only do with some.
 */
export type MeterOf<M extends MeteredMethod> = Meter | (undefined extends MetricsProvider[M] ? undefined : never);

/**
 * Returns the meter of a metric. Queues and pools make every measurement through one. The first error of each is
 * written to `console.error`. For queues that are not in memory.
 *
 * @example Usage
 * ```ts
 * import { InMemoryMetrics, meterOf } from "@workqueue/core/metrics";
 * import { assertEquals } from "@std/assert";
 *
 * const metrics = new InMemoryMetrics();
 * meterOf(metrics, "retries", "images").inc();
 * assertEquals(metrics.value("workqueue_retries_total", "images"), 1);
 * ```
 *
 * @typeParam M The name of the method.
 * @param provider Makes the metric.
 * @param method The method of the provider that makes the metric.
 * @param queue The name of the queue.
 * @param label The other label of a metric that has two: a priority level, or a reason to give an item up.
 * @returns The meter; `undefined` if the provider does not have the method.
 * @throws What the provider throws as it makes the metric.
 */
export function meterOf<M extends MeteredMethod>(
  provider: MetricsProvider,
  method: M,
  queue: string,
  label?: string,
): MeterOf<M> {
  const make = provider[method] as ((...names: unknown[]) => Meter) | undefined;
  if (make === undefined) return undefined as MeterOf<M>;
  const metric = make.call(provider, queue, label);
  const guard = guardFor(method, queue);
  return {
    inc: guard(() => metric.inc()),
    dec: guard(() => metric.dec()),
    observe: guard((value) => metric.observe(value)),
    set: guard((value) => metric.set(value)),
  };
}

/** Tells the provider that nothing measures under this name any more. Never throws. */
export function tellGone(provider: MetricsProvider, name: string): void {
  guardFor("gone", name)(() => provider.gone?.(name))(0);
}

/** Returns what wraps calls of a provider so that they never throw. Only the first error is reported. */
function guardFor(method: string, queue: string) {
  const report = firstErrorReporter(`measure '${method}' of queue ${inspect(queue)}`);
  return (call: (value: number) => unknown) => (value?: number): void => callSafely(call, report, value!);
}
