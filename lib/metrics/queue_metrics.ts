import { type Clock, unref } from "../base/clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { TicketTimes } from "../structures/ticket_times.ts";
import { MeasuredName } from "./measured_name.ts";
import { type Meter, meterOf } from "./meter.ts";
import { PriorityDepths } from "./priority_depths.ts";

/** How often the metrics are set that grow by themselves, in milliseconds. client-go's default. */
const UPDATE_PERIOD = 500;

/**
 * Takes the measurements of one queue. Nothing here throws, whatever the provider throws: the clock is a steady one.
 */
export class QueueMetrics {
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
  readonly #line: { readonly blocked: number };
  /** When the item of each ticket was added, until it is handed out, and when it was handed out, until it is done. */
  readonly #addedAt = new TicketTimes();
  readonly #startedAt = new TicketTimes();
  /** When a key was added again that is held, and so has no new ticket yet. */
  readonly #addedAgainAt = new ChurnMap<unknown, number>();
  readonly #createdAt: number;
  /** Left when the queue is over. */
  #shared: MeasuredName | undefined;
  /** The timer of the next update; `null` once there will be none. */
  #timer: unknown;

  constructor(
    provider: MetricsProvider,
    queue: string,
    clock: Clock,
    priorityLevels: Readonly<Record<string, number>> | undefined,
    line: { readonly blocked: number },
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
    this.#line = line;
    this.#createdAt = clock.now();
    this.#shared = MeasuredName.begin(provider, queue);
  }

  added(ticket: number, key: unknown, priority: number): void {
    const now = this.#clock.now();
    this.#addedAt.set(ticket, now);
    this.#count(key, priority);
    if (this.#oldestReady !== undefined) this.#updateLater(now);
  }

  addedAgain(key: unknown, priority: number): void {
    this.#addedAgainAt.set(key, this.#clock.now());
    this.#count(key, priority);
  }

  /** A key that was added again while it was held has its ticket now. */
  ready(key: unknown, ticket: number): void {
    const now = this.#clock.now();
    this.#addedAt.set(ticket, this.#addedAgainAt.get(key) ?? now);
    this.#addedAgainAt.delete(key);
    if (this.#oldestReady !== undefined) this.#updateLater(now);
  }

  /** The key with this ticket is handed out under that number. */
  taken(key: unknown, ticket: number, called: number): void {
    const now = this.#clock.now();
    const addedAt = this.#addedAt.take(ticket) ?? now;
    this.#startedAt.set(called, now);
    this.#updateLater(now);
    this.#queueLatency.observe((now - addedAt) / 1000);
    this.#depth.dec();
    this.#priorityDepths?.taken(key);
  }

  /** The work on what was handed out under that number has ended. */
  finished(called: number): void {
    const now = this.#clock.now();
    this.#workDuration.observe((now - (this.#startedAt.take(called) ?? now)) / 1000);
  }

  #count(key: unknown, priority: number): void {
    this.#adds.inc();
    this.#depth.inc();
    this.#priorityDepths?.added(key, priority);
  }

  /** Ends the updates, as client-go does at shutdown. */
  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** The queue was shut down, and nothing is left in it. */
  end(): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    this.#shared = undefined;
    this.#oldestReady?.set(0);
    this.#blocked?.set(0);
    shared.end();
  }

  /**
   * client-go updates twice a second for as long as the queue lives. Ours has a timer only while there is something to
   * say, for the same moments, and it keeps no process alive.
   */
  #updateLater(now: number): void {
    if (this.#timer !== undefined) return;
    const sinceLast = (now - this.#createdAt) % UPDATE_PERIOD;
    this.#timer = this.#clock.setTimeout(() => this.#update(), Math.ceil(UPDATE_PERIOD - sinceLast));
    unref(this.#timer);
  }

  #update(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    if (this.#startedAt.size > 0 || (this.#oldestReady && this.#addedAt.size > 0)) this.#updateLater(now);
    const secondsSince = (time = now) => (now - time) / 1000;
    let total = 0;
    for (const startedAt of this.#startedAt.all()) total += secondsSince(startedAt);
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(secondsSince(this.#startedAt.first));
    this.#oldestReady?.set(secondsSince(this.#addedAt.first));
    try {
      this.#blocked?.set(this.#line.blocked);
    } catch {
      // A discipline that throws leaves the number as it was.
    }
  }
}
