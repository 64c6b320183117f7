import { type Clock, unref } from "../base/clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { QueueObserver } from "../contracts/queue_inspection.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { TicketTimes } from "../structures/ticket_times.ts";
import { type MeasuredName, measureName } from "./measured_name.ts";
import { type Meter, meterOf } from "./meter.ts";
import { PriorityDepths } from "./priority_depths.ts";

/** Milliseconds between two updates of the metrics that change as time passes. client-go has the same default. */
const UPDATE_PERIOD = 500;

/**
 * Measurements of one queue. Only the constructor may throw: it passes on any error that the provider throws when
 * creating a metric.
 */
export class QueueMetrics implements QueueObserver {
  readonly #clock: Clock;
  readonly #depth: Meter;
  readonly #priorityDepths: PriorityDepths | undefined;
  readonly #adds: Meter;
  readonly #queueLatency: Meter;
  readonly #workDuration: Meter;
  readonly #unfinishedWork: Meter;
  readonly #longestRunningProcessor: Meter;
  readonly #oldestReady: Meter | undefined;
  readonly #blocked: Meter | undefined;
  readonly #countBlocked: () => number;
  /** For each ticket, the time at which its key became ready. Removed when the key is handed out. */
  readonly #readyAt = new TicketTimes();
  /** For each ticket, the time at which its item was handed out. Removed when the item is done. */
  readonly #startedAt = new TicketTimes();
  /**
   * Time at which each key was added again while it was processing. Removed when the key is handed out the next time.
   */
  readonly #addedAgainAt = new ChurnMap<unknown, number>();
  readonly #createdAt: number;
  /** State shared under the queue's name; `undefined` once the queue is shut down and empty. */
  #shared: MeasuredName | undefined;
  /** Timer for the next update; `undefined` if none is set, `null` after the updates have been stopped. */
  #timer: unknown;

  constructor(
    provider: MetricsProvider,
    queue: string,
    clock: Clock,
    priorityLevels: Readonly<Record<string, number>> | undefined,
    countBlocked: () => number,
  ) {
    this.#clock = clock;
    this.#depth = meterOf(provider, "depth", queue);
    this.#priorityDepths = priorityLevels && new PriorityDepths(provider, queue, priorityLevels);
    this.#adds = meterOf(provider, "adds", queue);
    this.#queueLatency = meterOf(provider, "queueLatency", queue);
    this.#workDuration = meterOf(provider, "workDuration", queue);
    this.#unfinishedWork = meterOf(provider, "unfinishedWork", queue);
    this.#longestRunningProcessor = meterOf(provider, "longestRunningProcessor", queue);
    this.#oldestReady = meterOf(provider, "oldestReady", queue);
    this.#blocked = meterOf(provider, "blocked", queue);
    this.#countBlocked = countBlocked;
    this.#createdAt = clock.now();
    this.#shared = measureName(provider, queue);
  }

  get oldestReadyAt(): number | undefined {
    return this.#readyAt.first;
  }

  added(ticket: number, key: unknown, priority: number): void {
    this.ready(ticket);
    this.#count(key, priority);
  }

  addedAgain(key: unknown, priority: number): void {
    this.#addedAgainAt.set(key, this.#clock.now());
    this.#count(key, priority);
  }

  /** Records that a key is now ready with this ticket. */
  ready(ticket: number): void {
    const now = this.#clock.now();
    this.#readyAt.set(ticket, now);
    if (this.#oldestReady !== undefined) this.#updateLater(now);
  }

  /** Records that the key with this ticket was handed out. `called` identifies the hand-out. */
  taken(key: unknown, ticket: number, called: number): void {
    const now = this.#clock.now();
    const readyAt = this.#readyAt.take(ticket);
    const addedAt = this.#addedAgainAt.get(key) ?? readyAt ?? now;
    this.#startedAt.set(called, now);
    this.#updateLater(now);
    this.#queueLatency.observe((now - addedAt) / 1000);
    this.unmarked(key);
  }

  /** Records that a key is no longer ready or added again. */
  unmarked(key: unknown): void {
    this.#addedAgainAt.delete(key);
    this.#depth.dec();
    this.#priorityDepths?.taken(key);
  }

  /** Records that the item of the hand-out `called` is done. */
  finished(called: number): void {
    this.#workDuration.observe((this.#clock.now() - this.#startedAt.take(called)!) / 1000);
  }

  #count(key: unknown, priority: number): void {
    this.#adds.inc();
    this.#depth.inc();
    this.#priorityDepths?.added(key, priority);
  }

  /** Stops the updates, as client-go does at shutdown. */
  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Ends the measurements. Must be called once the queue is shut down and empty. */
  end(): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    this.#shared = undefined;
    this.#oldestReady?.set(0);
    this.#blocked?.set(0);
    shared.end();
  }

  /**
   * Sets the timer for the next update. client-go updates twice a second as long as the queue exists. This timer fires
   * at the same times as client-go's, but only while there is something to measure. The timer does not keep the process
   * alive.
   */
  #updateLater(now: number): void {
    if (this.#timer !== undefined) return;
    const sinceLast = (now - this.#createdAt) % UPDATE_PERIOD;
    this.#timer = this.#clock.setTimeout(() => this.#update(), Math.ceil(UPDATE_PERIOD - sinceLast));
    unref(this.#timer);
  }

  #update(): void {
    if (this.#timer === null) return; // the clock fired a timer that was cleared
    this.#timer = undefined;
    const now = this.#clock.now();
    if (this.#startedAt.size > 0 || (this.#oldestReady && this.#readyAt.size > 0)) this.#updateLater(now);
    const secondsSince = (time = now) => (now - time) / 1000;
    let total = 0;
    for (const startedAt of this.#startedAt.all()) total += secondsSince(startedAt);
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(secondsSince(this.#startedAt.first));
    this.#oldestReady?.set(secondsSince(this.#readyAt.first));
    try {
      this.#blocked?.set(this.#countBlocked());
    } catch {
      // If a discipline throws, the metric keeps its value.
    }
  }
}
