import { ON_CHANGE } from "../base/brands.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/**
 * Listeners to call at the end of `together`. Each value tells whether the bucket's changes include a pause.
 * `undefined` outside `together`.
 */
let changes: Map<(isPause: boolean) => void, boolean> | undefined;

/**
 * Calls `callback` after each call to `setRate`, `setBurst`, `pauseFor` or `resume` that changes the bucket, and when
 * an attempt gives tokens back. Use the callback to cancel a pending reservation and reserve again: a reservation is
 * not updated, so its time may be later than necessary after `setRate` or `resume`, or may fall within a pause. Changes
 * made inside {@linkcode together} are reported when that function ends. `callback` is never called for a bucket that
 * is not a `TokenBucket`.
 *
 * Intended for queues outside this process that take tokens from `throttle` themselves.
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
 * Changes a bucket's rate and burst together. Listeners are notified after both changes.
 *
 * @throws {RangeError} If `rate` or `burst` is out of bounds.
 */
export function setRateAndBurst(
  bucket: { setRate(rate: number): void; setBurst(burst: number): void },
  rate: number,
  burst: number,
): void {
  together(() => {
    bucket.setRate(rate);
    bucket.setBurst(burst);
  });
}

/**
 * Runs an action that changes several buckets, and possibly other objects. Listeners are notified after the action, so
 * that no listener acts on a partial change. Each listener is called once, with `true` if its bucket's changes include
 * a pause. Calls may be nested: listeners are then notified when the outermost call ends.
 *
 * @throws The first error that the action or a listener threw. All listeners are notified first, even after an error.
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
