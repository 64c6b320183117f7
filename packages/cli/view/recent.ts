import type { Failure, Tally } from "../run/tally.ts";

/** Length of the recent past, and time between two changes of its values, so that they can be read; in seconds. */
const WINDOW = 10;
const STEP = 1;
/** Minimum number of failed attempts and of seconds since the last success to say that nothing succeeds. */
const MIN_FAILURES = 3;
const MIN_SECONDS = 5;

/** The last seconds of a run. */
export class Recent {
  /** Decided items per second; `undefined` at the beginning. */
  rate: number | undefined = undefined;
  /** A recent failed attempt; `undefined` if none failed. */
  failure: Failure | undefined = undefined;
  /** Whether items fail and none succeeds. */
  nothingSucceeds = false;
  /** Numbers of decided items at times in seconds since the run began. */
  readonly #samples: { readonly seconds: number; readonly done: number }[] = [{ seconds: 0, done: 0 }];
  #lastSuccess = { succeeded: 0, failures: 0, seconds: -Infinity };

  /** Adds how far the run has come. Call it a few times a second. */
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

/** Estimates the seconds for more items at a recent rate. Takes the next retry and the rate limit into account. */
export function secondsLeft({ maxRate = Infinity, nextDueIn = 0 }: Tally, items: number, rate: number): number {
  return Math.max(items / Math.min(rate, maxRate), nextDueIn / 1000);
}
