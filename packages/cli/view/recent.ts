import type { Failure, Tally } from "../run/tally.ts";
import { formatLength } from "../system/text.ts";

/** Period over which the rate is computed, in seconds. */
const WINDOW = 10;
/** Interval between two updates, in seconds. More frequent changes would be hard to read. */
const STEP = 1;
/** Minimum number of failed attempts since the last success before `nothingSucceeds` becomes true. */
const MIN_FAILURES = 3;
/** Minimum time since the last success before `nothingSucceeds` becomes true, in seconds. */
const MIN_SECONDS = 5;

/** Statistics of the last few seconds of a run. */
export class Recent {
  /** Number of items per second that succeed or are given up; `undefined` at the beginning of the run. */
  rate: number | undefined = undefined;
  /** Latest failed attempt, as of the last update; `undefined` if no attempt has failed. */
  failure: Failure | undefined = undefined;
  /** Whether items have been failing for a while and no item has succeeded in that time. */
  nothingSucceeds = false;
  /**
   * Samples of the number of items that have succeeded or were given up, with the seconds since the start of the run.
   */
  readonly #samples: { readonly seconds: number; readonly done: number }[] = [{ seconds: 0, done: 0 }];
  #lastSuccess = { succeeded: 0, failures: 0, seconds: -Infinity };

  /** Adds the current progress of the run. Call this method a few times per second. */
  add(tally: Tally): void {
    const { seconds, succeeded, failures, givenUp, failing } = tally;
    if (succeeded > this.#lastSuccess.succeeded) this.#lastSuccess = { succeeded, failures, seconds };
    this.nothingSucceeds = failing + givenUp > 0 &&
      failures - this.#lastSuccess.failures >= MIN_FAILURES && seconds - this.#lastSuccess.seconds >= MIN_SECONDS;
    this.failure ??= tally.lastFailure;
    if (seconds < this.#samples.at(-1)!.seconds + STEP) return;
    this.failure = tally.lastFailure;
    this.#sample(seconds, succeeded + givenUp);
  }

  #sample(seconds: number, done: number): void {
    const samples = this.#samples;
    samples.push({ seconds, done });
    while (samples.length > 2 && seconds - samples[0]!.seconds > WINDOW) samples.shift();
    const [first] = samples;
    this.rate = (done - first!.done) / (seconds - first!.seconds);
  }
}

/**
 * Estimates how many more seconds the run will take. `items` is the number of remaining items, and `rate` is the recent
 * rate. Takes the next retry and the rate limit into account.
 */
export function secondsLeft({ maxRate = Infinity, nextDueInMs = 0 }: Tally, items: number, rate: number): number {
  return Math.max(items / Math.min(rate, maxRate), nextDueInMs / 1000);
}

/** Returns how many items of a shared queue wait, and for how long, for display; `undefined` if that is not known. */
export function waitingOf({ waiting }: Tally): string | undefined {
  if (waiting?.items === undefined) return undefined;
  if (waiting.items === 0) return "none waiting";
  const oldest = waiting.oldest < 1 ? "" : `, the oldest for ${formatLength(Math.floor(waiting.oldest))}`;
  return `${waiting.items} waiting${oldest}`;
}

/** Returns why no attempt begins, for display; `undefined` if attempts may begin. */
export function pauseOf({ isPaused, heldBack }: Tally): string | undefined {
  return isPaused ? "paused" : heldBack === undefined ? undefined : `throttle ${heldBack}`;
}

/** Returns how many retries wait for the retry budget, for display; `undefined` if none do. */
export function retriesWaiting({ blockedRetries = 0 }: Pick<Tally, "blockedRetries">): string | undefined {
  if (blockedRetries === 0) return undefined;
  return blockedRetries === 1
    ? "1 retry waits for the retry budget"
    : `${blockedRetries} retries wait for the retry budget`;
}
