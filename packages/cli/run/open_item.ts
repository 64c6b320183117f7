import type { Child } from "../children/child.ts";
import type { Line } from "../items/backlog.ts";
import { describeEnd, type ItemReport } from "../report/records.ts";
import { lastLine } from "../system/text.ts";
import type { Failure } from "./tally.ts";

/** The end of an attempt. */
export interface AttemptEnd {
  /** The exit code; `null` if a signal ended the child or it was never started. */
  readonly exitCode: number | null;
  /** The signal that ended the child, if one did. */
  readonly signal: string | null;
  /** The end of its error output; the reason, if it was never started. */
  readonly stderr: string;
}

/** An item of the queue whose outcome is not decided. */
export class OpenItem {
  /** The line. */
  readonly line: Line;
  /** Key in the queue. It begins with the line, as a discipline may group keys by their beginning. */
  readonly key: string;
  /** Number of attempts that have begun. */
  attempts = 0;
  /** Whether the latest finished attempt failed. */
  isFailing = false;
  /** Resolves when all output of the attempts has been passed on; `undefined` if it has been. */
  passedOn: Promise<void> | undefined = undefined;
  /**
   * Times of `performance.now()`: when it was added to the queue, when its first attempt began, and when the latest one
   * did.
   */
  readonly #addedAt = performance.now();
  #beganAt: number | undefined = undefined;
  #attemptBeganAt = 0;
  #startedAt: string | null = null;
  #finishedAt: string | null = null;
  #workMs = 0;
  #size: number;
  #timedOut = false;
  #end: AttemptEnd = { exitCode: null, signal: null, stderr: "" };

  /** Makes an item without attempts. If lines may be equal, the number is part of the key. */
  constructor(line: Line, isDistinct: boolean) {
    this.line = line;
    this.#size = line.text.length;
    this.key = isDistinct ? line.text : `${line.text}\0${line.number}`;
  }

  /** Approximate number of characters that it keeps. Changes when an attempt ends. */
  get size(): number {
    return this.#size;
  }

  /** Returns the line, for places where the core needs a string. */
  toString(): string {
    return this.line.text;
  }

  /** Notes that an attempt began, at a time of `performance.now()`. */
  begin(attempt: number, beganAt: number): void {
    this.attempts = attempt;
    this.#attemptBeganAt = beganAt;
    this.#beganAt ??= beganAt;
    this.#startedAt ??= new Date(Date.now() - (performance.now() - beganAt)).toISOString();
  }

  /** Notes that the attempt has ended. */
  end(end: AttemptEnd, timedOut: boolean): void {
    this.#end = end;
    this.#size = this.line.text.length + end.stderr.length;
    this.#workMs += performance.now() - this.#attemptBeganAt;
    this.#timedOut = timedOut;
    this.#finishedAt = new Date().toISOString();
  }

  /** Takes the rest of the output of the attempt's child, which has ended while its pipes are open. */
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

  /** The failure of the latest attempt. */
  get failure(): Failure {
    const end = describeEnd({ ...this.#end, timedOut: this.#timedOut });
    return { item: this.line.text, attempt: this.attempts, reason: lastLine(this.#end.stderr) || end };
  }

  /** Returns the line of the report, with the reason if it was given up. */
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

/** Converts to seconds, in whole milliseconds. */
function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
