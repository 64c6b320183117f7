/** The progress of a run. */
export interface Tally {
  /** Number of items so far. */
  readonly items: number;
  /** Whether a line is folded into an equal one before it. */
  readonly isDistinct: boolean;
  /** Number of folded lines. */
  readonly folded: number;
  /** Number of refused lines, which cannot be items. */
  readonly refused: number;
  /** Number of items that an earlier run has done. */
  readonly doneBefore: number;
  /** Whether the input may have more items. */
  readonly isReading: boolean;
  /** Part of the input that has been read, from 0 to 1; `undefined` if its length is not known, as for a pipe. */
  readonly partRead: number | undefined;
  /** Number of running commands. */
  readonly inFlight: number;
  /** Number of items that wait for their first attempt or a retry. */
  readonly waiting: number;
  /** Number of items whose latest attempt failed and that have a retry to come or running. */
  readonly failing: number;
  /** Number of items that succeeded. */
  readonly succeeded: number;
  /** Number of items that were given up. */
  readonly givenUp: number;
  /** Number of attempts beyond the first of each item. */
  readonly retries: number;
  /** Number of failed attempts. */
  readonly failures: number;
  /** The latest failed attempt; `undefined` if none failed. */
  readonly lastFailure: Failure | undefined;
  /** Time until the next retry is due, in milliseconds; `undefined` if none is delayed. */
  readonly nextDueIn: number | undefined;
  /** Whether the run is paused, as by the dashboard. No attempt begins. */
  readonly isPaused: boolean;
  /** Whether the run ends early. No attempt begins. */
  readonly isStopping: boolean;
  /** Most attempts that may begin in a second; `undefined` for no limit. */
  readonly maxRate: number | undefined;
  /** Whether any attempt has begun. */
  readonly hasBegun: boolean;
  /** Seconds since the run began. */
  readonly seconds: number;
}

/** A failed attempt. */
export interface Failure {
  /** The item. */
  readonly item: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The last line of its error output, or how it ended, such as `"exit code 7"`. */
  readonly reason: string;
}
