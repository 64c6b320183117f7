import { fstatSync } from "node:fs";
import process from "node:process";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { PlainProgress } from "./plain_progress.ts";

/** Shows on standard error how far a run has come. */
export interface Progress {
  /**
   * Writes output of a child to standard output.
   *
   * @param output The bytes: whole lines, or the end of the output.
   * @returns Resolves when it can take more; rejects if standard output cannot be written to.
   */
  write(output: Uint8Array): Promise<void>;
  /**
   * Shows error output of a child, if standard error is a terminal.
   *
   * @param item The item of the child.
   * @param lines The bytes: whole lines, or the end of the output.
   * @returns Resolves when it can take more; rejects if the terminal cannot be written to.
   */
  writeError(item: string, lines: Uint8Array): Promise<void>;
  /** Prints a line to standard error. */
  note(line: string): void;
  /** Shows nothing more. */
  end(): void;
}

/** Rows that stay on a terminal and change, with the children's error output; a line now and then; or only notes. */
export type ProgressKind = "rows" | "lines" | "quiet";

/**
 * Begins to show progress.
 *
 * @param tally Returns how far the run has come. It is not called at once.
 * @param stdout The stream for the children's output.
 * @param stderr The stream for progress.
 * @returns The progress.
 */
export type ShowProgress = (tally: () => Tally, stdout: OutputStream, stderr: OutputStream) => Progress;

/** Variables of the environment: `NO_COLOR`, `TERM` and `CI` count. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Loads the module that shows progress in one way.
 *
 * @param kind The way.
 * @param variables The environment.
 * @returns The function that begins.
 */
export async function loadProgress(kind: ProgressKind, variables: Variables = process.env): Promise<ShowProgress> {
  if (kind !== "rows") return (tally, stdout, stderr) => new PlainProgress(tally, stdout, stderr, kind === "quiet");
  const { LiveProgress } = await import("./live_progress.ts"); // it takes time to load, and is not always needed
  return (tally, stdout, stderr) => {
    return new LiveProgress(tally, stdout.isTTY && isOneTerminal() ? stderr : stdout, stderr, !variables.NO_COLOR);
  };
}

/**
 * Reports whether a stream can show rows that change. A terminal without a width cannot show anything, and the output
 * of CI is read later, as a log.
 *
 * @param stderr The stream for progress.
 * @param variables The environment.
 */
export function canShowRows(stderr: OutputStream, variables: Variables = process.env): boolean {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 && variables.TERM !== "dumb" && !variables.CI;
}

/** Reports whether standard output and standard error are one terminal, as when neither is redirected. */
function isOneTerminal(): boolean {
  try {
    return fstatSync(1).rdev === fstatSync(2).rdev;
  } catch {
    return false; // one of them is closed
  }
}
