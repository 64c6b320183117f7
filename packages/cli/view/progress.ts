import { fstatSync } from "node:fs";
import process from "node:process";
import type { Tally } from "../run/tally.ts";
import type { OutputStream } from "../system/standard_streams.ts";
import { PlainProgress } from "./plain_progress.ts";

/** Shows how far a run has come, on standard error. */
export interface Progress {
  /**
   * Writes what a child printed to standard output.
   *
   * @param output The bytes: whole lines, or the end of the output.
   * @returns Resolves when more can be taken; rejects if standard output cannot be written to.
   */
  write(output: Uint8Array): Promise<void>;
  /**
   * Shows what a child printed to its standard error, where that is a terminal.
   *
   * @param item The item that the child was run for.
   * @param lines The bytes: whole lines, or the end of the output.
   * @returns Resolves when more can be taken; rejects if the terminal cannot be written to.
   */
  writeError(item: string, lines: Uint8Array): Promise<void>;
  /** Prints a line to standard error. */
  note(line: string): void;
  /** Shows nothing more. */
  end(): void;
}

/** What decides how progress is shown: `NO_COLOR`, `TERM` and `CI` count. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Shows progress: as rows that stay and change where standard error is a terminal, and else as a line now and then.
 *
 * @param tally Says how far the run has come. It is not asked at once.
 * @param stdout Where the children's output goes.
 * @param stderr Where progress goes.
 * @param options Whether only notes are shown; and the environment.
 * @returns The progress, which is being shown.
 */
export async function showProgress(
  tally: () => Tally,
  stdout: OutputStream,
  stderr: OutputStream,
  { isQuiet = false, env = process.env }: { isQuiet?: boolean; env?: Environment } = {},
): Promise<Progress> {
  if (isQuiet || !isLive(stderr, env)) return new PlainProgress(tally, stdout, stderr, isQuiet);
  const { LiveProgress } = await import("./live_progress.ts"); // which takes time, and is not always needed
  return new LiveProgress(tally, stdout.isTTY && isOneTerminal() ? stderr : stdout, stderr, !env.NO_COLOR);
}

/**
 * Whether progress is shown as rows that change, and with it what children write to their standard error. Some
 * terminals have no width: nothing could be shown there. What runs in CI is read later, as a log.
 *
 * @param stderr Where progress goes.
 * @param env The environment.
 */
export function isLive(stderr: OutputStream, env: Environment = process.env): boolean {
  return stderr.isTTY === true && (stderr.columns ?? 0) > 0 && env.TERM !== "dumb" && !env.CI;
}

/** Whether standard output and standard error are the same terminal, as they are where neither is redirected. */
function isOneTerminal(): boolean {
  try {
    return fstatSync(1).rdev === fstatSync(2).rdev;
  } catch {
    return false; // one of them is closed
  }
}
