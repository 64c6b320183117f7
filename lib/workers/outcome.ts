import { TERMINAL } from "../base/brands.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { inspect } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Outcome } from "../contracts/handler.ts";
import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { Attempt } from "./attempt.ts";
import { giveBack, takesBack } from "./give_back.ts";
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
      const { requeue, requeueAfter } = (outcome ?? {}) as { requeue?: unknown; requeueAfter?: unknown };
      if (requeueAfter !== undefined) {
        this.#queue.addAfter(attempt.item, requireDuration("requeue item", "requeueAfter", requeueAfter));
      } else if (requeue === undefined) refuseMisspelt(outcome);
      else if (requeue && takesBack(this.#queue, attempt.item)) return this.#tryAgain(attempt);
    }
    this.#forget(attempt);
  }

  /** The handler threw, or succeeded too late. */
  fail(attempt: Attempt<T>, thrown: unknown): void {
    const { maxRetries, interruption } = this.#rules;
    const isTerminal = isTerminalError(thrown);
    if (attempt.timeoutError === undefined) {
      if (interruption?.aborted && !isTerminal && this.#handBack(attempt)) return;
      this.#reports.error(thrown, attempt);
    }
    try {
      // What the queue does not take is given up, or else nobody would learn what became of the item.
      if (!isTerminal && attempt.number <= maxRetries && takesBack(this.#queue, attempt.item)) {
        return this.#tryAgain(attempt);
      }
    } catch (error) {
      // The limiter failed, so nobody can say when to try again.
      this.#reports.error(error, attempt);
      return this.#giveUp(attempt, error);
    }
    this.#giveUp(attempt, attempt.timeoutError ?? thrown);
  }

  /** An attempt that was interrupted is not counted. Tells whether nothing is left to decide. */
  #handBack(attempt: Attempt<T>): boolean {
    try {
      return giveBack(this.#queue, attempt.item);
    } catch (error) {
      this.#reports.error(error, attempt);
      return true;
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
    try {
      if (attempt.number > 1) this.#counts.delete(attempt.key);
      this.#queue.forget(attempt.item);
    } catch (error) {
      this.#reports.error(error, attempt);
    }
  }
}

/** Whether this is a `TerminalError`, be it of another copy. Anything can be thrown, also what throws when it is looked at. */
function isTerminalError(thrown: unknown): boolean {
  try {
    return (thrown as { [TERMINAL]?: unknown } | null | undefined)?.[TERMINAL] === true;
  } catch {
    return false;
  }
}

/** An object with more fields is something else than an outcome. */
const MAX_FIELDS = 4;

/** What seems to be meant for `requeue` or `requeueAfter`, and is neither. */
const MISSPELT = /^re[-_]?que(u|$)/i;

/** Handlers may return anything. But a misspelt outcome would never be noticed otherwise. */
function refuseMisspelt(outcome: unknown): void {
  for (const field of fieldsOf(outcome)) {
    if (field === "requeue" || field === "requeueAfter" || !MISSPELT.test(field)) continue;
    const hint = suggest(field, ["requeue", "requeueAfter"]);
    throw new TypeError(`Cannot requeue item as ${inspect(field)} is not an outcome${hint}`);
  }
}

/** The fields of an object that can be an outcome. */
function fieldsOf(outcome: unknown): string[] {
  try {
    if (typeof outcome !== "object" || Object.getPrototypeOf(outcome) !== Object.prototype) return [];
    const fields = Object.keys(outcome as object);
    if (fields.length > MAX_FIELDS) return [];
    return fields.filter((field) => (outcome as Record<string, unknown>)[field] !== undefined);
  } catch {
    return [];
  }
}
