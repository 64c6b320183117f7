/** Exit codes of the process. */
export const EXIT = {
  /** The command succeeded for every item. */
  succeeded: 0,
  /** Some items were given up or not finished, or some lines were refused. */
  incomplete: 1,
  /** The command line, a config or a file is wrong. */
  usage: 2,
  /** Base of the exit codes for signals, to which the number of the signal is added. */
  signal: 128,
  /** Ctrl-C was pressed, or the reader of the output has exited. */
  interrupted: 130,
} as const;
