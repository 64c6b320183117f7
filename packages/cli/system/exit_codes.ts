/** What the process exits with. */
export const EXIT = {
  /** The command succeeded for every item. */
  succeeded: 0,
  /** Something was given up, refused or not finished. */
  incomplete: 1,
  /** The command line, a config or a file is wrong. */
  usage: 2,
  /** A signal: this and its number. */
  signal: 128,
  /** Ctrl-C, or a reader of the output that has left. */
  interrupted: 130,
} as const;
