/**
 * What a queue measures, and where it sends the measurements.
 *
 * The seven metrics and what each means are those of client-go; Kubernetes exports them under these names,
 * with the queue's name as the label `name`:
 *
 * | method of {@linkcode MetricsProvider} | exported as | unit |
 * | --- | --- | --- |
 * | `depth` | `workqueue_depth` | items |
 * | `adds` | `workqueue_adds_total` | adds |
 * | `queueLatency` | `workqueue_queue_duration_seconds` | seconds |
 * | `workDuration` | `workqueue_work_duration_seconds` | seconds |
 * | `unfinishedWork` | `workqueue_unfinished_work_seconds` | seconds |
 * | `longestRunningProcessor` | `workqueue_longest_running_processor_seconds` | seconds |
 * | `retries` | `workqueue_retries_total` | delayed adds |
 *
 * @module
 */

import { type Clock, unref } from "./clock.ts";
import { TicketTimes } from "./internal/ticket_times.ts";

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
  /** Replaces the value. */
  set(value: number): void;
}

/**
 * Makes the metrics of a queue. Each method is called once for a queue, with its name.
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
}

/** How often the metrics of work in progress are set, in milliseconds. client-go's default. */
const UPDATE_PERIOD = 500;

/** Takes the measurements of one queue. */
export class QueueMetrics {
  readonly #clock: Clock;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #queueLatency: Histogram;
  readonly #workDuration: Histogram;
  readonly #unfinishedWork: SettableGauge;
  readonly #longestRunningProcessor: SettableGauge;
  /** When the item of each ticket was added, until it is handed out, and when it was handed out, until it is done. */
  readonly #addedAt = new TicketTimes();
  readonly #startedAt = new TicketTimes();
  /** When a key was added again that is held, and so has no new ticket yet. */
  readonly #addedAgainAt = new Map<unknown, number>();
  readonly #createdAt: number;
  #timer: unknown = undefined;
  #stopped = false;

  constructor(provider: MetricsProvider, queue: string, clock: Clock) {
    this.#clock = clock;
    this.#depth = provider.depth(queue);
    this.#adds = provider.adds(queue);
    this.#queueLatency = provider.queueLatency(queue);
    this.#workDuration = provider.workDuration(queue);
    this.#unfinishedWork = provider.unfinishedWork(queue);
    this.#longestRunningProcessor = provider.longestRunningProcessor(queue);
    this.#createdAt = clock.now();
  }

  added(ticket: number): void {
    this.#addedAt.set(ticket, this.#clock.now());
    this.#count();
  }

  addedAgain(key: unknown): void {
    this.#addedAgainAt.set(key, this.#clock.now());
    this.#count();
  }

  /** A key that was added again while it was held has its ticket now. */
  ready(key: unknown, ticket: number): void {
    this.#addedAt.set(ticket, this.#addedAgainAt.get(key) ?? this.#clock.now());
    this.#addedAgainAt.delete(key);
  }

  /**
   * The key with this ticket is handed out under that number. If a metric throws, it is not, and goes back to the
   * line like one that was added again.
   */
  taken(key: unknown, ticket: number, called: number): void {
    const now = this.#clock.now();
    const addedAt = this.#addedAt.take(ticket) ?? now;
    this.#startedAt.set(called, now);
    try {
      this.#depth.dec();
      this.#queueLatency.observe((now - addedAt) / 1000);
    } catch (error) {
      this.#startedAt.take(called);
      this.#addedAgainAt.set(key, addedAt);
      throw error;
    }
    this.#updateLater();
  }

  /** Takes a hand-out off the work in progress. Returns when the work began, for {@linkcode finished}. */
  forget(called: number): number {
    return this.#startedAt.take(called) ?? this.#clock.now();
  }

  finished(startedAt: number): void {
    this.#workDuration.observe((this.#clock.now() - startedAt) / 1000);
  }

  #count(): void {
    this.#adds.inc();
    this.#depth.inc();
  }

  /** Ends the updates of work in progress, as client-go does at shutdown. */
  stop(): void {
    this.#stopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  /**
   * client-go updates twice a second for as long as the queue lives. Ours has a timer only while there is
   * work in progress, for the same moments, and it keeps no process alive.
   */
  #updateLater(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    const sinceLast = (this.#clock.now() - this.#createdAt) % UPDATE_PERIOD;
    this.#timer = this.#clock.setTimeout(() => this.#update(), Math.ceil(UPDATE_PERIOD - sinceLast));
    unref(this.#timer);
  }

  #update(): void {
    this.#timer = undefined;
    if (this.#startedAt.size > 0) this.#updateLater();
    const now = this.#clock.now();
    let total = 0;
    let longest = 0;
    for (const startedAt of this.#startedAt.all()) {
      const seconds = (now - startedAt) / 1000;
      total += seconds;
      if (seconds > longest) longest = seconds;
    }
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(longest);
  }
}
