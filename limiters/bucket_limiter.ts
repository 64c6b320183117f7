import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { grantsOf, type TokenBucket, undoTake } from "../lib/tokens/token_bucket.ts";
import { FOREVER, NS_PER_MS } from "../lib/tokens/tokens.ts";

/** Bucket limiter, apart from its definition and its reload, which programs without a config need not contain. */
export class TokenBucketLimiter implements RateLimiter {
  readonly bucket: TokenBucket;
  #rate: number;
  #burst: number;
  /** Key passed to the latest call to `when`. */
  #latestKey: unknown = undefined;
  /** Result of `grantsOf` after the latest call to `when`; `undefined` if that call was undone or took no token. */
  #latestGrant: number | undefined = undefined;

  constructor(bucket: TokenBucket) {
    this.bucket = bucket;
    this.#rate = bucket.rate;
    this.#burst = bucket.burst;
  }

  when(item: unknown, key: unknown = item): number {
    const before = grantsOf(this.bucket);
    const delay = this.bucket.take();
    const grant = grantsOf(this.bucket);
    this.#latestKey = key;
    this.#latestGrant = grant === before ? undefined : grant;
    return Math.min(delay, FOREVER / NS_PER_MS); // an infinite delay becomes about 292 years, as in Go
  }

  /**
   * Puts the token back in the bucket. Does nothing if another item has taken a token since, because the delay of that
   * item was computed without this token.
   */
  uncount(item: unknown, key: unknown = item): void {
    if (this.#latestGrant === undefined || this.#latestKey !== key) return;
    undoTake(this.bucket, this.#latestGrant);
    this.#latestGrant = undefined;
  }

  /**
   * Changes the rate and the burst. `changeBucket` must set them in the bucket. Tokens in the bucket and tokens owed
   * are kept. If the burst is raised, the bucket fills to its new capacity at its rate.
   */
  change(rate: number, burst: number, changeBucket: (bucket: TokenBucket, rate: number, burst: number) => void): void {
    this.#rate = rate;
    this.#burst = burst;
    changeBucket(this.bucket, rate, burst);
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }

  /**
   * Reports whether the limiter behaves like a new one. Returns `false` if other code has changed the rate or burst of
   * the bucket.
   */
  atRest(): boolean {
    const { bucket } = this;
    return bucket.rate === this.#rate && bucket.burst === this.#burst && bucket.atRest();
  }
}
