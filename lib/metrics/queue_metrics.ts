import { type Clock, unref } from "../base/clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { KeyListener } from "../contracts/queue_inspection.ts";
import type { KeyTimes } from "./key_times.ts";
import { type MeasuredName, measureName } from "./measured_name.ts";
import { type Meter, meterOf } from "./meter.ts";
import { PriorityDepths } from "./priority_depths.ts";

/** Milliseconds between two updates of the metrics that change as time passes. client-go has the same default. */
const UPDATE_PERIOD = 500;

/**
 * Measurements of one queue. Only the constructor may throw: it passes on any error that the provider throws when
 * creating a metric.
 */
export class QueueMetrics implements KeyListener {
  readonly #times: KeyTimes;
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
  readonly #createdAt: number;
  /** State shared under the queue's name; `undefined` once the queue is shut down and empty. */
  #shared: MeasuredName | undefined;
  /** Timer for the next update; `undefined` if none is set, `null` after the updates have been stopped. */
  #timer: unknown;

  constructor(
    provider: MetricsProvider,
    queue: string,
    times: KeyTimes,
    priorityLevels: Readonly<Record<string, number>> | undefined,
    countBlocked: () => number,
  ) {
    this.#times = times;
    this.#clock = times.clock;
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
    this.#createdAt = times.createdAt;
    this.#shared = measureName(provider, queue);
  }

  added(key: unknown, priority: number, now: number): void {
    this.ready(key, now);
    this.#count(key, priority);
  }

  addedAgain(key: unknown, priority: number): void {
    this.#count(key, priority);
  }

  ready(_key: unknown, now: number): void {
    if (this.#oldestReady !== undefined) this.#updateLater(now);
  }

  taken(key: unknown, now: number, _readyAt: number | undefined, addedAt = now): void {
    this.#updateLater(now);
    this.#queueLatency.observe((now - addedAt) / 1000);
    this.unmarked(key);
  }

  /** Records that a key is no longer ready or added again. */
  unmarked(key: unknown): void {
    this.#depth.dec();
    this.#priorityDepths?.taken(key);
  }

  finished(_key: unknown, now: number, startedAt: number | undefined): void {
    if (startedAt !== undefined) this.#workDuration.observe((now - startedAt) / 1000);
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
    const { firstHandOutAt, oldestReadyAt } = this.#times;
    const hasReady = this.#oldestReady !== undefined && oldestReadyAt !== undefined;
    if (firstHandOutAt !== undefined || hasReady) this.#updateLater(now);
    const secondsSince = (time = now) => (now - time) / 1000;
    this.#unfinishedWork.set(this.#times.sumOfHandOuts(secondsSince));
    this.#longestRunningProcessor.set(secondsSince(firstHandOutAt));
    this.#oldestReady?.set(secondsSince(oldestReadyAt));
    try {
      this.#blocked?.set(this.#countBlocked());
    } catch {
      // If a discipline throws, the metric keeps its value.
    }
  }
}
