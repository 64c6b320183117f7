import type { ChildResult } from "./child.ts";
import type { ItemReport } from "./report.ts";

/** What is known of an item whose fate is not decided. */
export class OpenItem {
  attempts = 0;
  /** When it was put in the queue, when its first attempt began: milliseconds of `performance`. */
  readonly addedAt = performance.now();
  beganAt: number | undefined = undefined;
  startedAt: string | null = null;
  finishedAt: string | null = null;
  workMs = 0;
  timedOut = false;
  result: ChildResult = { exitCode: null, signal: null, stderr: "" };

  constructor(readonly item: string) {}

  begin(attempt: number): void {
    this.attempts = attempt;
    this.beganAt ??= performance.now();
    this.startedAt ??= new Date().toISOString();
  }

  end(result: ChildResult, workMs: number, timedOut: boolean): void {
    this.result = result;
    this.workMs += workMs;
    this.timedOut = timedOut;
    this.finishedAt = new Date().toISOString();
  }

  report(outcome: ItemReport["outcome"]): ItemReport {
    const { exitCode, signal, stderr } = this.result;
    return {
      item: this.item,
      outcome,
      attempts: this.attempts,
      exitCode,
      signal,
      timedOut: this.timedOut,
      startedAt: this.startedAt,
      finishedAt: this.finishedAt,
      queueSeconds: toSeconds((this.beganAt ?? performance.now()) - this.addedAt),
      workSeconds: toSeconds(this.workMs),
      stderr,
    };
  }
}

/** Milliseconds as seconds; more digits would be noise. */
function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}
