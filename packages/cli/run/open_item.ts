import type { Child } from "../children/child.ts";
import type { Line } from "../items/backlog.ts";
import { describeEnd, type ItemReport } from "../report/records.ts";
import { lastLine } from "../system/text.ts";
import type { Failure } from "./tally.ts";

/** How an attempt ended. */
export interface AttemptEnd {
  /** The exit code; `null` if a signal ended the child or it was never started. */
  readonly exitCode: number | null;
  /** The signal that ended the child, if one did. */
  readonly signal: string | null;
  /** The end of what it wrote to its standard error; why, if it was never started. */
  readonly stderr: string;
}

/** An item in the queue whose fate is not decided. Each line is one of its own, even if it equals another. */
export class OpenItem {
  /** The line. */
  readonly line: Line;
  /** What the queue knows it by: a text, as a config may tell groups by what is before a separator. */
  readonly key: string;
  /** How many attempts have begun. */
  attempts = 0;
  /** Whether the latest attempt that ended has failed. */
  isFailing = false;
  /** Resolves when all that the attempts wrote has been passed on; `undefined` if it has. */
  passedOn: Promise<void> | undefined = undefined;
  /** When it was put in the queue, when its first attempt began, and the latest one: milliseconds of `performance`. */
  readonly #addedAt = performance.now();
  #beganAt: number | undefined = undefined;
  #attemptBeganAt = 0;
  #startedAt: string | null = null;
  #finishedAt: string | null = null;
  #workMs = 0;
  #size: number;
  #timedOut = false;
  #end: AttemptEnd = { exitCode: null, signal: null, stderr: "" };

  /** An item that has not been tried. Where lines may be equal, the number tells them apart. */
  constructor(line: Line, isDistinct: boolean) {
    this.line = line;
    this.#size = line.text.length;
    this.key = isDistinct ? line.text : `${line.text}\0${line.number}`;
  }

  /** About how many characters are kept of it; it changes when an attempt ends. */
  get size(): number {
    return this.#size;
  }

  /** What the core takes for the item where it wants a text. */
  toString(): string {
    return this.line.text;
  }

  /** An attempt began at that time of `performance`. */
  begin(attempt: number, beganAt: number): void {
    this.attempts = attempt;
    this.#attemptBeganAt = beganAt;
    this.#beganAt ??= beganAt;
    this.#startedAt ??= new Date(Date.now() - (performance.now() - beganAt)).toISOString();
  }

  /** The attempt has ended. */
  end(end: AttemptEnd, timedOut: boolean): void {
    this.#end = end;
    this.#size = this.line.text.length + end.stderr.length;
    this.#workMs += performance.now() - this.#attemptBeganAt;
    this.#timedOut = timedOut;
    this.#finishedAt = new Date().toISOString();
  }

  /** Takes in what may still come from the pipes of the attempt's child, which has ended. */
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

  /** How the latest attempt failed. */
  get failure(): Failure {
    const end = describeEnd({ ...this.#end, timedOut: this.#timedOut });
    return { item: this.line.text, attempt: this.attempts, reason: lastLine(this.#end.stderr) || end };
  }

  /** What is to be reported of it. */
  report(outcome: ItemReport["outcome"]): ItemReport {
    const { exitCode, signal, stderr } = this.#end;
    return {
      item: this.line.text,
      outcome,
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

/** Milliseconds as seconds; more digits would be noise. */
function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
