import { ON_CHANGE } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { TokenBucket } from "./token_bucket.ts";

/** Listeners to call at the end of `together`, and whether a pause was among the changes. */
let changes: Map<(isPause: boolean) => void, boolean> | undefined;

/**
 * Calls back after each call of `setRate`, `setBurst`, `pauseFor` or `resume` that changed the bucket, and says whether
 * it was paused. Whoever waits for a reservation can then give it back and ask anew: a reservation keeps its time,
 * which may be late at a higher rate or after a `resume`, or fall within the pause. A bucket of another class never
 * calls back. Changes inside of {@linkcode together} are told at its end. For queues that are not in memory and take
 * the tokens of `throttle` themselves.
 *
 * @example Usage
 * ```ts
 * import { TokenBucket } from "@workqueue/core";
 * import { onBucketChange } from "@workqueue/core/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * const bucket = new TokenBucket(10, 1);
 * let changes = 0;
 * const end = onBucketChange(bucket, () => changes++);
 * bucket.setRate(5);
 * end();
 * bucket.setRate(1);
 * assertEquals(changes, 1);
 * ```
 *
 * @param bucket The bucket.
 * @param callback Called with whether the bucket was paused.
 * @returns Ends it.
 */
export function onBucketChange(bucket: TokenSource, callback: (isPause: boolean) => void): () => void {
  const subscribe = (bucket as { [ON_CHANGE]?: (callback: (isPause: boolean) => void) => () => void })[ON_CHANGE];
  let hasEnded = false;
  const tell = (isPause: boolean) => {
    if (!hasEnded) callback(isPause);
  };
  const end = subscribe?.((isPause) => {
    if (changes === undefined) callback(isPause);
    else changes.set(tell, isPause || changes.get(tell) === true);
  });
  return () => {
    hasEnded = true;
    end?.();
  };
}

/** Changes rate and burst at once: who listens to the bucket is told after both. */
export function setRateAndBurst(bucket: TokenBucket, rate: number, burst: number): void {
  together(() => {
    bucket.setRate(rate);
    bucket.setBurst(burst);
  });
}

/**
 * Runs an action that changes several buckets, and perhaps other things. Who listens to the buckets is told after all
 * of it: once for each bucket that changed, and of a pause if there was one. So nobody acts upon half of a change. An
 * action inside of another ends with the outer one.
 *
 * @throws What the action throws. All are told even so, whatever the first of them throws in its turn.
 */
export function together(action: () => void): void {
  if (changes !== undefined) return action();
  const gathered = changes = new Map();
  const errors: unknown[] = [];
  const run = (step: () => void) => {
    try {
      step();
    } catch (error) {
      errors.push(error);
    }
  };
  run(action);
  changes = undefined;
  for (const [tell, isPause] of gathered) run(() => tell(isPause));
  if (errors.length > 0) throw errors[0];
}
