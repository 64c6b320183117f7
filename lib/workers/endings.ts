import { withCode } from "../base/error_codes.ts";
import type { Ending, GivenUpEnding, WorkAttempt, WorkSource } from "../contracts/work_source.ts";
import type { Failures } from "./failures.ts";
import type { Reports } from "./reports.ts";

const HANDED_BACK: Ending = { kind: "handedBack" };

/** Passes the ending of each attempt, such as success or giving up, to the source, and records the results. */
export class Endings<T> {
  readonly #source: WorkSource<T>;
  readonly #failures: Failures<T>;
  readonly #reports: Reports<T>;
  readonly #onSettled: () => void;
  #pending = 0;

  /** `onSettled` is called when an asynchronous ending has been carried out or has failed. */
  constructor(source: WorkSource<T>, failures: Failures<T>, reports: Reports<T>, onSettled: () => void) {
    this.#source = source;
    this.#failures = failures;
    this.#reports = reports;
    this.#onSettled = onSettled;
  }

  /** Number of endings that are being carried out. */
  get pending(): number {
    return this.#pending;
  }

  /** Carries out an ending. Throws if the ending is impossible, so that the caller can choose another ending. */
  carryOut(attempt: WorkAttempt<T>, ending: Ending): void {
    const isDone = this.#source.finish(attempt, ending, this.#reports.error);
    if (isDone === undefined) this.#note(attempt, ending);
    else this.#settle(attempt, ending, isDone);
  }

  /** Records that an attempt has failed although its handler still runs. An ending follows when the handler ends. */
  failEarly(attempt: WorkAttempt<T>, error: unknown): void {
    try {
      this.#source.timedOut?.(attempt);
    } catch (failure) { // a third-party source threw
      this.#reports.error(failure, attempt);
    }
    this.#failures.add(attempt, error);
  }

  /** Reports whether the source would take the item back for the given reason. */
  takesBack(attempt: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    return this.#source.takesBack === undefined || this.#source.takesBack(attempt, reason);
  }

  /**
   * Hands back an unfinished item, which is then ready again with its previous priority. Returns `false` if the source
   * doesn't take the item back.
   */
  handBack(attempt: WorkAttempt<T>): boolean {
    if (!this.takesBack(attempt, "handedBack")) return false;
    this.carryOut(attempt, HANDED_BACK);
    return true;
  }

  async #settle(attempt: WorkAttempt<T>, ending: Ending, isDone: Promise<boolean | GivenUpEnding>): Promise<void> {
    this.#pending++;
    try {
      const answer = await isDone;
      if (typeof answer === "object") {
        this.#reports.error(answer.error, attempt);
        this.#note(attempt, answer);
      } else if (answer) this.#note(attempt, ending);
      else {
        this.#failures.delete(attempt.key); // another process has the item now
        if (ending.kind !== "handedBack") this.#reports.error(lostLease(ending), attempt);
      }
    } catch (error) {
      this.#reports.error(error, attempt);
    }
    this.#pending--;
    this.#onSettled();
  }

  #note(attempt: WorkAttempt<T>, ending: Ending): void {
    if (ending.kind === "failed") this.#failures.add(attempt, ending.error);
    else if (ending.kind !== "handedBack") this.#failures.delete(attempt.key);
    if (ending.kind === "givenUp") {
      const { lease: { item }, key, number: attempts } = attempt;
      const { error, reason } = ending;
      this.#reports.givenUp({ item, key, attempts, error, reason });
    } else if (ending.kind !== "failed" && ending.kind !== "handedBack") this.#reports.succeeded();
  }
}

/** Creates the error for an ending that doesn't count because the lease was lost. */
function lostLease(ending: Ending): Error {
  const message = "The lease of the item was lost before its handler ended, so the handler's result does not count";
  return withCode("WQ_LEASE_LOST", new Error(message, "error" in ending ? { cause: ending.error } : {}));
}
