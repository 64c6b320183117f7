import type { GiveUpReason } from "./handler.ts";

/** A value that each call increases or decreases by one. */
export interface Gauge {
  /** Adds one. */
  inc(): void;
  /** Subtracts one. */
  dec(): void;
}

/** A value that each call increases by one. */
export interface Counter {
  /** Adds one. */
  inc(): void;
}

/** A collection of observed values. */
export interface Histogram {
  /** Adds one value. */
  observe(value: number): void;
}

/** A value that is set to the latest measurement. */
export interface SettableGauge {
  /** Replaces the value. `NaN` means that the value is currently unknown; exporters then omit it. */
  set(value: number): void;
}

/**
 * Creates the metrics of a queue. Each method is called with the queue's name: once for each queue, or once for each
 * pool if the metric is about handlers. To leave out a metric, omit its method, if that method is optional.
 *
 * If a metric throws or rejects, queues and pools continue: the first error of each metric is written to
 * `console.error`. If a method of the provider throws, the queue or pool that needs the metric is not created.
 *
 * Pass a provider of your own through `adaptMetrics` before you pass it to a queue.
 *
 * {@linkcode InMemoryMetrics} keeps everything in memory. To export to Prometheus or OpenTelemetry, return instruments
 * of that system's client library, with the metric names listed in the module's documentation.
 */
export interface MetricsProvider {
  /** Items that are still to be handed out: ready items, blocked items, and items added again while processing. */
  depth(queue: string): Gauge;
  /** Number of adds, excluding adds that were folded into an earlier add. */
  adds(queue: string): Counter;
  /** Seconds from adding an item until it is handed out. */
  queueLatency(queue: string): Histogram;
  /** Seconds from handing an item out until it is done. */
  workDuration(queue: string): Histogram;
  /** Seconds since the hand-out of each processing item, added up across these items; set twice a second. */
  unfinishedWork(queue: string): SettableGauge;
  /** Seconds since the longest-processing item was handed out; set twice a second. */
  longestRunningProcessor(queue: string): SettableGauge;
  /** Number of calls to `addAfter` and `addRateLimited`. */
  retries(queue: string): Counter;
  /**
   * Part of the depth: items that were added with a given priority. Called once for each entry of the queue's
   * `priorityLevels`, with the name of the priority as `level`.
   */
  priorityDepth?(queue: string, level: string): Gauge;
  /** Items whose delay has not passed. */
  delayed?(queue: string): SettableGauge;
  /**
   * Items whose delay has passed but that can't be handed out yet, for example because their group is at a limit, or
   * because they are retries without budget. The depth includes these items. Set twice a second until the queue is shut
   * down, and then set to 0 once the queue is empty.
   */
  blocked?(queue: string): SettableGauge;
  /**
   * For the item that has been ready or blocked the longest: seconds since that item became ready. An item that was
   * added again while processing becomes ready when the work on it ends. 0 if no item is ready or blocked. Set twice a
   * second until the queue is shut down, and then set to 0 once the queue is empty.
   */
  oldestReady?(queue: string): SettableGauge;
  /** Handlers running in this process, including abandoned ones. */
  active?(queue: string): Gauge;
  /** Maximum number of handlers that run at once, in total across all pools of the queue in this process. */
  concurrency?(queue: string): SettableGauge;
  /** Attempts that failed. An attempt that times out is counted once, when it times out. */
  failures?(queue: string): Counter;
  /** Items that were given up, by reason. Called once for each reason. */
  givenUp?(queue: string, reason: GiveUpReason): Counter;
  /**
   * Called when all queues with this name in this process have been shut down and are empty, and their pools have
   * ended. The metrics of the queue no longer change unless another method of the provider is called with the queue's
   * name again.
   */
  gone?(queue: string): void;
}
