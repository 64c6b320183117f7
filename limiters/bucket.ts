/**
 * Limiter that limits the retries of all items together, with a token bucket.
 *
 * Delay: none within the `burst`; beyond it, as long as needed to keep to `rate` retries per second.
 *
 * Choose it when retries must not overload a service, however many items fail.
 *
 * The delay of an item is set when the item fails. A lower rate lengthens the delays of later failures, but not the
 * delays of items that are already delayed. To slow down all attempts at once, including first attempts, set a bucket
 * as the `throttle` of a queue or a pool.
 *
 * ```json
 * { "type": "bucket", "rate": 1, "burst": 5 }
 * ```
 *
 * @module
 */

import { A_CLOCK } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { setRateAndBurst } from "../lib/tokens/bucket_changes.ts";
import { TokenBucket } from "../lib/tokens/token_bucket.ts";
import { levelOf } from "../lib/tokens/token_level.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { integerKind, numberKind } from "../registry/option_kinds.ts";
import { TokenLimiter } from "./bucket_limiter.ts";
import { createLimiter, type LimiterDefinition } from "./definition.ts";

export { type Reservation, TokenBucket } from "../lib/tokens/token_bucket.ts";
export type * from "./types.ts";

/** A limiter that takes its delays from a token bucket, which other code may share. */
export interface BucketLimiter<T = unknown> extends RateLimiter<T> {
  /** The token bucket. Each call to `when` takes a token from this bucket. */
  readonly bucket: TokenBucket;
}

/** Options of a bucket limiter. */
export const bucketOptions = {
  rate: { kind: "number", min: 0, infinite: true, description: "Retries per second, on average, across all items." },
  burst: { kind: "integer", min: 0, description: "Maximum number of retries at once." },
} as const satisfies Fields;

/** Definition of `{ "type": "bucket" }`. */
export const bucket: LimiterDefinition<"bucket", typeof bucketOptions> = {
  type: "bucket",
  description: "Uses a token bucket to limit the rate of retries across all items. " +
    "A change affects only the delays of later failures. To slow all attempts at once, use a queue's 'throttle'.",
  options: bucketOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ rate, burst }, { clock }) => new TokenBucketLimiter(new TokenBucket(rate, burst, { clock })),
  ),
  update: /* @__PURE__ */ builtIn(1, (limiter: TokenBucketLimiter, { rate, burst }) => limiter.change(rate, burst)),
};

/**
 * Creates a limiter that allows `rate` retries per second on average, and `burst` retries at once, across all items.
 * The limiter does not count the failures of items: `numRequeues` always returns 0.
 *
 * Equivalent to client-go's `BucketRateLimiter`; {@linkcode TokenBucket} documents the algorithm. The limiter's
 * `bucket` is the token bucket: you can change its rate, and other code may take tokens from it.
 *
 * @example Usage
 * ```ts
 * import { createBucketLimiter } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using _time = new FakeTime();
 * const limiter = createBucketLimiter({ rate: 10, burst: 2 });
 * assertEquals(["a", "b", "c", "d"].map((item) => limiter.when(item)), [0, 0, 100, 200]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `rate`: tokens per second, a non-negative number or `Infinity`; `burst`: a non-negative integer;
 * `clock`: the clock of the bucket.
 * @returns The limiter.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createBucketLimiter<T = unknown>(
  options: OptionsInput<typeof bucketOptions> & { clock?: Clock | undefined },
): BucketLimiter<T> {
  return createLimiter(bucket, { number: numberKind, integer: integerKind }, options, {
    clock: A_CLOCK,
  }) as BucketLimiter;
}

class TokenBucketLimiter extends TokenLimiter implements BucketLimiter {
  readonly bucket: TokenBucket;
  #rate: number;
  #burst: number;

  constructor(bucket: TokenBucket) {
    super(levelOf(bucket));
    this.bucket = bucket;
    this.#rate = bucket.rate;
    this.#burst = bucket.burst;
  }

  /**
   * Changes the rate and the burst. Tokens in the bucket and tokens owed are kept. If the burst is raised, the bucket
   * fills to its new capacity at its rate.
   */
  change(rate: number, burst: number): void {
    this.#rate = rate;
    this.#burst = burst;
    setRateAndBurst(this.bucket, rate, burst);
  }

  /**
   * Reports whether the limiter behaves like a new one. Returns `false` if other code has changed the rate or burst of
   * the bucket.
   */
  override atRest(): boolean {
    const { bucket } = this;
    return bucket.rate === this.#rate && bucket.burst === this.#burst && bucket.atRest();
  }
}
