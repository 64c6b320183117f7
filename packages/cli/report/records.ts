import type { GiveUpReason } from "@workqueue/core";
import { createHash } from "node:crypto";

/**
 * First line of a report. Each change to the config during the run adds another header. The last header in the file
 * applies.
 */
export interface ReportHeader {
  /** Version of the command that wrote the report. */
  readonly workqueue: string;
  /**
   * SHA-256 hash of the command, its config and `reading`. A report can be resumed only by a run with the same hash.
   */
  readonly hash: string;
  /** Command and its arguments, as given on the command line. */
  readonly command: readonly string[];
  /** Flags that decide how lines become items, such as `"--json"`. */
  readonly reading: readonly string[];
}

/** Outcome of an item: a line of the report that is not a header. The keys are written in this order. */
export interface ItemReport {
  /** Text of the item. */
  readonly item: string;
  /** Outcome of the item. `"unfinished"` means that the run ended before the item succeeded or was given up. */
  readonly outcome: "succeeded" | "given-up" | "unfinished";
  /** Reason why the item was given up, as in `onGiveUp`; `null` if it was not given up. */
  readonly reason: GiveUpReason | null;
  /** Number of attempts, including attempts whose command could not be started. */
  readonly attempts: number;
  /**
   * Exit code of the last attempt; `null` if a signal ended the command, if the command never started, or if there was
   * no attempt.
   */
  readonly exitCode: number | null;
  /** Signal that ended the last attempt; `null` if no signal did. */
  readonly signal: string | null;
  /** Whether the last attempt exceeded its timeout. */
  readonly timedOut: boolean;
  /** Start of the first attempt, in ISO 8601; `null` if there was no attempt. */
  readonly startedAt: string | null;
  /** End of the last attempt, in ISO 8601; `null` if there was no attempt. */
  readonly finishedAt: string | null;
  /**
   * Seconds from adding the item to the queue until its first attempt, or until the end of the run if there was no
   * attempt.
   */
  readonly queueSeconds: number;
  /** Total duration of all attempts, in seconds. */
  readonly workSeconds: number;
  /** Last 4 KiB of the last attempt's error output, or the reason why the command could not be started. */
  readonly stderr: string;
}

/** Describes how an item's last attempt ended. */
export function describeEnd(
  { timedOut, exitCode, signal }: Pick<ItemReport, "timedOut" | "exitCode" | "signal">,
): string {
  if (timedOut) return "timed out";
  if (exitCode !== null) return `exit code ${exitCode}`;
  return signal === null ? "not started" : `killed by ${signal}`;
}

/** Returns a hash of JSON-like data. The hash doesn't depend on the order of members. */
export function hashOf(data: unknown): string {
  const sorted = JSON.stringify(data, (_key, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
  });
  return createHash("sha256").update(sorted).digest("hex");
}
