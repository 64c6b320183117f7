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

/** Rules that decide the outcome when an attempt ends. */
export interface OutcomeRules {
  /** Maximum number of retries. */
  readonly maxRetries: number;
  /** If this signal has aborted, an attempt that fails is treated as interrupted, not as failed. */
  readonly signal: AbortSignal | undefined;
}

const SUCCEEDED: Ending = { kind: "succeeded" };

/** Decides the ending of an item whose attempt has ended: the item is forgotten, retried, handed back, or given up. */
export class Outcomes<T> {
  readonly #endings: Endings<T>;
  readonly #reports: Reports<T>;
  readonly #rules: OutcomeRules;

  constructor(endings: Endings<T>, reports: Reports<T>, rules: OutcomeRules) {
    this.#endings = endings;
    this.#reports = reports;
    this.#rules = rules;
  }

  /** Ends an attempt whose handler returned. Throws if the requested outcome is impossible. */
  succeed(attempt: Attempt<T>, outcome: void | Outcome): void {
    this.#endings.carryOut(attempt, outcome === undefined ? SUCCEEDED : this.#endingOf(attempt, outcome));
  }

  /** Ends an attempt whose handler threw, or returned after the attempt's timeout. */
  fail(attempt: Attempt<T>, thrown: unknown): void {
    const { maxRetries, signal } = this.#rules;
    const isTerminal = isTerminalError(thrown);
    const isInterrupted = signal?.aborted === true && !isTerminal && attempt.timedOut === undefined;
    if (isInterrupted && this.#handBack(attempt)) return;
    // A timeout has already been reported. If the lease was lost, the failure is reported as the cause of the
    // lost-lease error.
    if (attempt.timedOut === undefined && !attempt.isLost) this.#reports.failed(thrown, attempt);
    const error = attempt.timedOut?.error ?? thrown;
    if (isTerminal) return this.#giveUp(attempt, error, "terminal");
    if (attempt.number > maxRetries && !isInterrupted) return this.#giveUp(attempt, error, "maxRetries");
    // An item that the queue doesn't take back is given up. Otherwise, the item would disappear without a report.
    if (!this.#takesBack(attempt)) return this.#giveUp(attempt, error, "shutdown");
    try {
      this.#endings.carryOut(attempt, { kind: "failed", error, minDelay: retryAfterOf(thrown) });
    } catch (failure) {
      // The limiter failed, so the delay of the retry is unknown.
      this.#reports.error(failure, attempt);
      this.#giveUp(attempt, failure, "limiter");
    }
  }

  /** Returns the ending for a value that the handler returned. */
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

  /**
   * Hands back the item of an interrupted attempt, so that the attempt is not counted. Reports whether the item was
   * handed back.
   */
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
    } catch (error) { // a third-party source threw
      this.#reports.error(error, attempt);
      return false;
    }
  }

  #giveUp(attempt: Attempt<T>, error: unknown, reason: GiveUpReason): void {
    try {
      this.#endings.carryOut(attempt, { kind: "givenUp", error, reason });
    } catch (failure) { // a third-party source threw
      this.#reports.error(failure, attempt);
    }
  }
}

/** Returns the priority that a handler requested; `undefined` if the handler requested none. */
function askedPriority(priority: unknown): number | undefined {
  return priority === undefined ? undefined : priorityOf({ priority: priority as number });
}

/** Reports whether an error is a `TerminalError`, possibly from another copy of the package. */
function isTerminalError(thrown: unknown): boolean {
  return brandOf(thrown, TERMINAL) === true;
}

/**
 * Returns the minimum delay, in milliseconds, of a `RetryAfterError`, possibly from another copy of the package.
 * Returns 0 for any other error.
 */
function retryAfterOf(thrown: unknown): number {
  const delay = brandOf(thrown, RETRY_AFTER);
  return Number.isFinite(delay) ? delay as number : 0;
}

/** Returns the brand of a thrown value. Any value can be thrown, even one whose properties throw when read. */
function brandOf(thrown: unknown, brand: symbol): unknown {
  try {
    return (thrown as Record<symbol, unknown> | null | undefined)?.[brand];
  } catch {
    return undefined;
  }
}

/** Maximum number of fields of an outcome. An object with more fields is not checked for misspelled fields. */
const MAX_FIELDS = 4;

const FIELDS: readonly string[] = ["requeue", "requeueAfter", "priority"];

/**
 * Throws an error for a misspelled outcome, which would otherwise go unnoticed, because handlers may return any value.
 */
function refuseMisspelt(outcome: unknown, isMisspelt: (field: string) => boolean): void {
  for (const field of fieldsOf(outcome)) {
    if (FIELDS.includes(field) || !isMisspelt(field)) continue;
    throw argumentError("requeue item", `${inspect(field)} is not an outcome${suggest(field, FIELDS)}`);
  }
}

/** Reports whether a field name looks like `requeue` or `requeueAfter`. */
function isLikeRequeue(field: string): boolean {
  return /^re[-_]?(que(u|$)|q[eu]+[-_]?after)/i.test(field);
}

function isLikePriority(field: string): boolean {
  return /^prio/i.test(field) || suggest(field, ["priority"]) !== "";
}

/** Returns the names of the defined fields of a possible outcome; an empty list for any other value. */
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
