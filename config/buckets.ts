import { hasMethods } from "../lib/base/arguments.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";

/** Returns the token bucket of a limiter; `undefined` if the limiter has none. */
export function bucketOf(limiter: unknown): TokenBucket | undefined {
  const bucket = (limiter as { bucket?: unknown }).bucket;
  return isTokenBucket(bucket) ? bucket : undefined;
}

/** Reports whether a value is a token bucket, possibly from another copy of this package. */
export function isTokenBucket(value: unknown): value is TokenBucket {
  return hasMethods(value, "allow", "reserve", "wait");
}
