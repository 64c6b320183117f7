import type { Duration, Gauge, MetricsProvider, SettableGauge } from "@workqueue/core";
import { hasMethods, invalidArgument, requireDuration, requireOptions } from "@workqueue/core/arguments";
import { beginMeasuring } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";
import type { RedisQueue } from "./contract.ts";
import type { Measures } from "./engine.ts";
import { MEASURED, type Measured } from "./measured.ts";

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
/** The bounds of `every`, in milliseconds. */
const MIN = 100;
const MAX = 86_400_000;

/**
 * Measures the whole queue, as the server knows it: the gauges `depth`, `waiting` and `oldestReady` of the provider, those of
 * them that it has. What processes do themselves is measured by each of them, with the option `metrics` of the queue.
 *
 * **Run it in one process for each queue.** The numbers are those of all processes: if ten of them report the same depth, every
 * sum is ten times too high.
 *
 * It looks at once, and then every five seconds, until it is disposed or the queue object is shut down. A look that fails is
 * told to the queue's `onError`, and those that fail after it are not, until one has succeeded. Meanwhile nobody knows the
 * numbers, so the gauges are set to `NaN`, as they are at the end: exporters leave out what is no number. A gauge without `set`
 * goes back to 0 instead. Called again for a name and a provider, it takes the place of what measured that before.
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
  const every = requireDuration(ACTION, "every", options.every ?? "5s");
  if (!(every >= MIN && every <= MAX)) {
    throw invalidArgument(ACTION, "every", "must be a duration from 100 ms to a day", every);
  }
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
    this.#gauges.end();
    this.#onEnd();
  }

  async #look(): Promise<void> {
    try {
      const measures = await this.#queue.measure();
      if (this.#isOver) return;
      this.#gauges.set(measures);
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

const UNKNOWN: Measures = { ready: NaN, waiting: NaN, oldestReady: NaN };

/** The metrics of the whole queue, those that the provider has. */
class Gauges {
  readonly #setDepth: (value: number) => void;
  readonly #waiting: SettableGauge | undefined;
  readonly #oldestReady: SettableGauge | undefined;
  readonly #endMeasuring: () => void;

  constructor(name: string, metrics: MetricsProvider) {
    this.#setDepth = setterOf(metrics.depth(name));
    this.#waiting = metrics.waiting?.(name);
    this.#oldestReady = metrics.oldestReady?.(name);
    this.#endMeasuring = beginMeasuring(metrics, name);
  }

  set({ ready, waiting, oldestReady }: Measures): void {
    this.#setDepth(ready);
    this.#waiting?.set(waiting);
    this.#oldestReady?.set(oldestReady / 1000);
  }

  /** Nobody knows the numbers. */
  forget(): void {
    callSafely(() => this.set(UNKNOWN));
  }

  end(): void {
    this.forget();
    callSafely(this.#endMeasuring);
  }
}

/** A provider that throws has done so before, and that was told. */
function callSafely(action: () => void): void {
  try {
    action();
  } catch {
    // See above.
  }
}

/** What sets a gauge, which may have no other way than by steps. By steps, what is no number is 0. */
function setterOf(gauge: Gauge & Partial<SettableGauge>): (value: number) => void {
  if (typeof gauge.set === "function") return (value) => gauge.set!(value);
  let current = 0;
  return (value) => {
    const wanted = Number.isNaN(value) ? 0 : value;
    for (; current < wanted; current++) gauge.inc();
    for (; current > wanted; current--) gauge.dec();
  };
}
