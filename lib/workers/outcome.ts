import { withCode } from "../base/error_codes.ts";
import { argumentError } from "../base/errors.ts";
import { askedBy } from "../base/thrown.ts";
import type { GiveUpReason } from "../contracts/handler.ts";
import type { Ending, WorkAttempt, WorkSource } from "../contracts/work_source.ts";
import type { Attempt, RareState } from "./attempt.ts";
import type { Reports } from "./reports.ts";
import { requestedEnding, SUCCEEDED } from "./requested_ending.ts";

/** Rules that decide the outcome when an attempt ends. */
export interface OutcomeRules {
  /** Maximum number of retries. */
  readonly maxRetries: number;
  /** If this signal has aborted, an attempt that fails is treated as interrupted, not as failed. */
  readonly signal: AbortSignal | undefined;
}

const HANDED_BACK: Ending = { kind: "handedBack" };
const CANCELLED: Ending = { kind: "cancelled" };

/**
 * Decides the ending of an item whose attempt has ended: the item is forgotten, retried, handed back, or given up.
 * Passes the ending to the source, and records the result.
 */
export class Outcomes<T> {
  /** Number of endings that are being carried out. */
  pending = 0;
  /** Attempt whose ending is being carried out now. Messages of the source about its key are ignored. */
  settling: WorkAttempt<T> | undefined = undefined;
  readonly #source: WorkSource<T>;
  readonly #reports: Reports<T>;
  readonly #rules: OutcomeRules;
  readonly #onSettled: () => void;
  /** Whether it was reported that the scope of a `RetryAfterError` is not possible. */
  #hasReportedScope = false;

  /** `onSettled` is called when an asynchronous ending has been carried out or has failed. */
  constructor(
    source: WorkSource<T>,
    reports: Reports<T>,
    rules: OutcomeRules,
    onSettled: () => void,
  ) {
    this.#source = source;
    this.#reports = reports;
    this.#rules = rules;
    this.#onSettled = onSettled;
  }

  /**
   * Ends an attempt whose handler returned. Throws if the attempt has timed out or the requested outcome is impossible.
   */
  succeed(attempt: Attempt<T>, outcome: unknown): void {
    const isUsual = attempt.rare === undefined && outcome === undefined;
    this.#carryOut(attempt, isUsual ? SUCCEEDED : this.#endingOf(attempt, outcome));
  }

  #endingOf(attempt: Attempt<T>, outcome: unknown): Ending {
    const { discount, timedOut } = attempt.rare ?? {};
    if (discount === "cancelled") return CANCELLED;
    if (timedOut !== undefined) throw timedOut.error;
    if (outcome === undefined) return SUCCEEDED;
    return requestedEnding(outcome, () => this.#source.takesBack(attempt, "requeue"));
  }

  /**
   * Ends an attempt whose handler threw, or returned after the attempt's timeout. If the source throws when it is asked
   * something, the error is reported, and the answer counts as `false`.
   */
  fail(attempt: Attempt<T>, thrown: unknown): void {
    const { maxRetries, signal } = this.#rules;
    const { lease, number, rare, worker: { permit } } = attempt;
    if (rare?.discount !== undefined) return this.#try(attempt, () => this.#discount(attempt, rare));
    const timedOut = rare?.timedOut;
    if (permit !== undefined) this.#try(attempt, () => permit.fail(thrown, timedOut !== undefined));
    const { isTerminal, minDelay, scope } = askedBy(thrown);
    const isInterrupted = signal?.aborted === true && !isTerminal && timedOut === undefined;
    if (isInterrupted && this.#try(attempt, () => this.handBack(attempt))) return;
    if (minDelay > 0 && this.#try(attempt, () => this.#pauses(attempt, scope, minDelay))) return;
    // A timeout has already been reported. If the lease was lost, the failure is reported as the cause of the
    // lost-lease error.
    if (timedOut === undefined && !lease.signal?.aborted) this.#reports.failed(thrown, attempt);
    const error = timedOut === undefined ? thrown : timedOut.error;
    if (isTerminal) return this.#giveUp(attempt, error, "terminal");
    const isLast = number > maxRetries && !isInterrupted;
    const mayRetry = () => this.#source.mayRetry(attempt, { maxRetries, minDelay });
    if (isLast && !this.#try(attempt, mayRetry)) return this.#giveUp(attempt, error, "maxRetries");
    try {
      // An item that the queue doesn't take back is given up. Otherwise, the item would disappear without a report.
      if (!this.#source.takesBack(attempt, "failed")) return this.#giveUp(attempt, error, "shutdown");
      this.#carryOut(attempt, { kind: "failed", error, minDelay });
    } catch (failure) {
      // The limiter or the queue threw, so the delay of the retry is unknown.
      this.#reports.error(failure, attempt);
      this.#giveUp(attempt, failure, "limiter");
    }
  }

  /** Ends an attempt whose failure doesn't count. If its item was added again, it becomes ready. */
  #discount(attempt: Attempt<T>, rare: RareState): void {
    rare.isDiscounted = true;
    this.#carryOut(attempt, rare.discount === "cancelled" ? CANCELLED : HANDED_BACK);
    attempt.worker.permit?.putBack();
  }

  #giveUp(attempt: Attempt<T>, error: unknown, reason: GiveUpReason): void {
    this.#try(attempt, () => this.#carryOut(attempt, { kind: "givenUp", error, reason }));
  }

  /**
   * Pauses the group of the item or the whole queue, if a `RetryAfterError` asks for this, and hands the item back.
   * Returns `false` if the attempt is a failure nevertheless.
   */
  #pauses(attempt: Attempt<T>, scope: unknown, ms: number): boolean {
    if (scope !== "group" && scope !== "queue") return false;
    if (this.#source.pause(attempt, scope, ms)) return attempt.rare?.timedOut === undefined && this.handBack(attempt);
    if (!this.#hasReportedScope) this.#reports.error(impossibleScope(scope), attempt);
    this.#hasReportedScope = true;
    return false;
  }

  /** Records that an attempt has failed although its handler still runs. An ending follows when the handler ends. */
  failEarly(attempt: WorkAttempt<T>, error: unknown): void {
    this.#try(attempt, () => this.#source.timedOut(attempt));
    this.#reports.remember(attempt, error);
    this.#reports.failed(error, attempt);
  }

  /**
   * Hands back an unfinished item, which is then ready again with its previous priority, so that the attempt is not
   * counted. Returns `false` if the source doesn't take the item back. Throws if a third-party source throws.
   */
  handBack(attempt: WorkAttempt<T>): boolean {
    if (!this.#source.takesBack(attempt, "handedBack")) return false;
    this.#carryOut(attempt, HANDED_BACK);
    return true;
  }

  /** Calls a third-party source. If the source throws, reports the error and returns `undefined`. */
  #try<R>(attempt: WorkAttempt<T>, call: () => R): R | undefined {
    try {
      return call();
    } catch (error) {
      this.#reports.error(error, attempt);
    }
  }

  /** Carries out an ending. Throws if the ending is impossible, so that the caller can choose another ending. */
  #carryOut(attempt: WorkAttempt<T>, ending: Ending): void {
    this.settling = attempt;
    const isDone = this.#source.finish(attempt, ending, this.#reports.error);
    this.settling = undefined;
    if (isDone === undefined) this.#reports.ended(attempt, ending);
    else void this.#settle(attempt, ending, isDone);
  }

  async #settle(attempt: WorkAttempt<T>, ending: Ending, isDone: Promise<void | boolean | Ending>): Promise<void> {
    this.pending++;
    try {
      const answer = await isDone;
      if (typeof answer === "object") {
        if (answer.kind === "givenUp") this.#reports.error(answer.error, attempt);
        this.#reports.ended(attempt, answer);
      } else if (answer !== false) this.#reports.ended(attempt, ending);
      else {
        this.#reports.forget(attempt.key); // another process has the item now
        if (ending.kind !== "handedBack") this.#reports.error(lostLease(ending), attempt);
      }
    } catch (error) {
      this.#reports.error(error, attempt);
    }
    this.pending--;
    this.#onSettled();
  }
}

/** Creates the error for an ending that doesn't count because the lease was lost. */
function lostLease(ending: Ending): Error {
  const message = "The lease of the item was lost before its handler ended, so the handler's result does not count";
  return withCode("WQ_LEASE_LOST", new Error(message, "error" in ending ? { cause: ending.error } : {}));
}

/** Creates the error for a `RetryAfterError` whose scope the queue doesn't support. */
function impossibleScope(scope: "group" | "queue"): Error {
  return argumentError(`pause ${scope}`, "the queue does not support it, so only the item is delayed", Error);
}
