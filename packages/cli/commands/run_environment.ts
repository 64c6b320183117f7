import { availableParallelism } from "node:os";
import process from "node:process";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import { stderr } from "../system/standard_streams.ts";
import { canShowRows } from "../view/progress.ts";

/** The facts about this process that a run depends on besides its flags. */
export interface RunEnvironment {
  /** Whether standard input is a terminal. */
  readonly isInputTerminal: boolean;
  /** Whether standard error is a terminal that can show rows that change. */
  readonly canShowRows: boolean;
  /** Number of processors. */
  readonly processors: number;
}

/** Returns the facts of now. `standardInput` is the stream that a run would read. */
export function currentEnvironment(standardInput: Readable): RunEnvironment {
  return {
    isInputTerminal: standardInput === process.stdin && isatty(0),
    canShowRows: canShowRows(stderr),
    processors: availableParallelism(),
  };
}
