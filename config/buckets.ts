import { isTokenBucket } from "../lib/tokens/is_token_bucket.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";

/** Returns the token bucket of a limiter; `undefined` if the limiter has none. */
export function bucketOf(limiter: unknown): TokenBucket | undefined {
  const bucket = (limiter as { bucket?: unknown }).bucket;
  return isTokenBucket(bucket) ? bucket : undefined;
}
