import type { Failure, Tally } from "../run/tally.ts";

/** How long "recent" is, and how often what is told of it changes, so that one can read it: seconds. */
const WINDOW = 10;
const STEP = 1;
/** Nothing succeeds if so many attempts failed and so many seconds have passed since the last success. */
const MIN_FAILURES = 3;
const MIN_SECONDS = 5;

/** What has happened in the last seconds of a run. */
export class Recent {
  /** How many items were decided a second; `undefined` as long as that cannot be told. */
  rate: number | undefined = undefined;
  /** An attempt that failed lately; `undefined` if none did. */
  failure: Failure | undefined = undefined;
  /** Whether items fail and none succeeds. */
  nothingSucceeds = false;
  /** How much was done by when, in seconds since the run began. */
  readonly #samples: { readonly seconds: number; readonly done: number }[] = [{ seconds: 0, done: 0 }];
  #lastSuccess = { succeeded: 0, failures: 0, seconds: -Infinity };

  /** Takes in how far the run has come: a few times a second. */
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

/** About how long a run takes for so many items more, at so many a second as of late: retries wait, and starts are bounded. */
export function secondsLeft({ maxRate = Infinity, nextDueIn = 0 }: Tally, items: number, rate: number): number {
  return Math.max(items / Math.min(rate, maxRate), nextDueIn / 1000);
}
