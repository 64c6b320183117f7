/** Exit codes of the process. */
export const EXIT = {
  /** The command succeeded for every item. */
  succeeded: 0,
  /** Some items were given up or not finished, or some lines were refused. */
  incomplete: 1,
  /** The command line, a config or a file is wrong. */
  usage: 2,
  /** Added to the number of the signal that ended the process. */
  signal: 128,
  /** Ctrl-C was pressed, or the reader of the output has left. */
  interrupted: 130,
} as const;
