import { invalidArgument, TerminalError } from "../base/errors.ts";
import type { Outcome } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import { Attempt } from "./attempt.ts";

/** How often each item was tried since it was last forgotten, by key; shared by all pools of a queue. */
const attemptsOfQueues = new WeakMap<object, Map<unknown, number>>();

/** Decides what becomes of an item once its handler has ended: it is forgotten, tried again, or given up. */
export class Retries<T> {
  readonly #queue: RateLimitingQueue<T>;
  readonly #options: WorkerOptions<T>;
  readonly #attempts: Map<unknown, number>;

  constructor(queue: RateLimitingQueue<T>, options: WorkerOptions<T>) {
    this.#queue = queue;
    this.#options = options;
    let attempts = attemptsOfQueues.get(queue);
    if (attempts === undefined) attemptsOfQueues.set(queue, attempts = new Map());
    this.#attempts = attempts;
  }

  /** Counts an attempt at the item. Throws what the queue's `keyOf` throws. */
  begin(item: T): Attempt {
    const key = this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
    return new Attempt(key, (this.#attempts.get(key) ?? 0) + 1, this.#options.signal);
  }

  /** The handler returned. Throws if what it asks for cannot be done. */
  succeed(item: T, attempt: Attempt, outcome: void | Outcome): void {
    if (outcome !== undefined) {
      const { requeue = false, requeueAfter } = (outcome ?? {}) as { requeue?: boolean; requeueAfter?: number };
      if (requeueAfter !== undefined) {
        if (!Number.isFinite(requeueAfter)) {
          const rule = "must be a finite number of milliseconds";
          throw invalidArgument("requeue item", "requeueAfter", rule, requeueAfter);
        }
        this.#queue.addAfter(item, requeueAfter);
      } else if (requeue && !this.#queue.shuttingDown) return this.#tryAgain(item, attempt);
    }
    this.#forget(item, attempt);
  }

  /** The handler threw, or succeeded too late. */
  fail(item: T, attempt: Attempt, thrown: unknown): void {
    const { signal, maxRetries = Infinity } = this.#options;
    const isTerminal = isTerminalError(thrown);
    if (attempt.timeoutError === undefined) {
      if (signal?.aborted && !isTerminal && !this.#queue.shuttingDown) { // interrupted, not failed
        return this.reportErrorsOf(() => this.#queue.add(item), item, attempt);
      }
      this.report(thrown, item, attempt);
    }
    // A queue that is shutting down would take nothing, and nobody would learn what became of the item.
    if (isTerminal || attempt.attempt > maxRetries || this.#queue.shuttingDown) {
      return this.#giveUp(item, attempt, attempt.timeoutError ?? thrown);
    }
    try {
      this.#tryAgain(item, attempt);
    } catch (error) {
      // The limiter failed, so nobody can say when to try again.
      this.report(error, item, attempt);
      this.#giveUp(item, attempt, error);
    }
  }

  reportErrorsOf(action: () => unknown, item: T, attempt: Attempt): void {
    callSafely(action, (error) => this.report(error, item, attempt));
  }

  /** A callback that fails itself has nobody to report to, and must not end the pool. */
  report(error: unknown, item: T, { attempt }: Attempt): void {
    callSafely(() => this.#options.onError?.(error, item, attempt), () => {});
  }

  #tryAgain(item: T, { key, attempt }: Attempt): void {
    this.#queue.addRateLimited(item);
    this.#attempts.set(key, attempt);
  }

  #giveUp(item: T, attempt: Attempt, error: unknown): void {
    this.#forget(item, attempt);
    this.reportErrorsOf(() => this.#options.onGiveUp?.(error, item, attempt.attempt), item, attempt);
  }

  #forget(item: T, attempt: Attempt): void {
    if (attempt.attempt > 1) this.#attempts.delete(attempt.key);
    try {
      this.#queue.forget(item);
    } catch (error) {
      this.report(error, item, attempt);
    }
  }
}

/** Calls a user's function, which may throw, or be asynchronous and reject. */
function callSafely(action: () => unknown, onError: (error: unknown) => void): void {
  try {
    Promise.resolve(action()).catch(onError);
  } catch (error) {
    onError(error);
  }
}

/** Whether this is a `TerminalError`. Anything can be thrown, also what throws when it is looked at. */
function isTerminalError(thrown: unknown): boolean {
  try {
    return thrown instanceof TerminalError;
  } catch {
    return false;
  }
}
