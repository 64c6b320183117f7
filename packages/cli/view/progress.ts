import { fstatSync } from "node:fs";
import process from "node:process";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { PlainProgress } from "./plain_progress.ts";

/** Display of a run's progress on standard error. */
export interface Progress {
  /**
   * Writes output of a child to standard output.
   *
   * @param output The bytes: whole lines, or the last part of the output.
   * @returns Resolves when more output can be written. Rejects if writing to standard output fails.
   */
  write(output: Uint8Array): Promise<void>;
  /**
   * Writes error output of a child to standard error. Each line begins with its item.
   *
   * @param item The item of the child.
   * @param lines The bytes: whole lines, or the last part of the output.
   * @returns Resolves when more output can be written. Rejects if writing to standard error fails.
   */
  writeError(item: string, lines: Uint8Array): Promise<void>;
  /** Prints a line to standard error. */
  note(line: string): void;
  /** Prints a line that stays visible as long as rows are shown. */
  keep(line: string): void;
  /** Erases rows, because this process is about to stop. Resolves when they are erased. */
  suspend(): Promise<void>;
  /** Shows progress again after `suspend`. */
  resume(): void;
  /** Stops showing progress. */
  end(): void;
}

/**
 * Kind of progress display. `rows` are updated in place on a terminal, below the children's error output; `lines` are
 * printed now and then; `quiet` prints only notes.
 */
export type ProgressKind = "rows" | "lines" | "quiet";

/**
 * Starts showing progress.
 *
 * @param tally Returns the progress of the run. `tally` is not called before the display is returned.
 * @param stdout The stream for the children's output.
 * @param stderr The stream for progress.
 * @returns The display of progress.
 */
export type ShowProgress = (tally: () => Tally, stdout: OutputStream, stderr: OutputStream) => Progress;

/** Environment variables. This module reads `NO_COLOR`, `TERM` and `CI`. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Loads the module for a kind of progress display.
 *
 * @param kind The kind of display.
 * @param variables The environment variables. Default: the environment variables of the process.
 * @returns The function that starts to show progress.
 */
export async function loadProgress(kind: ProgressKind, variables: Variables = process.env): Promise<ShowProgress> {
  if (kind !== "rows") return (tally, stdout, stderr) => new PlainProgress(tally, stdout, stderr, kind === "quiet");
  const { LiveProgress } = await import("./live_progress.ts"); // loaded only when needed, because loading takes time
  return (tally, stdout, stderr) => {
    return new LiveProgress(tally, stdout.isTTY && isOneTerminal() ? stderr : stdout, stderr, !variables.NO_COLOR);
  };
}

/**
 * Reports whether a stream can show rows that change. A terminal whose width is 0 can't show anything. CI output is
 * read later, as a log.
 *
 * @param stderr The stream for progress.
 * @param variables The environment variables. Default: the environment variables of the process.
 */
export function canShowRows(stderr: OutputStream, variables: Variables = process.env): boolean {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 && variables.TERM !== "dumb" && !variables.CI;
}

/** Reports whether standard output and standard error are the same terminal, as they are if neither is redirected. */
function isOneTerminal(): boolean {
  try {
    return fstatSync(1).rdev === fstatSync(2).rdev;
  } catch {
    return false; // standard output or standard error is closed
  }
}
