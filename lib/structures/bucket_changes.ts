import { ON_CHANGE } from "../base/brands.ts";
import type { TokenBucket } from "./token_bucket.ts";

/**
 * Calls back after each call of `setRate` or `setBurst` that changed the bucket, so that who waits for a reservation can
 * give it back and ask anew: what was reserved keeps its time, which may be late at a higher rate.
 *
 * A hold is no such change: what was granted stands. A bucket of somebody else's never calls back.
 *
 * @returns Ends it.
 */
export function onBucketChange(bucket: TokenBucket, callback: () => void): () => void {
  const subscribe = (bucket as { [ON_CHANGE]?: (callback: () => void) => () => void })[ON_CHANGE];
  return subscribe?.(callback) ?? (() => {});
}
