/** How far a run has come. */
export interface Tally {
  /** Items so far. */
  readonly items: number;
  /** Whether a line was folded into an equal one that came before. */
  readonly isDistinct: boolean;
  /** Lines that were folded. */
  readonly folded: number;
  /** Lines that were left out, as they cannot be items. */
  readonly refused: number;
  /** Items that were left out, as an earlier run has done them. */
  readonly doneBefore: number;
  /** Whether there may be more items to come. */
  readonly isReading: boolean;
  /** How much of the input has been read, from 0 to 1; `undefined` where its length is not known, as that of a pipe. */
  readonly partRead: number | undefined;
  /** Items whose command runs right now. */
  readonly inFlight: number;
  /** Items that wait for their first attempt or the next one. */
  readonly waiting: number;
  /** Items whose latest attempt failed and that are to be tried again, or are being. */
  readonly failing: number;
  /** Items for which the command succeeded. */
  readonly succeeded: number;
  /** Items that failed too often. */
  readonly givenUp: number;
  /** Attempts beyond the first of each item. */
  readonly retries: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** The latest attempt that failed; `undefined` if none did. */
  readonly lastFailure: Failure | undefined;
  /** How long it is until the next of the items that failed is tried again, in milliseconds; `undefined` if none waits. */
  readonly nextDueIn: number | undefined;
  /** Whether somebody has paused it: nothing more is begun until somebody ends that. */
  readonly isPaused: boolean;
  /** Whether the run ends early: nothing more is begun. */
  readonly isStopping: boolean;
  /** How many attempts may begin in a second; `undefined` if that is not bounded. */
  readonly maxRate: number | undefined;
  /** Whether a command was run at all. */
  readonly hasBegun: boolean;
  /** Seconds since the run began. */
  readonly seconds: number;
}

/** An attempt that failed. */
export interface Failure {
  /** The item. */
  readonly item: string;
  /** How often the command has been run for it, this time included. */
  readonly attempt: number;
  /** Why: the last line of its standard error, or how it ended, as in `"exit code 7"`. */
  readonly reason: string;
}
