import { invalidArgument, TerminalError } from "../base/errors.ts";
import type { Outcome } from "../contracts/handler.ts";
import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { Attempt } from "./attempt.ts";
import type { Reports } from "./reports.ts";

/** When a failure gives an item up, and when it is no failure. */
export interface OutcomeRules {
  /** How many times an item is tried again. */
  readonly maxRetries: number;
  /** An attempt that fails after this has aborted was interrupted, and has not failed. */
  readonly interruption: AbortSignal | undefined;
}

/** Decides what becomes of an item when its attempt has ended: it is forgotten, tried again, handed back, or given up. */
export class Outcomes<T> {
  readonly #queue: RateLimitingQueue<T>;
  readonly #counts: AttemptCounts;
  readonly #rules: OutcomeRules;
  readonly #reports: Reports<T>;

  constructor(queue: RateLimitingQueue<T>, counts: AttemptCounts, rules: OutcomeRules, reports: Reports<T>) {
    this.#queue = queue;
    this.#counts = counts;
    this.#rules = rules;
    this.#reports = reports;
  }

  /** The handler returned. Throws if what it asks for cannot be done. */
  succeed(attempt: Attempt<T>, outcome: void | Outcome): void {
    if (outcome !== undefined) {
      const { requeue = false, requeueAfter } = (outcome ?? {}) as { requeue?: boolean; requeueAfter?: number };
      if (requeueAfter !== undefined) {
        if (!Number.isFinite(requeueAfter)) {
          const rule = "must be a finite number of milliseconds";
          throw invalidArgument("requeue item", "requeueAfter", rule, requeueAfter);
        }
        this.#queue.addAfter(attempt.item, requeueAfter);
      } else if (requeue && !this.#queue.shuttingDown) return this.#tryAgain(attempt);
    }
    this.#forget(attempt);
  }

  /** The handler threw, or succeeded too late. */
  fail(attempt: Attempt<T>, thrown: unknown): void {
    const { maxRetries, interruption } = this.#rules;
    const isTerminal = isTerminalError(thrown);
    if (attempt.timeoutError === undefined) {
      if (interruption?.aborted && !isTerminal && !this.#queue.shuttingDown) {
        return this.#reports.errorsOf(() => this.#queue.add(attempt.item), attempt);
      }
      this.#reports.error(thrown, attempt);
    }
    // A queue that is shutting down would take nothing, and nobody would learn what became of the item.
    if (isTerminal || attempt.number > maxRetries || this.#queue.shuttingDown) {
      return this.#giveUp(attempt, attempt.timeoutError ?? thrown);
    }
    try {
      this.#tryAgain(attempt);
    } catch (error) {
      // The limiter failed, so nobody can say when to try again.
      this.#reports.error(error, attempt);
      this.#giveUp(attempt, error);
    }
  }

  #tryAgain({ item, key, number }: Attempt<T>): void {
    this.#queue.addRateLimited(item);
    this.#counts.set(key, number);
  }

  #giveUp(attempt: Attempt<T>, error: unknown): void {
    this.#forget(attempt);
    this.#reports.givenUp(error, attempt);
  }

  #forget(attempt: Attempt<T>): void {
    if (attempt.number > 1) this.#counts.delete(attempt.key);
    try {
      this.#queue.forget(attempt.item);
    } catch (error) {
      this.#reports.error(error, attempt);
    }
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
