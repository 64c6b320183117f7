import type { Duration, Gauge, MetricsProvider, SettableGauge } from "@workqueue/core";
import { hasMethods, invalidArgument, requireOptions } from "@workqueue/core/internal";
import { beginMeasuring, type Meter, meterOf } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";
import type { RedisQueue } from "./contract.ts";
import type { Counts } from "./engine.ts";
import { MEASURED, type Measured } from "./measured.ts";
import { requireInterval } from "./options.ts";

/** Options of {@linkcode redisQueueMetrics}. */
export interface RedisQueueMetricsOptions {
  /**
   * Pause between two measurements. From 100 ms to one day.
   *
   * @default {"5s"}
   */
  every?: Duration | undefined;
}

const ACTION = "measure Redis queue";

/**
 * Measures the whole queue on the server. Sets the `depth`, `delayed`, `blocked` and `oldestReady` gauges, if the
 * provider has them. `blocked` is always 0, because no item on Redis is blocked. To measure the work of each process,
 * use the queue's `metrics` option.
 *
 * **Measure each queue in only one process.** The numbers cover all processes. If ten processes report the same depth,
 * the sum is ten times too high.
 *
 * The first measurement starts immediately. Further measurements follow every five seconds (`every`), until the result
 * is disposed or the queue object is shut down. If a measurement fails, the error is reported to the queue's
 * `onQueueError`. Further failures are not reported until a measurement succeeds.
 *
 * After a failure and after the last measurement, the gauges are `NaN`, because their values are unknown. Exporters
 * omit `NaN`. A gauge without `set` is reset to 0 instead. If a gauge throws, the other gauges are still set, and the
 * gauge's first error is written to `console.error`. A second call with the same queue name and provider replaces the
 * first measurement.
 *
 * @example Usage
 * ```ts ignore
 * import { InMemoryMetrics } from "@workqueue/core";
 * import { createRedisQueue, redisQueueMetrics } from "@workqueue/redis";
 *
 * const metrics = new InMemoryMetrics(); // or prometheusMetrics(), or openTelemetryMetrics(meter)
 * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * using _measuring = redisQueueMetrics(queue, metrics, { every: "10s" });
 * await queue.add("cat.jpg");
 * console.log(metrics.value("workqueue_depth", "images"));
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The queue, from {@linkcode createRedisQueue} or {@linkcode redisQueues}.
 * @param metrics The metrics provider. By default, the queue's `metrics` option.
 * @param options The pause between two measurements.
 * @returns An object that ends the measurement when disposed.
 * @throws {TypeError} If an argument or option is of the wrong type, if an option is unknown, or if there is no
 * provider.
 * @throws {RangeError} If `every` is out of range.
 */
export function redisQueueMetrics<T>(
  queue: RedisQueue<T>,
  metrics?: MetricsProvider,
  options: RedisQueueMetricsOptions = {},
): Disposable {
  const measured = (queue as { [MEASURED]?: Measured } | null | undefined)?.[MEASURED];
  if (measured === undefined) throw invalidArgument(ACTION, "queue", "must be a queue on Redis", queue);
  const provider = metrics ?? measured.metrics;
  if (!hasMethods(provider, "depth")) {
    throw invalidArgument(ACTION, "metrics", "must be a provider of metrics", provider);
  }
  requireOptions(ACTION, options, ["every"]);
  const every = requireInterval(ACTION, "every", options.every ?? "5s");
  if (queue.shuttingDown) return { [Symbol.dispose]() {} };
  const looks = looksOf(provider as MetricsProvider);
  looks.get(queue.name)?.[Symbol.dispose]();
  const gauges = new Gauges(queue.name, provider as MetricsProvider);
  const look = new Looks(measured, gauges, every, () => void looks.delete(queue.name));
  looks.set(queue.name, look);
  return look;
}

/** Returns the running measurements for a provider, by queue name. */
function looksOf(provider: MetricsProvider): Map<string, Looks> {
  let looks = looksFor.get(provider);
  if (looks === undefined) looksFor.set(provider, looks = new Map());
  return looks;
}

const looksFor = new WeakMap<MetricsProvider, Map<string, Looks>>();

/** Measures a queue at intervals, one measurement at a time. */
class Looks implements Disposable {
  readonly #queue: Measured;
  readonly #gauges: Gauges;
  readonly #every: number;
  readonly #onEnd: () => void;
  readonly #endWatch: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #isOver = false;
  /** Whether the latest measurement failed. Further failures are not reported. */
  #hasFailed = false;

  constructor(queue: Measured, gauges: Gauges, every: number, onEnd: () => void) {
    this.#queue = queue;
    this.#gauges = gauges;
    this.#every = every;
    this.#onEnd = onEnd;
    this.#endWatch = queue.onShutDown(() => this[Symbol.dispose]());
    this.#look();
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endWatch();
    clearTimeout(this.#timer);
    this.#gauges.forget();
    this.#gauges.end();
    this.#onEnd();
  }

  async #look(): Promise<void> {
    try {
      const measures = await this.#queue.measure();
      if (this.#isOver) return;
      this.#gauges.set({ ...measures, blocked: 0 });
      this.#hasFailed = false;
    } catch (error) {
      if (this.#isOver) return;
      this.#fail(error);
    }
    this.#timer = setTimeout(() => this.#look(), this.#every).unref();
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#gauges.forget();
    this.#queue.onError(error);
  }
}

/** Measured values of the whole queue. */
type Measures = Pick<Counts, "ready" | "delayed" | "oldestReadyMs"> & { readonly blocked: number };

const UNKNOWN: Measures = { ready: NaN, blocked: NaN, delayed: NaN, oldestReadyMs: NaN };

/** Gauges of the whole queue, if the provider has them. */
class Gauges {
  readonly #depth: Meter;
  readonly #delayed: Meter | undefined;
  readonly #blocked: Meter | undefined;
  readonly #oldestReady: Meter | undefined;
  /** Reports to the provider that this measurement of the queue has ended. */
  readonly end: () => void;

  constructor(name: string, metrics: MetricsProvider) {
    const withSettableDepth = { depth: () => settable(metrics.depth(name)) } as unknown as MetricsProvider;
    this.#depth = meterOf(withSettableDepth, "depth", name);
    this.#delayed = meterOf(metrics, "delayed", name);
    this.#blocked = meterOf(metrics, "blocked", name);
    this.#oldestReady = meterOf(metrics, "oldestReady", name);
    this.end = beginMeasuring(metrics, name);
  }

  set({ ready, blocked, delayed, oldestReadyMs }: Measures): void {
    this.#depth.set(ready + blocked);
    this.#delayed?.set(delayed);
    this.#blocked?.set(blocked);
    this.#oldestReady?.set(oldestReadyMs / 1000);
  }

  /** Marks all values as unknown. */
  forget(): void {
    this.set(UNKNOWN);
  }
}

/**
 * Returns the gauge if it has `set`. Otherwise, returns a gauge whose `set` calls `inc` or `dec` repeatedly, and treats
 * `NaN` as 0.
 */
function settable(gauge: Gauge & Partial<SettableGauge>): SettableGauge {
  if (typeof gauge.set === "function") return gauge as SettableGauge;
  let current = 0;
  return {
    set(value) {
      const wanted = Number.isNaN(value) ? 0 : value;
      const steps: unknown[] = [];
      for (; current < wanted; current++) steps.push(gauge.inc());
      for (; current > wanted; current--) steps.push(gauge.dec());
      return Promise.all(steps); // rejects if an asynchronous step fails
    },
  };
}
