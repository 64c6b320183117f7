import type { KeyListener } from "@workqueue/core/hooks";
import type { FailedAttempt } from "@workqueue/core/metrics";
import type { TraceWriter } from "./trace_writer.ts";

/** Context of a {@linkcode LoadObserver}. */
export interface LoadObserverOptions<T> {
  readonly writer: TraceWriter;
  readonly startedAt: number;
  /** Returns the time at which a delayed item is due; `undefined` if the item is not delayed. */
  readonly dueAt: (item: T) => number | undefined;
  /** Number of keys that are ready or blocked. */
  readonly earlier: number;
}

/** A running attempt. */
interface Running {
  readonly at: number;
  hasFailed: boolean;
}

/** Listener that passes the load of a queue to a trace. */
export class LoadObserver<T> implements KeyListener {
  readonly #writer: TraceWriter;
  readonly #startedAt: number;
  readonly #dueAt: (item: T) => number | undefined;
  readonly #running = new Map<unknown, Running>();
  /** Items whose retry has not begun to wait for a worker, by key. A simulation makes the retry by itself. */
  readonly #failing = new Map<unknown, T>();
  /** Number of remaining keys that were ready or blocked before the recording, and the keys that became ready later. */
  #earlier: number;
  readonly #later = new Set<unknown>();

  constructor({ writer, startedAt, dueAt, earlier }: LoadObserverOptions<T>) {
    this.#writer = writer;
    this.#startedAt = startedAt;
    this.#dueAt = dueAt;
    this.#earlier = earlier;
  }

  added(key: unknown, priority: number, now: number): void {
    this.ready(key);
    this.#add(key, priority, now);
  }

  addedAgain(key: unknown, priority: number, now: number): void {
    this.#add(key, priority, now);
  }

  unmarked(): void {}

  ready(key: unknown): void {
    if (this.#earlier > 0) this.#later.add(key);
  }

  taken(key: unknown, now: number): void {
    if (this.#earlier > 0 && !this.#later.delete(key)) {
      this.#earlier--;
      this.#writer.add(this.#startedAt, key, 0);
    }
    this.#running.set(key, { at: now, hasFailed: false });
  }

  finished(key: unknown, now: number): void {
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    this.#writer.attempt(running.at, key, now - running.at, running.hasFailed);
  }

  /** Notes that the running attempt at a key failed. A retry of an attempt that is not in the trace counts as added. */
  failed({ key, item }: FailedAttempt<T>): void {
    const running = this.#running.get(key);
    if (running === undefined) return;
    running.hasFailed = true;
    this.#failing.set(key, item);
  }

  /** Notes that a key may no longer be failing. Its retry still comes if it is delayed. */
  ended(key: unknown): void {
    const item = this.#failing.get(key);
    if (item !== undefined && !this.#isDelayed(item)) this.#failing.delete(key);
  }

  #add(key: unknown, priority: number, now: number): void {
    if (this.#failing.size > 0 && this.#isRetry(key)) this.#failing.delete(key);
    else this.#writer.add(now, key, priority);
  }

  /**
   * Reports whether an add of a key comes from its retry: the key is failing, and its retry is not delayed any more.
   */
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
