import { createHash } from "node:crypto";

/** The first line of a report, and one for each change of the config while the run went on: the last one counts. */
export interface ReportHeader {
  /** The version of the command that wrote it. */
  readonly workqueue: string;
  /** A SHA-256 hash of the command, its config and how lines are read: a report goes on only with the same. */
  readonly hash: string;
  /** The command and its arguments, as they were given. */
  readonly command: readonly string[];
  /** The options that say how lines are read, such as `"--json"`. */
  readonly reading: readonly string[];
}

/** What became of an item: any other line of the report, with these keys in this order. */
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

/** Words how the last attempt at an item ended. */
export function describeEnd(
  { timedOut, exitCode, signal }: Pick<ItemReport, "timedOut" | "exitCode" | "signal">,
): string {
  return timedOut ? "ran out of time" : exitCode !== null ? `exit code ${exitCode}` : signal ?? "not started";
}

/** A hash of JSON-like data that does not hang on the order in which objects have their members. */
export function hashOf(data: unknown): string {
  const sorted = JSON.stringify(data, (_key, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
  });
  return createHash("sha256").update(sorted).digest("hex");
}
