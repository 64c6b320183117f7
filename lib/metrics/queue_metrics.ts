import { type Clock, unref } from "../base/clock.ts";
import type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { TicketTimes } from "../structures/ticket_times.ts";
import { beginMeasuring } from "./measured_name.ts";
import { PriorityDepths } from "./priority_depths.ts";

/** How often the metrics are set that grow by themselves, in milliseconds. client-go's default. */
const UPDATE_PERIOD = 500;

/** Takes the measurements of one queue. */
export class QueueMetrics {
  readonly #clock: Clock;
  readonly #depth: Gauge;
  readonly #priorityDepths: PriorityDepths | undefined;
  readonly #adds: Counter;
  readonly #queueLatency: Histogram;
  readonly #workDuration: Histogram;
  readonly #unfinishedWork: SettableGauge;
  readonly #longestRunningProcessor: SettableGauge;
  readonly #oldestReady: SettableGauge | undefined;
  /** When the item of each ticket was added, until it is handed out, and when it was handed out, until it is done. */
  readonly #addedAt = new TicketTimes();
  readonly #startedAt = new TicketTimes();
  /** When a key was added again that is held, and so has no new ticket yet. */
  readonly #addedAgainAt = new ChurnMap<unknown, number>();
  readonly #createdAt: number;
  readonly #endMeasuring: () => void;
  #timer: unknown = undefined;
  #stopped = false;
  #hasEnded = false;

  constructor(
    provider: MetricsProvider,
    queue: string,
    clock: Clock,
    priorityLevels: Readonly<Record<string, number>> | undefined,
  ) {
    this.#clock = clock;
    this.#depth = provider.depth(queue);
    const levels = provider.priorityDepth === undefined ? undefined : priorityLevels;
    this.#priorityDepths = levels && new PriorityDepths(provider, queue, levels);
    this.#adds = provider.adds(queue);
    this.#queueLatency = provider.queueLatency(queue);
    this.#workDuration = provider.workDuration(queue);
    this.#unfinishedWork = provider.unfinishedWork(queue);
    this.#longestRunningProcessor = provider.longestRunningProcessor(queue);
    this.#oldestReady = provider.oldestReady?.(queue);
    this.#createdAt = clock.now();
    this.#endMeasuring = beginMeasuring(provider, queue);
  }

  added(ticket: number, key: unknown, priority: number): void {
    const now = this.#clock.now();
    this.#addedAt.set(ticket, now);
    this.#count(key, priority);
    if (this.#timer === undefined && this.#oldestReady !== undefined) this.#updateLater(now);
  }

  addedAgain(key: unknown, priority: number): void {
    this.#addedAgainAt.set(key, this.#clock.now());
    this.#count(key, priority);
  }

  /** A key that was added again while it was held has its ticket now. */
  ready(key: unknown, ticket: number): void {
    this.#addedAt.set(ticket, this.#addedAgainAt.get(key) ?? this.#clock.now());
    this.#addedAgainAt.delete(key);
    if (this.#timer === undefined && this.#oldestReady !== undefined) this.#updateLater(this.#clock.now());
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
      if (this.#timer === undefined) this.#updateLater(now);
      this.#queueLatency.observe((now - addedAt) / 1000);
      this.#depth.dec();
      this.#priorityDepths?.taken(key);
    } catch (error) {
      this.#startedAt.take(called);
      this.#addedAgainAt.set(key, addedAt);
      throw error;
    }
  }

  /** A key that was added again while it was held is not here any more, as a discipline refused it. */
  lost(key: unknown): void {
    this.#addedAgainAt.delete(key);
    this.#depth.dec();
    this.#priorityDepths?.taken(key);
  }

  /** Takes a hand-out off the work in progress. Returns when the work began, for {@linkcode finished}. */
  forget(called: number): number | undefined {
    return this.#startedAt.take(called);
  }

  finished(startedAt: number | undefined): void {
    const now = this.#clock.now();
    this.#workDuration.observe((now - (startedAt ?? now)) / 1000);
  }

  #count(key: unknown, priority: number): void {
    this.#adds.inc();
    this.#depth.inc();
    this.#priorityDepths?.added(key, priority);
  }

  /** Ends the updates, as client-go does at shutdown. */
  stop(): void {
    this.#stopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  /** The queue was shut down, and nothing is left in it. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    try {
      this.#oldestReady?.set(0);
    } finally {
      this.#endMeasuring();
    }
  }

  /**
   * client-go updates twice a second for as long as the queue lives. Ours has a timer only while there is something to
   * say, for the same moments, and it keeps no process alive.
   */
  #updateLater(now: number): void {
    if (this.#stopped) return;
    const sinceLast = (now - this.#createdAt) % UPDATE_PERIOD;
    this.#timer = this.#clock.setTimeout(() => this.#update(), Math.ceil(UPDATE_PERIOD - sinceLast));
    unref(this.#timer);
  }

  #update(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    const isReady = this.#oldestReady !== undefined && this.#addedAt.size > 0;
    if (isReady || this.#startedAt.size > 0) this.#updateLater(now);
    let total = 0;
    let longest = 0;
    for (const startedAt of this.#startedAt.all()) {
      const seconds = (now - startedAt) / 1000;
      total += seconds;
      if (seconds > longest) longest = seconds;
    }
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(longest);
    this.#oldestReady?.set((now - (this.#addedAt.first ?? now)) / 1000);
  }
}
