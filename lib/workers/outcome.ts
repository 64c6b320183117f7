import { RETRY_AFTER, TERMINAL } from "../base/brands.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { argumentError, inspect } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { GiveUpReason, Outcome } from "../contracts/handler.ts";
import type { Ending } from "../contracts/work_source.ts";
import { priorityOf } from "../queue/options.ts";
import type { Attempt } from "./attempt.ts";
import type { Endings } from "./endings.ts";
import type { Reports } from "./reports.ts";

/** When a failure gives an item up, and when it is no failure: what the rules are when an attempt ends. */
export interface OutcomeRules {
  /** How many times an item is tried again. */
  readonly maxRetries: number;
  /** An attempt that fails after this has aborted was interrupted, and has not failed. */
  readonly signal: AbortSignal | undefined;
}

const SUCCEEDED: Ending = { kind: "succeeded" };

/**
 * Decides what becomes of an item when its attempt has ended: it is forgotten, tried again, handed back, or given up.
 */
export class Outcomes<T> {
  readonly #endings: Endings<T>;
  readonly #reports: Reports<T>;
  readonly #rules: OutcomeRules;

  constructor(endings: Endings<T>, reports: Reports<T>, rules: OutcomeRules) {
    this.#endings = endings;
    this.#reports = reports;
    this.#rules = rules;
  }

  /** The handler returned. Throws if what it asks for cannot be done. */
  succeed(attempt: Attempt<T>, outcome: void | Outcome): void {
    this.#endings.carryOut(attempt, outcome === undefined ? SUCCEEDED : this.#endingOf(attempt, outcome));
  }

  /** The handler threw, or succeeded too late. */
  fail(attempt: Attempt<T>, thrown: unknown): void {
    const { maxRetries, signal } = this.#rules;
    const isTerminal = isTerminalError(thrown);
    const isInterrupted = signal?.aborted === true && !isTerminal && attempt.timeoutError === undefined;
    if (isInterrupted && this.#handBack(attempt)) return;
    // A timeout was reported when it came. The failure of a lost lease is reported as the cause of that.
    if (attempt.timeoutError === undefined && !attempt.isLost) this.#reports.failed(thrown, attempt);
    const error = attempt.timeoutError ?? thrown;
    if (isTerminal) return this.#giveUp(attempt, error, "terminal");
    if (attempt.number > maxRetries && !isInterrupted) return this.#giveUp(attempt, error, "maxRetries");
    // What the queue does not take is given up, or else nobody would learn what became of the item.
    if (!this.#takesBack(attempt)) return this.#giveUp(attempt, error, "shutdown");
    try {
      this.#endings.carryOut(attempt, { kind: "failed", error, minDelay: retryAfterOf(thrown) });
    } catch (failure) {
      // The limiter failed, so nobody can say when to try again.
      this.#reports.error(failure, attempt);
      this.#giveUp(attempt, failure, "limiter");
    }
  }

  /** What a handler asks for that returned something. */
  #endingOf(attempt: Attempt<T>, outcome: Outcome): Ending {
    const { requeue, requeueAfter, priority } = (outcome ?? {}) as Record<string, unknown>;
    if (requeue === undefined && requeueAfter === undefined) {
      refuseMisspelt(outcome, isLikeRequeue);
      return SUCCEEDED;
    }
    if (requeue || requeueAfter !== undefined) refuseMisspelt(outcome, isLikePriority);
    const delay = requeueAfter === undefined ? 0 : requireDuration("requeue item", "requeueAfter", requeueAfter);
    if (delay > 0) return { kind: "requeueAfter", delay, priority: askedPriority(priority) };
    if (requeue && this.#endings.takesBack(attempt, "requeue")) {
      return { kind: "requeue", priority: askedPriority(priority) };
    }
    return SUCCEEDED;
  }

  /** An attempt that was interrupted is not counted, unless its item cannot be handed back. Returns whether it was. */
  #handBack(attempt: Attempt<T>): boolean {
    try {
      return this.#endings.handBack(attempt);
    } catch (error) {
      this.#reports.error(error, attempt);
      return false;
    }
  }

  #takesBack(attempt: Attempt<T>): boolean {
    try {
      return this.#endings.takesBack(attempt, "failed");
    } catch (error) { // of a source of somebody else's
      this.#reports.error(error, attempt);
      return false;
    }
  }

  #giveUp(attempt: Attempt<T>, error: unknown, reason: GiveUpReason): void {
    try {
      this.#endings.carryOut(attempt, { kind: "givenUp", error, reason });
    } catch (failure) { // of a source of somebody else's
      this.#reports.error(failure, attempt);
    }
  }
}

/** The priority that a handler asks for; `undefined` if it asks for none. */
function askedPriority(priority: unknown): number | undefined {
  return priority === undefined ? undefined : priorityOf({ priority: priority as number });
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
    throw argumentError("requeue item", `${inspect(field)} is not an outcome${suggest(field, FIELDS)}`);
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
