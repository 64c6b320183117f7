import { ON_CHANGE } from "../base/brands.ts";
import type { TokenBucket } from "./token_bucket.ts";

/**
 * Calls back after each call of `setRate`, `setBurst` or `hold` that changed the bucket, and says whether it was a hold.
 * So who waits for a reservation can give it back and ask anew: what was reserved keeps its time, which may be late at a
 * higher rate, or within the hold. A bucket of somebody else's never calls back.
 *
 * @returns Ends it.
 */
export function onBucketChange(bucket: TokenBucket, callback: (isHold: boolean) => void): () => void {
  const subscribe = (bucket as { [ON_CHANGE]?: (callback: (isHold: boolean) => void) => () => void })[ON_CHANGE];
  return subscribe?.(callback) ?? (() => {});
}
