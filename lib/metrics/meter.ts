import { callSafely } from "../base/thrown.ts";
import { inspect } from "../base/errors.ts";
import { firstErrorReporter } from "../base/first_error.ts";
import type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";

/**
 * Wrapper around a provider's metric. The wrapper's methods never throw, so a failing metric doesn't cause the loss of
 * an item or affect other metrics.
 */
export interface Meter extends Gauge, Counter, Histogram, SettableGauge {}

/** Name of a provider's method that creates a metric. */
export type MeteredMethod = Exclude<keyof MetricsProvider, "gone">;

/** Meter for the metric that a provider's method creates. May be `undefined` only if the method is optional. */
export type MeterOf<M extends MeteredMethod> = Meter | (undefined extends MetricsProvider[M] ? undefined : never);

/**
 * Creates a metric and returns its meter. Queues and pools report every measurement through a meter. Each meter writes
 * its first error to `console.error`. Intended for queues outside this process.
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
 * @typeParam M Name of the method.
 * @param provider Creates the metric.
 * @param method Name of the provider's method that creates the metric.
 * @param queue Name of the queue.
 * @param label Value of the metric's other label, if it has one: a priority level, or a reason for giving items up.
 * @returns The meter; `undefined` if the provider does not have the method.
 * @throws Any error that the provider throws when it creates the metric.
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
  return new GuardedMeter(metric, reporterFor(method, queue));
}

/** Notifies the provider that nothing reports metrics under this name anymore. Never throws. */
export function tellGone(provider: MetricsProvider, name: string): void {
  callSafely(() => provider.gone?.(name), reporterFor("gone", name));
}

/** Returns a function that reports the first error of a provider's method. */
function reporterFor(method: string, queue: string): (error: unknown) => void {
  return firstErrorReporter(`measure '${method}' of queue ${inspect(queue)}`);
}

/**
 * Meter that reports the errors of a provider's metric. Each method is written out, because generic code would be
 * slower, and the methods run for each item.
 */
class GuardedMeter implements Meter {
  readonly #metric: Meter;
  readonly #report: (error: unknown) => void;

  constructor(metric: Meter, report: (error: unknown) => void) {
    this.#metric = metric;
    this.#report = report;
  }

  inc(): void {
    try {
      this.#watch(this.#metric.inc());
    } catch (error) {
      this.#report(error);
    }
  }

  dec(): void {
    try {
      this.#watch(this.#metric.dec());
    } catch (error) {
      this.#report(error);
    }
  }

  observe(value: number): void {
    try {
      this.#watch(this.#metric.observe(value));
    } catch (error) {
      this.#report(error);
    }
  }

  set(value: number): void {
    try {
      this.#watch(this.#metric.set(value));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Reports the rejection of a promise that a metric has returned. */
  #watch(returned: unknown): void {
    if (returned !== undefined) callSafely(() => returned, this.#report);
  }
}
