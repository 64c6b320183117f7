import type { Child } from "../children/child.ts";
import type { Line } from "../items/backlog.ts";
import { describeEnd, type ItemReport } from "../report/records.ts";
import { lastLine } from "../system/text.ts";
import type { Failure } from "./tally.ts";

/** Data on how an attempt ended. */
export interface AttemptEnd {
  /** Exit code; `null` if a signal ended the child or the child was never started. */
  readonly exitCode: number | null;
  /** Signal that ended the child; `null` if no signal did. */
  readonly signal: string | null;
  /** Last 4 KiB of the error output, or the reason why the child was never started. */
  readonly stderr: string;
}

/** Item whose outcome is not decided yet. */
export class OpenItem {
  /** Line of the input. */
  readonly line: Line;
  /** Key in the queue. The key begins with the line because a discipline can group keys by their prefixes. */
  readonly key: string;
  /** Reason why the command can't run for the line; `undefined` if it can. */
  readonly fault: string | undefined;
  /** Number of attempts that have begun. */
  attempts = 0;
  /** Whether the most recently finished attempt failed. */
  isFailing = false;
  /** Outcome of the item; `undefined` until it is decided. */
  outcome: ItemReport["outcome"] | undefined = undefined;
  /** Resolves when all output of the attempts has been passed on; `undefined` if no output is pending. */
  passedOn: Promise<void> | undefined = undefined;
  /** Time when the item was added to the queue, as returned by `performance.now()`. */
  readonly #addedAt = performance.now();
  /** Time when the first attempt began, as returned by `performance.now()`. */
  #beganAt: number | undefined = undefined;
  /** Time when the latest attempt began, as returned by `performance.now()`. */
  #attemptBeganAt = 0;
  #startedAt: string | null = null;
  #finishedAt: string | null = null;
  #workMs = 0;
  #size: number;
  #timedOut = false;
  #end: AttemptEnd = { exitCode: null, signal: null, stderr: "" };

  /**
   * Creates an item without attempts. If equal lines are separate items, the key also contains the number of the line.
   */
  constructor(line: Line, isDistinct: boolean, fault?: string) {
    this.line = line;
    this.fault = fault;
    this.#size = line.text.length;
    this.key = isDistinct ? line.text : `${line.text}\0${line.number}`;
  }

  /** Approximate number of characters that the item keeps in memory. The number changes when an attempt ends. */
  get size(): number {
    return this.#size;
  }

  /** Returns the text of the line, for parts of the core that convert the item to a string. */
  toString(): string {
    return this.line.text;
  }

  /** Records the start of an attempt. `beganAt` is a time as returned by `performance.now()`. */
  begin(attempt: number, beganAt: number): void {
    this.attempts = attempt;
    this.#attemptBeganAt = beganAt;
    this.#beganAt ??= beganAt;
    this.#startedAt ??= new Date(Date.now() - (performance.now() - beganAt)).toISOString();
  }

  /** Records the end of the attempt. */
  end(end: AttemptEnd, timedOut: boolean): void {
    this.#end = end;
    this.#size = this.line.text.length + end.stderr.length;
    this.#workMs += performance.now() - this.#attemptBeganAt;
    this.#timedOut = timedOut;
    this.#finishedAt = new Date().toISOString();
  }

  /** Receives the rest of the output of the attempt's child, which has exited but whose pipes might still be open. */
  listenTo(child: Child): void {
    if (child.isPassedOn) return;
    const { attempts, passedOn: before } = this;
    const passedOn = child.passedOn.then(async () => {
      if (this.attempts === attempts) this.#end = { ...this.#end, stderr: child.stderr };
      await before;
      if (this.passedOn === passedOn) this.passedOn = undefined;
    });
    this.passedOn = passedOn;
  }

  /** Describes the failure of the latest attempt. */
  get failure(): Failure {
    const end = describeEnd({ ...this.#end, timedOut: this.#timedOut });
    return { item: this.line.text, attempt: this.attempts, reason: lastLine(this.#end.stderr) || end };
  }

  /** Returns the item's line in the report. `reason` is the reason for giving up. */
  report(outcome: ItemReport["outcome"], reason: ItemReport["reason"] = null): ItemReport {
    const { exitCode, signal, stderr } = this.#end;
    return {
      item: this.line.text,
      outcome,
      reason,
      attempts: this.attempts,
      exitCode,
      signal,
      timedOut: this.#timedOut,
      startedAt: this.#startedAt,
      finishedAt: this.#finishedAt,
      queueSeconds: toSeconds((this.#beganAt ?? performance.now()) - this.#addedAt),
      workSeconds: toSeconds(this.#workMs),
      stderr,
    };
  }
}

/** Converts milliseconds to seconds, rounded to whole milliseconds. */
function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
