import { closeSync, constants, fstatSync, ftruncateSync, openSync } from "node:fs";
import { isSameFile } from "../system/same_file.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeAllSync } from "../system/write_all.ts";

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

/** Words how the last attempt at an item ended. */
export function describeEnd(
  { timedOut, exitCode, signal }: Pick<ItemReport, "timedOut" | "exitCode" | "signal">,
): string {
  return timedOut ? "ran out of time" : exitCode !== null ? `exit code ${exitCode}` : signal ?? "not started";
}

/** A file that the run uses, besides the report. */
export interface UsedFile {
  /** What it is called in a message. */
  readonly name: string;
  /** The path or the open file; `undefined` if there is none. */
  readonly file: string | number | undefined;
}

/**
 * Opens a report: one line of JSON for each item, written when its fate is decided.
 *
 * Each line is written at once, so what is there is valid whenever the run is cut short, by a full disk too.
 *
 * @param path The file. What was in it is lost.
 * @param used What must not be lost: if the report is one of these files, under whatever name, it is left as it is.
 * @returns What writes a line.
 * @throws {UsageError} If the file cannot be written, or is one of those that are used.
 */
export function openReport(path: string, used: readonly UsedFile[]): (item: ItemReport) => void {
  const attempt = <R>(action: () => R): R => {
    try {
      return action();
    } catch (error) {
      throw new UsageError(`Cannot write report '${path}' as ${describeSystemError(error, "directory")}`);
    }
  };
  const fd = attempt(() => openSync(path, constants.O_WRONLY | constants.O_CREAT));
  for (const { name, file } of used) {
    if (file === undefined || !isSameFile(fd, file)) continue;
    closeSync(fd);
    throw new UsageError(`Cannot write report '${path}' as it is ${name}`);
  }
  const isFile = fstatSync(fd).isFile();
  if (isFile) attempt(() => ftruncateSync(fd, 0));

  let length = 0;
  return (item) => {
    const line = new TextEncoder().encode(JSON.stringify(item) + "\n");
    attempt(() => {
      try {
        writeAllSync(fd, line);
      } catch (error) {
        if (isFile) ftruncateSync(fd, length); // a part of the line may be there
        throw error;
      }
    });
    length += line.length;
  };
}
