import { RETRY_AFTER, TERMINAL } from "../base/brands.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { inspect } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Outcome } from "../contracts/handler.ts";
import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions } from "../contracts/work_queue.ts";
import { priorityFor, withPriority } from "../queue/add_options.ts";
import type { Attempt } from "./attempt.ts";
import type { Failures } from "./failures.ts";
import { addRateLimited, asItCame, giveBack, takesBack } from "./give_back.ts";
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
  readonly #failures: Failures<T>;
  readonly #reports: Reports<T>;
  readonly #rules: OutcomeRules;

  constructor(
    queue: RateLimitingQueue<T>,
    counts: AttemptCounts,
    failures: Failures<T>,
    reports: Reports<T>,
    rules: OutcomeRules,
  ) {
    this.#queue = queue;
    this.#counts = counts;
    this.#failures = failures;
    this.#reports = reports;
    this.#rules = rules;
  }

  /** The handler returned. Throws if what it asks for cannot be done. */
  succeed(attempt: Attempt<T>, outcome: void | Outcome): void {
    if (outcome !== undefined) {
      const { requeue, requeueAfter, priority } = (outcome ?? {}) as Record<string, unknown>;
      if (requeueAfter !== undefined) {
        refuseMisspelt(outcome, isLikePriority);
        const delay = requireDuration("requeue item", "requeueAfter", requeueAfter);
        this.#queue.addAfter(attempt.item, delay, this.#optionsOf(attempt, priority));
      } else if (requeue === undefined) refuseMisspelt(outcome, isLikeRequeue);
      else if (requeue && takesBack(this.#queue, attempt.item)) {
        refuseMisspelt(outcome, isLikePriority);
        this.#tryAgain(attempt, this.#optionsOf(attempt, priority), 0);
        this.#failures.delete(attempt.key);
        return;
      }
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
    const error = attempt.timeoutError ?? thrown;
    try {
      // What the queue does not take is given up, or else nobody would learn what became of the item.
      if (isTerminal || attempt.number > maxRetries || !takesBack(this.#queue, attempt.item)) {
        return this.#giveUp(attempt, error);
      }
      this.#tryAgain(attempt, asItCame(this.#queue, attempt.lease), retryAfterOf(thrown));
    } catch (failure) {
      // The limiter failed, so nobody can say when to try again.
      this.#reports.error(failure, attempt);
      return this.#giveUp(attempt, failure);
    }
    this.#failures.add(attempt, error);
  }

  /** An attempt that was interrupted is not counted. Tells whether nothing is left to decide. */
  #handBack(attempt: Attempt<T>): boolean {
    try {
      return giveBack(this.#queue, attempt.lease);
    } catch (error) {
      this.#reports.error(error, attempt);
      return true;
    }
  }

  /** The options of an add for which the handler asks, perhaps with a priority of its own. */
  #optionsOf({ lease }: Attempt<T>, asked: unknown): AddOptions | undefined {
    if (asked === undefined) return asItCame(this.#queue, lease);
    return withPriority(priorityFor(this.#queue, { priority: asked as number }));
  }

  #tryAgain({ item, key, number }: Attempt<T>, options: AddOptions | undefined, atLeast: number): void {
    addRateLimited(this.#queue, item, options, atLeast);
    this.#counts.set(key, number);
  }

  #giveUp(attempt: Attempt<T>, error: unknown): void {
    this.#forget(attempt);
    this.#reports.givenUp(error, attempt);
  }

  #forget(attempt: Attempt<T>): void {
    this.#failures.delete(attempt.key);
    try {
      if (attempt.number > 1) this.#counts.delete(attempt.key);
      this.#queue.forget(attempt.item);
    } catch (error) {
      this.#reports.error(error, attempt);
    }
  }
}

/** Whether this is a `TerminalError`, be it of another copy. */
function isTerminalError(thrown: unknown): boolean {
  return brandOf(thrown, TERMINAL) === true;
}

/** How long a `RetryAfterError`, be it of another copy, says to wait at least; 0 of anything else. */
function retryAfterOf(thrown: unknown): number {
  const delay = brandOf(thrown, RETRY_AFTER);
  return Number.isFinite(delay) ? delay as number : 0;
}

/** Anything can be thrown, also what throws when it is looked at. */
function brandOf(thrown: unknown, brand: symbol): unknown {
  try {
    return (thrown as Record<symbol, unknown> | null | undefined)?.[brand];
  } catch {
    return undefined;
  }
}

/** An object with more fields is something else than an outcome. */
const MAX_FIELDS = 4;

const FIELDS: readonly string[] = ["requeue", "requeueAfter", "priority"];

/** Handlers may return anything. But a misspelt outcome would never be noticed otherwise. */
function refuseMisspelt(outcome: unknown, isMisspelt: (field: string) => boolean): void {
  for (const field of fieldsOf(outcome)) {
    if (FIELDS.includes(field) || !isMisspelt(field)) continue;
    throw new TypeError(`Cannot requeue item as ${inspect(field)} is not an outcome${suggest(field, FIELDS)}`);
  }
}

/** Whether `requeue` or `requeueAfter` seems to be meant. */
function isLikeRequeue(field: string): boolean {
  return /^re[-_]?(que(u|$)|q[eu]+[-_]?after)/i.test(field);
}

function isLikePriority(field: string): boolean {
  return /^prio/i.test(field) || suggest(field, ["priority"]) !== "";
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
