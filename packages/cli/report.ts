import { appendFileSync, openSync } from "node:fs";
import { describeSystemError, UsageError } from "./usage_error.ts";

/** What became of an item: one line of the report, with these keys in this order. */
export interface ItemReport {
  /** The item. */
  readonly item: string;
  /** `"unfinished"` if the run was interrupted before the item succeeded or was given up. */
  readonly outcome: "succeeded" | "given-up" | "unfinished";
  /** How many times the command was run for it. */
  readonly attempts: number;
  /** The exit code of the last attempt; `null` if a signal ended it, it never started or there was none. */
  readonly exitCode: number | null;
  /** The signal that ended the last attempt, if one did. */
  readonly signal: string | null;
  /** Whether the last attempt ran out of time. */
  readonly timedOut: boolean;
  /** When the first attempt began, in ISO 8601; `null` if there was none. */
  readonly startedAt: string | null;
  /** When the last attempt ended; `null` if there was none. */
  readonly finishedAt: string | null;
  /** Seconds from the item's way into the queue until its first attempt began, or the run ended. */
  readonly queueSeconds: number;
  /** Seconds of all attempts together. */
  readonly workSeconds: number;
  /** The end of what the last attempt wrote to its standard error; why, if it could not be started. */
  readonly stderr: string;
}

/**
 * Opens a report: one line of JSON for each item, written when its fate is decided.
 *
 * Each line is a single write of its own, so what is there is valid whenever the run is cut short.
 *
 * @param path The file. What was in it is lost.
 * @returns What writes a line.
 * @throws {UsageError} If the file cannot be written.
 */
export function openReport(path: string): (item: ItemReport) => void {
  const attempt = <R>(action: () => R): R => {
    try {
      return action();
    } catch (error) {
      throw new UsageError(`Cannot write report '${path}' as ${describeSystemError(error, "directory")}`);
    }
  };
  const file = attempt(() => openSync(path, "w"));
  return (item) => attempt(() => appendFileSync(file, JSON.stringify(item) + "\n"));
}
