import { ON_CHANGE } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { TokenBucket } from "./token_bucket.ts";

/** Listeners to call at the end of `together`, and whether the changes include a pause. Undefined outside of it. */
let changes: Map<(isPause: boolean) => void, boolean> | undefined;

/**
 * Calls `callback` after each `setRate`, `setBurst`, `pauseFor` or `resume` that changes the bucket. Use it to cancel a
 * pending reservation and reserve again: a reservation keeps its time, which may be too late after `setRate` or
 * `resume`, or fall within a pause. Changes made inside {@linkcode together} are reported when it ends. Buckets of
 * other classes never call back.
 *
 * For queues that are not in memory and take the tokens of `throttle` themselves.
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
 * @param callback Called with `true` if the bucket was paused, and with `false` after any other change.
 * @returns Unsubscribe function.
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

/**
 * Changes rate and burst at once. Listeners are notified after both changes.
 *
 * @throws {RangeError} If `rate` or `burst` is out of bounds.
 */
export function setRateAndBurst(bucket: TokenBucket, rate: number, burst: number): void {
  together(() => {
    bucket.setRate(rate);
    bucket.setBurst(burst);
  });
}

/**
 * Runs an action that changes several buckets, and possibly other things. Listeners are notified after the action, so
 * that none acts on half of a change: once for each changed bucket, with `true` if the changes include a pause. Calls
 * may be nested; listeners are notified when the outermost one ends.
 *
 * @throws The first error of the action or of a listener. All listeners are notified first, even after an error.
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
