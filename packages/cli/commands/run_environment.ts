import { availableParallelism } from "node:os";
import process from "node:process";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import { stderr } from "../system/standard_streams.ts";
import { canShowRows } from "../view/progress.ts";

/** Facts about this process that affect a run, in addition to the run's flags. */
export interface RunEnvironment {
  /** Whether standard input is a terminal. */
  readonly isInputTerminal: boolean;
  /** Whether standard error is a terminal that can update rows in place. */
  readonly canShowRows: boolean;
  /** Whether standard error is a terminal at which somebody reads the errors of commands as they come. */
  readonly isErrorTerminal: boolean;
  /** Number of processors. */
  readonly processors: number;
}

/** Returns the current facts. `standardInput` is the stream that a run would read. */
export function currentEnvironment(standardInput: Readable): RunEnvironment {
  const isErrorTerminal = canShowRows(stderr);
  return {
    isInputTerminal: standardInput === process.stdin && isatty(0),
    canShowRows: isErrorTerminal,
    isErrorTerminal,
    processors: availableParallelism(),
  };
}
