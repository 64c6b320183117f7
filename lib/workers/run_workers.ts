/**
 * Runs a handler over a queue: concurrency, retries, timeouts, giving up, stopping.
 *
 * @module
 */

import { requireTimeout } from "../base/duration_arguments.ts";
import { systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { Lease, Shutdown } from "../contracts/work_queue.ts";
import type { WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import type { Attempt } from "./attempt.ts";
import { Burst } from "./burst.ts";
import { Retries } from "./retries.ts";

export { TerminalError } from "../base/errors.ts";
export type { DelayingQueue } from "../contracts/delaying_queue.ts";
export type * from "../contracts/handler.ts";
export type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
export type { DrainOptions, Lease, Shutdown, WorkQueue } from "../contracts/work_queue.ts";
export type * from "../contracts/workers.ts";
/**
 * `NoInfer` as TypeScript before 5.4 can have it: callbacks say nothing about what the items are.
 *
 * @internal
 */
type Uninferred<T> = [T][T extends unknown ? 0 : never];

/**
 * Takes items from the queue and runs the handler on each, until the queue is shut down and empty or the
 * pool is stopped. Whatever a handler does, the pool goes on with the other items, and no item is handed to
 * a second handler before the first has ended, even if it has run out of time.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 });
 * const queue = createRateLimitingQueue<string>(limiter);
 * queue.add("a");
 *
 * const attempts: number[] = [];
 * await using pool = runWorkers(queue, (_item, { attempt }) => {
 *   attempts.push(attempt);
 *   if (attempt < 3) throw new Error("not yet");
 *   queue.shutDown();
 * }, { concurrency: 10 });
 * await pool.finished;
 *
 * assertEquals(attempts, [1, 2, 3]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue Where items come from and where failed ones go back to.
 * @param handler Works on one item.
 * @param options Concurrency, retries, timeout, signal and callbacks; all may be left out.
 * @returns The running pool.
 * @throws {RangeError} If `concurrency`, `maxRetries` or `timeout` is out of its bounds.
 * @throws {TypeError} If `queue` is no rate limiting queue, `handler` or a callback no function, or `signal` no signal.
 */
export function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<Uninferred<T>> = {},
): WorkerPool {
  if (typeof queue?.addRateLimited !== "function") {
    throw invalidArgument("run workers", "queue", "must be a rate limiting queue", queue);
  }
  if (typeof handler !== "function") {
    throw invalidArgument("run workers", "handler", "must be a function", handler);
  }
  return new Pool(queue, handler, options);
}

class Pool<T> implements WorkerPool {
  readonly finished: Promise<void>;
  readonly #queue: RateLimitingQueue<T>;
  readonly #handler: Handler<T>;
  readonly #options: WorkerOptions<T>;
  readonly #retries: Retries<T>;
  #active = 0;
  #workers = 0;
  /** How many places are free. A worker whose handler ran out of time has none any more. */
  #free: number;
  /** Aborts once the pool takes no more items. */
  readonly #stopped = new AbortController();
  /** Whether `#fill` goes on when an item is there, or when a pause is over. */
  #isWaiting = false;
  #isPaused = false;
  #isShutDown = false;
  readonly #burst = new Burst();
  #failure: { error: unknown } | undefined = undefined;
  /** Settles `finished`. */
  #end!: () => void;

  constructor(queue: RateLimitingQueue<T>, handler: Handler<T>, options: WorkerOptions<T>) {
    const { concurrency = 1, signal } = options;
    validate({ ...options, concurrency });
    this.#queue = queue;
    this.#handler = handler;
    this.#options = options;
    this.#retries = new Retries(queue, options);
    this.#free = concurrency;

    const interrupt = () => void this.stop();
    this.finished = new Promise((resolve, reject) => {
      this.#end = () => {
        signal?.removeEventListener("abort", interrupt);
        if (this.#failure === undefined) resolve();
        else reject(this.#failure.error);
      };
    });
    signal?.addEventListener("abort", interrupt, { once: true });
    if (signal?.aborted) interrupt();
    queueMicrotask(() => this.#fill()); // not at once, so that a handler can refer to the pool
  }

  get active(): number {
    return this.#active;
  }

  stop(): Promise<void> {
    this.#stopped.abort(); // what waits for an item or a pause is told, and ends the pool if nothing else is left
    return this.finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Starts a worker for each item that is ready, as far as concurrency allows, and else waits for one. */
  #fill(): void {
    while (this.#free > 0 && !this.#isPaused) {
      if (this.#burst.isTooLong()) {
        this.#fillAfterPause();
        break;
      }
      const lease = this.#take();
      if (lease === undefined) {
        this.#wait();
        break;
      }
      this.#work(lease);
    }
    this.#endIfIdle();
  }

  #fillAfterPause(): void {
    this.#isPaused = true;
    this.#burst.over.then(() => {
      this.#isPaused = false;
      this.#fill();
    });
  }

  /** The next item, if one is ready and the pool still takes any. */
  #take(): Lease<T> | undefined {
    if (this.#stopped.signal.aborted) return undefined;
    try {
      return this.#queue.tryGet();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Waits for one item, for which it keeps a place free: when it is there, others may be as well. */
  async #wait(): Promise<void> {
    const { signal } = this.#stopped;
    if (this.#isWaiting || this.#isShutDown || signal.aborted) return;
    this.#isWaiting = true;
    this.#free--;
    let got: Lease<T> | Shutdown | undefined;
    try {
      got = await this.#queue.get({ signal });
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
    this.#isWaiting = false;
    this.#free++;
    if (got?.shutdown) this.#isShutDown = true;
    else if (got !== undefined) this.#accept(got);
    this.#fill();
  }

  /** An item may come just as the pool was stopped. A queue that is shutting down takes nothing back: it is the last one. */
  #accept(lease: Lease<T>): void {
    if (!this.#stopped.signal.aborted || this.#queue.shuttingDown) {
      this.#work(lease);
      return;
    }
    try {
      this.#queue.add(lease.item);
    } catch (error) {
      this.#fail(error);
    }
    this.#release(lease);
  }

  /** Gives back an item that nobody worked on. */
  #release(lease: Lease<T>): void {
    try {
      lease[Symbol.dispose]();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The queue itself failed: nothing more can be taken from it. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopped.abort();
  }

  #endIfIdle(): void {
    const takesNoMore = this.#isShutDown || this.#stopped.signal.aborted;
    if (takesNoMore && !this.#isWaiting && !this.#isPaused && this.#workers === 0) this.#end();
  }

  /** A worker: handles the item, and then others for as long as some are ready. Never rejects. */
  async #work(first: Lease<T>): Promise<void> {
    this.#workers++;
    this.#free--;
    let hasPlace = true;
    let lease: Lease<T> | undefined = first;
    while (lease !== undefined) {
      const attempt = this.#begin(lease);
      if (attempt === undefined) break;
      const { item } = lease;
      const timer = this.#startTimer(item, attempt);
      try {
        const returned = this.#handler(item, attempt);
        const outcome = returned === undefined ? undefined : await returned;
        if (attempt.timeoutError !== undefined) throw attempt.timeoutError;
        this.#retries.succeed(item, attempt, outcome);
      } catch (error) {
        this.#retries.fail(item, attempt, error);
      }
      if (timer !== undefined) systemClock.clearTimeout(timer);
      this.#finish(lease, attempt);
      hasPlace = attempt.timeoutError === undefined; // or else it was given away by then
      if (!hasPlace) break;
      while (this.#burst.isTooLong()) await this.#burst.over;
      lease = this.#take();
    }
    this.#workers--;
    if (hasPlace) this.#free++;
    this.#fill();
  }

  #begin(lease: Lease<T>): Attempt | undefined {
    try {
      const attempt = this.#retries.begin(lease.item);
      this.#active++;
      return attempt;
    } catch (error) { // of the queue's `keyOf`
      this.#fail(error);
      this.#release(lease);
    }
  }

  #finish(lease: Lease<T>, attempt: Attempt): void {
    this.#active--;
    attempt.end();
    try {
      lease[Symbol.dispose]();
    } catch (error) {
      this.#retries.report(error, lease.item, attempt);
    }
  }

  #startTimer(item: T, attempt: Attempt): unknown {
    const { timeout } = this.#options;
    return timeout && systemClock.setTimeout(() => this.#timeOut(item, attempt), timeout);
  }

  /** Gives up waiting for a handler. Its item stays held until it ends: no other handler may have it before. */
  #timeOut(item: T, attempt: Attempt): void {
    attempt.timeoutError = new DOMException(
      `The handler did not end within ${this.#options.timeout} ms`,
      "TimeoutError",
    );
    attempt.abort(attempt.timeoutError);
    this.#retries.report(attempt.timeoutError, item, attempt);
    this.#free++;
    this.#fill();
  }
}

function validate<T>(options: WorkerOptions<T> & { concurrency: number }): void {
  const { concurrency, maxRetries, timeout, signal } = options;
  const requireThat = (holds: boolean, option: string, rule: string, value: unknown) => {
    if (!holds) throw invalidArgument("run workers", option, rule, value);
  };
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  requireThat(isCount(concurrency) && concurrency > 0, "concurrency", "must be a positive integer", concurrency);
  if (maxRetries !== undefined && maxRetries !== Infinity) {
    requireThat(isCount(maxRetries), "maxRetries", "must be a non-negative integer or Infinity", maxRetries);
  }
  if (timeout !== undefined) requireTimeout("run workers", "timeout", timeout);
  if (signal !== undefined) {
    requireThat(typeof signal?.addEventListener === "function", "signal", "must be an AbortSignal", signal);
  }
  for (const callback of ["onError", "onGiveUp"] as const) {
    const given = options[callback];
    requireThat(given === undefined || typeof given === "function", callback, "must be a function", given);
  }
}
