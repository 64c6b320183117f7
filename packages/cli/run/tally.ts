/** Parts of the progress of a run that only the source of its items knows. */
export interface SourceTally {
  /** Number of items so far. */
  readonly items: number;
  /** Whether equal lines become one item. */
  readonly isDistinct: boolean;
  /** Whether part of the input has not been read yet. */
  readonly isReading: boolean;
  /**
   * Fraction of the input that has been read, from 0 to 1; `undefined` if its length is unknown, for example for a
   * pipe.
   */
  readonly partRead: number | undefined;
  /** Number of undecided items whose command is not running. */
  readonly queued: number;
  /** Number of undecided items whose latest finished attempt failed. */
  readonly failing: number;
  /** Number of items whose retry is due and waits for the retry budget. */
  readonly blockedRetries?: number | undefined;
  /** Time until the next delayed item is due, in milliseconds; `undefined` if no item is delayed. */
  readonly nextDueInMs: number | undefined;
  /** Whether the run is paused, for example by the dashboard. If so, no attempt begins. */
  readonly isPaused: boolean;
  /** State of the throttle, in words, if the throttle lets no attempt begin; `undefined` otherwise. */
  readonly heldBack?: string | undefined;
  /** State of the throttle, in words, if no attempt is running although items are ready; `undefined` otherwise. */
  readonly throttleState?: string | undefined;
  /** Maximum number of attempts that may begin per second; `undefined` for no limit. */
  readonly maxRate: number | undefined;
  /**
   * Items of the shared queue that wait, if the run takes its items from one. Then, `failing` counts the items of the
   * queue.
   */
  readonly waiting?: Waiting | undefined;
}

/** Progress of a run. */
export interface Tally extends SourceTally {
  /** Number of lines left out because they are equal to an earlier line. */
  readonly folded: number;
  /** Number of refused lines, which can't be items. */
  readonly refused: number;
  /** Number of items that an earlier run completed. */
  readonly doneBefore: number;
  /** Number of running commands. */
  readonly running: number;
  /** Number of items that succeeded. */
  readonly succeeded: number;
  /** Number of items that were given up. */
  readonly givenUp: number;
  /** Number of retries: attempts other than the first of each item. */
  readonly retries: number;
  /** Number of failed attempts. */
  readonly failures: number;
  /** Latest failed attempt; `undefined` if no attempt has failed. */
  readonly lastFailure: Failure | undefined;
  /** Whether the run is ending early. If so, no attempt begins. */
  readonly isStopping: boolean;
  /** Whether any attempt has begun. */
  readonly hasBegun: boolean;
  /** Duration of the run so far, in seconds. */
  readonly seconds: number;
}

/** Items of a queue that processes share, which wait for a process. */
export interface Waiting {
  /** Number of items that are ready, blocked or delayed; `undefined` if it is not known yet. */
  readonly items: number | undefined;
  /** Time for which the oldest ready item has been ready, in seconds; 0 if no item is ready. */
  readonly oldest: number;
}

/** Failed attempt. */
export interface Failure {
  /** Text of the item. */
  readonly item: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * Last line of the error output. If there is no error output, this is the way in which the attempt ended, such as
   * `"exit code 7"`.
   */
  readonly reason: string;
}
