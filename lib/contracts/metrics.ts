import type { GiveUpReason } from "./handler.ts";

/** A number that goes up and down by one. */
export interface Gauge {
  /** Adds one. */
  inc(): void;
  /** Takes one away. */
  dec(): void;
}

/** A number that only goes up, by one. */
export interface Counter {
  /** Adds one. */
  inc(): void;
}

/** A collection of observed values. */
export interface Histogram {
  /** Adds one value. */
  observe(value: number): void;
}

/** A number that is set to its latest value. */
export interface SettableGauge {
  /** Replaces the value. `NaN` says that nobody knows it now: who exports leaves it out then. */
  set(value: number): void;
}

/**
 * Makes the metrics of a queue. Each method is called with the queue's name: once for a queue, and those of handlers
 * once for each pool. A provider without one of the optional methods leaves that metric out.
 *
 * If a metric throws or rejects, no queue or pool notices: the first error of each metric is written to
 * `console.error`. If a method of the provider throws, the queue or pool that needs the metric is not created.
 *
 * {@linkcode InMemoryMetrics} is one that keeps everything in memory. To export to Prometheus or
 * OpenTelemetry, return that library's own instruments under the names in the module's documentation.
 */
export interface MetricsProvider {
  /** Items that need work and are not handed out: ready ones, and those added again while processed. */
  depth(queue: string): Gauge;
  /** Adds that were not folded into one before. */
  adds(queue: string): Counter;
  /** Seconds from an item's add until it is handed out. */
  queueLatency(queue: string): Histogram;
  /** Seconds from handing an item out until it is done. */
  workDuration(queue: string): Histogram;
  /** Seconds of work in progress, summed over all items being processed; set twice a second. */
  unfinishedWork(queue: string): SettableGauge;
  /** Seconds that the longest-held item has been processed for; set twice a second. */
  longestRunningProcessor(queue: string): SettableGauge;
  /** Calls of `addAfter` and `addRateLimited`. */
  retries(queue: string): Counter;
  /**
   * The part of the depth that was added with one priority. Called for each of the queue's `priorityLevels`, with its
   * name.
   */
  priorityDepth?(queue: string, level: string): Gauge;
  /** Items whose delay has not passed. */
  delayed?(queue: string): SettableGauge;
  /**
   * Items whose delay has passed and that cannot be handed out yet, such as those of a group at its limit. A part of
   * the depth. Set twice a second until the queue is shut down, and to 0 when nothing is left in it.
   */
  blocked?(queue: string): SettableGauge;
  /**
   * Seconds since the add of the item that has been ready longest, be it blocked by a discipline; 0 if none is ready.
   * Set twice a second until the queue is shut down, and to 0 when nothing is left in it.
   */
  oldestReady?(queue: string): SettableGauge;
  /** Handlers that run in this process, abandoned ones included. */
  active?(queue: string): Gauge;
  /** How many handlers may run at once, over all pools of the queue in this process. */
  concurrency?(queue: string): SettableGauge;
  /** Attempts that failed: one that runs out of time counts then, once. */
  failures?(queue: string): Counter;
  /** Items that were given up, by reason. Called for each of the reasons. */
  givenUp?(queue: string, reason: GiveUpReason): Counter;
  /**
   * The queues of that name in this process were shut down, nothing is left in them, and their pools have ended: the
   * metrics of that name change no more, unless one of the other methods is called for it again.
   */
  gone?(queue: string): void;
}
