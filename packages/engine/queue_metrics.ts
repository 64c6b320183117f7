import type { Duration, Gauge, MetricsProvider, SettableGauge } from "@workqueue/core";
import { hasMethods, invalidArgument, requireOptions } from "@workqueue/core/internal";
import { beginMeasuring, type Meter, meterOf } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";
import type { RemoteQueue } from "./contract.ts";
import type { QueueCounts } from "./contract.ts";
import { MEASURED, type Measured } from "./measured.ts";
import { requireInterval } from "./options.ts";

/** Options of a function that measures a whole queue. */
export interface RemoteQueueMetricsOptions {
  /**
   * Pause between two measurements. From 100 ms to one day.
   *
   * @default {"5s"}
   */
  every?: Duration | undefined;
}

/**
 * Measures a whole queue of an engine until the result is disposed or the queue object is shut down. Sets the `depth`,
 * `delayed`, `blocked` and `oldestReady` gauges, if the provider has them. A second call with the same queue name and
 * provider replaces the first measurement.
 *
 * @param product The name of the engine's product. A queue of another product is refused.
 * @param queue The queue.
 * @param metrics The metrics provider. By default, the queue's `metrics` option.
 * @param options The pause between two measurements.
 * @returns An object that ends the measurement when disposed.
 * @throws {TypeError} If an argument or option is of the wrong type, if an option is unknown, or if there is no
 * provider.
 * @throws {RangeError} If `every` is out of range.
 */
export function measureRemoteQueue<T>(
  product: string,
  queue: RemoteQueue<T>,
  metrics?: MetricsProvider,
  options: RemoteQueueMetricsOptions = {},
): Disposable {
  const action = `measure ${product} queue`;
  const measured = (queue as { [MEASURED]?: Measured } | null | undefined)?.[MEASURED];
  if (measured?.product !== product) {
    throw invalidArgument(action, "queue", `must be a queue on ${product}`, queue);
  }
  const provider = metrics ?? measured.metrics;
  if (!hasMethods(provider, "depth")) {
    throw invalidArgument(action, "metrics", "must be a provider of metrics", provider);
  }
  requireOptions(action, options, ["every"]);
  const every = requireInterval(action, "every", options.every === undefined ? "5s" : options.every);
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

/** Measured values of the whole queue. */
type Measures = Pick<QueueCounts, "ready" | "blocked" | "delayed" | "oldestReadyMs">;

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
