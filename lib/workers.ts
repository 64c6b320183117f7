/**
 * Runs a handler over a queue: concurrency, retries, timeouts, giving up, stopping.
 *
 * @module
 */

import { MAX_TIMEOUT, systemClock } from "./clock.ts";
import { invalidArgument, TerminalError } from "./errors.ts";
import type { RateLimitingQueue } from "./rate_limiting_queue.ts";
import type { Lease } from "./work_queue.ts";

/**
 * Works on one item.
 *
 * Returning means success: the item's failures are forgotten. Throwing anything, or rejecting, means
 * failure: the item is tried again when its limiter says so. {@linkcode Outcome} and
 * {@linkcode TerminalError} ask for something else.
 */
export type Handler<T> = (item: T, context: HandlerContext) => void | Outcome | Promise<void | Outcome>;

/** What a {@linkcode Handler} is told beside the item. */
export interface HandlerContext {
  /** Aborts when the handler should stop: its time is up, or the pool's `signal` aborted. */
  readonly signal: AbortSignal;
  /** 1 the first time, then one more each time until the item succeeds, is given up or asks for `requeueAfter`. */
  readonly attempt: number;
}

/**
 * What a handler can ask for instead of plain success: `requeueAfter` forgets the item's failures and adds it
 * again after that many milliseconds; `requeue` adds it again when the limiter says so.
 */
export type Outcome = { requeueAfter: number } | { requeue: true };

/** The options of {@linkcode runWorkers}. */
export interface WorkerOptions<T = unknown> {
  /**
   * How many items are worked on at once; a positive integer.
   *
   * @default {1}
   */
  concurrency?: number;
  /**
   * How many times an item that fails is tried again until it is given up; a non-negative integer or
   * `Infinity`.
   *
   * @default {Infinity}
   */
  maxRetries?: number;
  /** How long one attempt may take, in milliseconds, from 1 to 2^31 - 1. By default there is no limit. */
  timeout?: number;
  /**
   * Stops the pool and aborts the handlers' signals. An item whose handler fails after that goes back to the
   * queue as it came: that attempt is not counted.
   */
  signal?: AbortSignal;
  /**
   * Is told of every attempt that failed. An attempt that runs out of time is reported then, once, however
   * its handler ends. What the callback throws is dropped: there is nobody to tell.
   */
  onError?(error: unknown, item: T, attempt: number): void;
  /** Is told, once, of every item that is given up, after `onError`. What it throws goes to `onError`. */
  onGiveUp?(error: unknown, item: T, attempts: number): void;
}

/** The workers of one {@linkcode runWorkers}. Disposing the pool stops it. */
export interface WorkerPool extends AsyncDisposable {
  /** The number of handlers running right now, those that ran out of time among them. */
  readonly active: number;
  /**
   * Resolves when no handler is running and none will be begun: the queue was shut down and is empty, or
   * the pool was stopped. Rejects if the queue itself failed to hand out an item.
   */
  readonly finished: Promise<void>;
  /** Takes no more items; resolves when the handlers that are running have ended. */
  stop(): Promise<void>;
}

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
 * @throws {TypeError} If `handler` is no function.
 */
export function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<NoInfer<T>> = {},
): WorkerPool {
  if (typeof handler !== "function") {
    throw invalidArgument("run workers", "handler", "must be a function", handler);
  }
  return new Pool(queue, handler, options);
}

/** How often each item was tried since it was last forgotten, by key; shared by all pools of a queue. */
const attemptsOfQueues = new WeakMap<object, Map<unknown, number>>();

class Pool<T> implements WorkerPool {
  readonly finished: Promise<void>;
  readonly #queue: RateLimitingQueue<T>;
  readonly #handler: Handler<T>;
  readonly #options: WorkerOptions<T>;
  readonly #attempts: Map<unknown, number>;
  /** Aborts once the pool takes no more items. */
  readonly #stopped = new AbortController();
  readonly #running = new Set<Attempt>();
  /** The ends of handlers that ran out of time: no worker waits for them any more. */
  readonly #overdue = new Set<Promise<void>>();

  constructor(queue: RateLimitingQueue<T>, handler: Handler<T>, options: WorkerOptions<T>) {
    const { concurrency = 1 } = options;
    validate({ ...options, concurrency });
    this.#queue = queue;
    this.#handler = handler;
    this.#options = options;
    let attempts = attemptsOfQueues.get(queue);
    if (attempts === undefined) attemptsOfQueues.set(queue, attempts = new Map());
    this.#attempts = attempts;
    this.finished = this.#run(concurrency);
  }

  get active(): number {
    return this.#running.size;
  }

  stop(): Promise<void> {
    this.#stopped.abort();
    return this.finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(concurrency: number): Promise<void> {
    const { signal } = this.#options;
    const interrupt = () => {
      this.#stopped.abort();
      for (const attempt of this.#running) attempt.abort(signal!.reason);
    };
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    try {
      do {
        await Promise.all(Array.from({ length: concurrency }, () => this.#work()));
        await Promise.all(this.#overdue);
        // An item that was added again while an overdue handler held it is ready now, and nobody is left.
      } while (this.#queue.length > 0 && !this.#stopped.signal.aborted);
    } finally {
      signal?.removeEventListener("abort", interrupt);
    }
  }

  /** One worker: takes an item, tries it, takes the next. */
  async #work(): Promise<void> {
    const { signal } = this.#stopped;
    try {
      while (!signal.aborted) {
        const lease = this.#queue.tryGet() ?? await this.#queue.get({ signal });
        if (lease.shutdown) return;
        await this.#try(lease);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Resolves when the worker is free again: the handler has ended or has run out of time. */
  #try(lease: Lease<T>): Promise<void> {
    const key = this.#key(lease.item);
    const attempt = new Attempt((this.#attempts.get(key) ?? 0) + 1);
    const ended = this.#handle(lease, key, attempt);
    const { timeout } = this.#options;
    if (timeout === undefined) return ended;

    return new Promise((resolve) => {
      const timer = systemClock.setTimeout(() => {
        attempt.timeoutError = new DOMException(`The handler did not end within ${timeout} ms`, "TimeoutError");
        attempt.abort(attempt.timeoutError);
        this.#report(attempt.timeoutError, lease.item, attempt.attempt);
        this.#overdue.add(ended);
        resolve();
      }, timeout);
      ended.then(() => {
        systemClock.clearTimeout(timer);
        this.#overdue.delete(ended);
        resolve();
      });
    });
  }

  /** Runs the handler and decides what becomes of the item, whose lease is held until then. Never rejects. */
  async #handle(lease: Lease<T>, key: unknown, attempt: Attempt): Promise<void> {
    const { item } = lease;
    this.#running.add(attempt);
    try {
      const outcome = await this.#handler(item, attempt);
      if (attempt.timeoutError !== undefined) throw attempt.timeoutError;
      this.#succeed(item, key, attempt, outcome);
    } catch (error) {
      this.#fail(item, key, attempt, error);
    } finally {
      this.#running.delete(attempt);
      lease[Symbol.dispose]();
    }
  }

  #succeed(item: T, key: unknown, { attempt }: Attempt, outcome: void | Outcome): void {
    const { requeue = false, requeueAfter } = { ...outcome } as { requeue?: boolean; requeueAfter?: number };
    if (requeue) {
      this.#queue.addRateLimited(item);
      this.#attempts.set(key, attempt);
      return;
    }
    if (requeueAfter !== undefined) this.#queue.addAfter(item, requeueAfter);
    this.#forget(item, key, attempt);
  }

  #fail(item: T, key: unknown, { attempt, timeoutError }: Attempt, thrown: unknown): void {
    const { signal, maxRetries = Infinity } = this.#options;
    const isTerminal = thrown instanceof TerminalError;
    if (timeoutError === undefined) {
      if (signal?.aborted && !isTerminal) return this.#queue.add(item); // interrupted, not failed
      this.#report(thrown, item, attempt);
    }
    if (isTerminal || attempt > maxRetries) return this.#giveUp(item, key, attempt, timeoutError ?? thrown);
    try {
      this.#queue.addRateLimited(item);
      this.#attempts.set(key, attempt);
    } catch (error) {
      // The limiter failed, so nobody can say when to try again.
      this.#report(error, item, attempt);
      this.#giveUp(item, key, attempt, error);
    }
  }

  #giveUp(item: T, key: unknown, attempt: number, error: unknown): void {
    this.#forget(item, key, attempt);
    try {
      this.#options.onGiveUp?.(error, item, attempt);
    } catch (error) {
      this.#report(error, item, attempt);
    }
  }

  #forget(item: T, key: unknown, attempt: number): void {
    this.#attempts.delete(key);
    try {
      this.#queue.forget(item);
    } catch (error) {
      this.#report(error, item, attempt);
    }
  }

  #report(error: unknown, item: T, attempt: number): void {
    try {
      this.#options.onError?.(error, item, attempt);
    } catch {
      // A callback that fails has nobody to report to, and must not end the pool.
    }
  }

  #key(item: T): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }
}

/** One run of the handler, and what the handler is told about it. */
class Attempt implements HandlerContext {
  /** Set once the attempt has run out of time. It has failed then, whatever the handler does. */
  timeoutError: DOMException | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #abortion: { reason: unknown } | undefined = undefined;

  constructor(readonly attempt: number) {}

  /** Made when it is first read: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortion !== undefined) this.#controller.abort(this.#abortion.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }
}

function validate({ concurrency, maxRetries, timeout }: WorkerOptions & { concurrency: number }): void {
  const requireThat = (holds: boolean, option: string, rule: string, value: unknown) => {
    if (!holds) throw invalidArgument("run workers", option, rule, value);
  };
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  requireThat(isCount(concurrency) && concurrency > 0, "concurrency", "must be a positive integer", concurrency);
  if (maxRetries !== undefined && maxRetries !== Infinity) {
    requireThat(isCount(maxRetries), "maxRetries", "must be a non-negative integer or Infinity", maxRetries);
  }
  if (timeout !== undefined) {
    requireThat(timeout >= 1 && timeout <= MAX_TIMEOUT, "timeout", `must be from 1 to ${MAX_TIMEOUT} ms`, timeout);
  }
}
