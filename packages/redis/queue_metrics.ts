import type { Duration, Gauge, MetricsProvider, SettableGauge } from "@workqueue/core";
import { hasMethods, invalidArgument, requireOptions } from "@workqueue/core/internal";
import { beginMeasuring, type Meter, meterOf } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";
import type { RedisQueue } from "./contract.ts";
import type { Counts } from "./engine.ts";
import { MEASURED, type Measured } from "./measured.ts";
import { requireInterval } from "./options.ts";

/** The options of {@linkcode redisQueueMetrics}. */
export interface RedisQueueMetricsOptions {
  /**
   * How long to pause between two looks. From 100 ms to a day.
   *
   * @default {"5s"}
   */
  every?: Duration | undefined;
}

const ACTION = "measure Redis queue";

/**
 * Measures the whole queue, as the server knows it: the gauges `depth`, `delayed`, `blocked` and `oldestReady` of the
 * provider, those of them that it has. `blocked` is 0: no item on Redis is blocked. What processes do themselves is
 * measured by each of them, with the option `metrics` of the queue.
 *
 * **Run it in one process for each queue.** The numbers are those of all processes: if ten of them report the same
 * depth, every sum is ten times too high.
 *
 * It looks at once, and then every five seconds, until it is disposed or the queue object is shut down. A look that
 * fails is told to the queue's `onQueueError`, and those that fail after it are not, until one has succeeded. Meanwhile
 * nobody knows the numbers, so the gauges are set to `NaN`, as they are at the end: exporters leave out what is no
 * number. A gauge without `set` goes back to 0 instead. If a gauge throws, the others are set all the same, and its
 * first error is written to `console.error`. Called again for a name and a provider, it takes the place of what
 * measured that before.
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
 * @param queue The queue, of {@linkcode createRedisQueue} or {@linkcode redisQueues}.
 * @param metrics Where the measurements go; the `metrics` of the queue if left out.
 * @param options How often to look.
 * @returns What ends it.
 * @throws {TypeError} If an argument is of the wrong type, or an option unknown.
 * @throws {RangeError} If `every` is out of its bounds.
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

/** What looks at queues for a provider, by name. */
function looksOf(provider: MetricsProvider): Map<string, Looks> {
  let looks = looksFor.get(provider);
  if (looks === undefined) looksFor.set(provider, looks = new Map());
  return looks;
}

const looksFor = new WeakMap<MetricsProvider, Map<string, Looks>>();

/** Looks at a queue again and again, one time after the other. */
class Looks implements Disposable {
  readonly #queue: Measured;
  readonly #gauges: Gauges;
  readonly #every: number;
  readonly #onEnd: () => void;
  readonly #endWatch: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #isOver = false;
  /** Whether the latest look has failed, and that was told. */
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

/** What is measured of the whole queue. */
type Measures = Pick<Counts, "ready" | "delayed" | "oldestReadyMs"> & { readonly blocked: number };

const UNKNOWN: Measures = { ready: NaN, blocked: NaN, delayed: NaN, oldestReadyMs: NaN };

/** The metrics of the whole queue, those that the provider has. */
class Gauges {
  readonly #depth: Meter;
  readonly #delayed: Meter | undefined;
  readonly #blocked: Meter | undefined;
  readonly #oldestReady: Meter | undefined;
  /** Ends measuring under the name. */
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

  /** Nobody knows the numbers. */
  forget(): void {
    this.set(UNKNOWN);
  }
}

/** A gauge that can be set, if need be by steps. By steps, `NaN` is 0. */
function settable(gauge: Gauge & Partial<SettableGauge>): SettableGauge {
  if (typeof gauge.set === "function") return gauge as SettableGauge;
  let current = 0;
  return {
    set(value) {
      const wanted = Number.isNaN(value) ? 0 : value;
      const steps: unknown[] = [];
      for (; current < wanted; current++) steps.push(gauge.inc());
      for (; current > wanted; current--) steps.push(gauge.dec());
      return Promise.all(steps); // may reject, if a step is asynchronous
    },
  };
}
