import type { GiveUpReason } from "@workqueue/core";
import { createHash } from "node:crypto";

/** The first line of a report, and another line for each change of the config during the run. The last one counts. */
export interface ReportHeader {
  /** The version of the command that wrote it. */
  readonly workqueue: string;
  /** SHA-256 hash of the command, its config and `reading`. A report is resumed only with the same hash. */
  readonly hash: string;
  /** The command and its arguments, as given. */
  readonly command: readonly string[];
  /** The flags that decide how lines become items, such as `"--json"`. */
  readonly reading: readonly string[];
}

/** The outcome of an item: any other line of the report, with these keys in this order. */
export interface ItemReport {
  /** The item. */
  readonly item: string;
  /** `"unfinished"` if the run was interrupted before the item succeeded or was given up. */
  readonly outcome: "succeeded" | "given-up" | "unfinished";
  /** Why it was given up, as `onGiveUp` says; `null` if it was not. */
  readonly reason: GiveUpReason | null;
  /** Number of times the command was run for it. */
  readonly attempts: number;
  /** The exit code of the last attempt; `null` if a signal ended it, it never started or there was none. */
  readonly exitCode: number | null;
  /** The signal that ended the last attempt, if one did. */
  readonly signal: string | null;
  /** Whether the last attempt passed its timeout. */
  readonly timedOut: boolean;
  /** When the first attempt began, in ISO 8601; `null` if there was none. */
  readonly startedAt: string | null;
  /** When the last attempt ended; `null` if there was none. */
  readonly finishedAt: string | null;
  /** Seconds from when the item was added to the queue until its first attempt began, or the run ended. */
  readonly queueSeconds: number;
  /** Total seconds of all attempts. */
  readonly workSeconds: number;
  /** The end of the last attempt's error output; the reason, if it could not be started. */
  readonly stderr: string;
}

/** Describes how the last attempt at an item ended. */
export function describeEnd(
  { timedOut, exitCode, signal }: Pick<ItemReport, "timedOut" | "exitCode" | "signal">,
): string {
  return timedOut ? "ran out of time" : exitCode !== null ? `exit code ${exitCode}` : signal ?? "not started";
}

/** Returns a hash of JSON-like data that does not depend on the order of members. */
export function hashOf(data: unknown): string {
  const sorted = JSON.stringify(data, (_key, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
  });
  return createHash("sha256").update(sorted).digest("hex");
}
