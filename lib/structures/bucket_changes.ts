import { ON_CHANGE } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { TokenBucket } from "./token_bucket.ts";

/** Who is to be told at the end of `together`, and whether of a hold. */
let changes: Map<(isHold: boolean) => void, boolean> | undefined;

/**
 * Calls back after each call of `setRate`, `setBurst` or `hold` that changed the bucket, and says whether it was a hold.
 * So who waits for a reservation can give it back and ask anew: what was reserved keeps its time, which may be late at a
 * higher rate, or within the hold. A bucket of somebody else's never calls back. Changes inside of {@linkcode together}
 * are told at its end. For queues that are not in memory and take the tokens of `starts` themselves.
 *
 * @example Usage
 * ```ts
 * import { TokenBucket } from "@workqueue/core";
 * import { onBucketChange } from "@workqueue/core/workers";
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
 * @param callback Told whether it was a hold.
 * @returns Ends it.
 */
export function onBucketChange(bucket: TokenSource, callback: (isHold: boolean) => void): () => void {
  const subscribe = (bucket as { [ON_CHANGE]?: (callback: (isHold: boolean) => void) => () => void })[ON_CHANGE];
  let hasEnded = false;
  const tell = (isHold: boolean) => {
    if (!hasEnded) callback(isHold);
  };
  const end = subscribe?.((isHold) => {
    if (changes === undefined) callback(isHold);
    else changes.set(tell, isHold || changes.get(tell) === true);
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
 * Runs an action that changes several buckets, and perhaps other things. Who listens to the buckets is told after all of
 * it: once for each bucket that changed, and of a hold if there was one. So nobody acts upon half of a change. An action
 * inside of another ends with the outer one.
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
  for (const [tell, isHold] of gathered) run(() => tell(isHold));
  if (errors.length > 0) throw errors[0];
}
