import type { Clock } from "@workqueue/core";
import type { ObservedKeys, QueueObserver } from "@workqueue/core/hooks";
import type { FailedAttempt } from "@workqueue/core/metrics";
import type { TraceWriter } from "./trace_writer.ts";

/** Context of a {@linkcode LoadObserver}. */
export interface LoadObserverOptions<T> {
  readonly writer: TraceWriter;
  readonly clock: Clock;
  readonly startedAt: number;
  /** Returns the time at which a delayed item is due; `undefined` if the item is not delayed. */
  readonly dueAt: (item: T) => number | undefined;
  /** Observer that this observer replaces. */
  readonly before: QueueObserver | undefined;
  readonly keys: ObservedKeys;
}

/** A running attempt. */
interface Running {
  readonly key: unknown;
  readonly at: number;
  hasFailed: boolean;
}

/** Observer that passes the load of a queue to a trace, and all calls to the observer that it replaces. */
export class LoadObserver<T> implements QueueObserver {
  readonly before: QueueObserver | undefined;
  readonly #writer: TraceWriter;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #dueAt: (item: T) => number | undefined;
  readonly #byCall = new Map<number, Running>();
  readonly #byKey = new Map<unknown, Running>();
  /** Items whose retry has not begun to wait for a worker, by key. A simulation makes the retry by itself. */
  readonly #failing = new Map<unknown, T>();
  /** Number of keys left that were ready or blocked before the recording. Their tickets are below `#firstTicket`. */
  #earlier: number;
  #firstTicket = Infinity;
  #hasEnded = false;

  constructor({ writer, clock, startedAt, dueAt, before, keys }: LoadObserverOptions<T>) {
    this.before = before;
    this.#writer = writer;
    this.#clock = clock;
    this.#startedAt = startedAt;
    this.#dueAt = dueAt;
    this.#earlier = keys.size - keys.processing;
  }

  get oldestReadyAt(): number | undefined {
    return this.before?.oldestReadyAt;
  }

  added(ticket: number, key: unknown, priority: number): void {
    this.before?.added(ticket, key, priority);
    if (this.#hasEnded) return;
    this.#firstTicket = Math.min(this.#firstTicket, ticket);
    this.#add(key, priority);
  }

  addedAgain(key: unknown, priority: number): void {
    this.before?.addedAgain(key, priority);
    if (!this.#hasEnded) this.#add(key, priority);
  }

  unmarked(key: unknown): void {
    this.before?.unmarked(key);
  }

  ready(ticket: number): void {
    this.before?.ready(ticket);
    this.#firstTicket = Math.min(this.#firstTicket, ticket);
  }

  taken(key: unknown, ticket: number, called: number): void {
    this.before?.taken(key, ticket, called);
    if (this.#hasEnded) return;
    if (this.#earlier > 0 && ticket < this.#firstTicket) {
      this.#earlier--;
      this.#writer.add(this.#startedAt, key, 0);
    }
    const running = { key, at: this.#clock.now(), hasFailed: false };
    this.#byCall.set(called, running);
    this.#byKey.set(key, running);
  }

  finished(called: number): void {
    this.before?.finished(called);
    const running = this.#byCall.get(called);
    if (running === undefined) return;
    this.#byCall.delete(called);
    if (this.#byKey.get(running.key) === running) this.#byKey.delete(running.key);
    this.#writer.attempt(running.at, running.key, this.#clock.now() - running.at, running.hasFailed);
  }

  stop(): void {
    this.before?.stop();
  }

  end(): void {
    this.before?.end();
  }

  /** Notes that the running attempt at a key failed. A retry of an attempt that is not in the trace counts as added. */
  failed({ key, item }: FailedAttempt<T>): void {
    const running = this.#byKey.get(key);
    if (running === undefined) return;
    running.hasFailed = true;
    this.#failing.set(key, item);
  }

  /** Notes that a key may no longer be failing. Its retry still comes if it is delayed. */
  ended(key: unknown): void {
    const item = this.#failing.get(key);
    if (item !== undefined && !this.#isDelayed(item)) this.#failing.delete(key);
  }

  /** Ends the recording. Another observer may still pass calls to this one, which then only passes them on. */
  close(): void {
    this.#hasEnded = true;
    this.#byCall.clear();
    this.#byKey.clear();
    this.#failing.clear();
  }

  #add(key: unknown, priority: number): void {
    if (this.#failing.size > 0 && this.#isRetry(key)) this.#failing.delete(key);
    else this.#writer.add(this.#clock.now(), key, priority);
  }

  /** Reports whether a key was added for a retry, and not while its retry is still to come. */
  #isRetry(key: unknown): boolean {
    return this.#failing.has(key) && !this.#isDelayed(this.#failing.get(key)!);
  }

  /** Reports whether an item is delayed. `keyOf` may throw, but no method of an observer may. */
  #isDelayed(item: T): boolean {
    try {
      return this.#dueAt(item) !== undefined;
    } catch {
      return false;
    }
  }
}
