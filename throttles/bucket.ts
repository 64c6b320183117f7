/**
 * Throttle with a token bucket.
 *
 * Effect: starts `rate` attempts per second on average, and at most `burst` at once.
 *
 * Choose it when a service allows a number of requests, or of other units, in a time.
 *
 * ```json
 * { "type": "bucket", "rate": 10, "burst": 5 }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import { setRateAndBurst } from "../lib/tokens/bucket_changes.ts";
import type { BucketThrottle } from "../lib/tokens/bucket_throttle.ts";
import { throttleOf } from "../lib/tokens/own_throttle.ts";
import { TokenBucket } from "../lib/tokens/token_bucket.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { enumKind, integerKind, numberKind } from "../registry/option_kinds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";

export { type Reservation, TokenBucket } from "../lib/tokens/token_bucket.ts";
export type * from "./types.ts";

/** Options of a bucket throttle. */
export const bucketThrottleOptions = {
  rate: { kind: "number", min: 0, infinite: true, description: "Attempts per second, on average." },
  burst: { kind: "integer", min: 0, description: "Maximum number of attempts that start at once." },
  counts: {
    kind: "enum",
    values: ["cost", "attempts"],
    required: false,
    description:
      'Tokens that an attempt takes: "cost" (the default), as many as its cost, which is 1 unless the program sets another; "attempts", always one.',
  },
} as const satisfies Fields;

/** Definition of `{ "type": "bucket" }`. */
export const bucket: ThrottleDefinition<"bucket", typeof bucketThrottleOptions, TokenBucket> = {
  type: "bucket",
  description: "Starts a number of attempts per second, with a token bucket.",
  options: bucketThrottleOptions,
  create({ rate, burst, counts }, { clock }) {
    const bucket = new TokenBucket(rate, burst, { clock });
    setCounts(bucket, counts);
    return bucket;
  },
  update: /* @__PURE__ */ builtIn(1, (bucket: TokenBucket, { rate, burst, counts }) => {
    setCounts(bucket, counts);
    setRateAndBurst(bucket, rate, burst);
  }),
};

function setCounts(bucket: TokenBucket, counts: "cost" | "attempts" | undefined): void {
  (throttleOf(bucket) as BucketThrottle).ignoresCosts = counts === "attempts";
}

/**
 * Creates a throttle that starts `rate` attempts per second on average, and at most `burst` attempts at once. The
 * throttle is a {@linkcode TokenBucket}: you can change its rate, pause it, and take tokens from it elsewhere.
 *
 * Each attempt takes one token. With the pool's `cost`, and with `context.charge`, an attempt takes more tokens, even
 * more than there are. No attempt starts until the bucket has a token again, so the rate holds in the long run. At
 * most, the tokens taken exceed the rate and the burst by the number of attempts that run at once times the largest
 * cost of an attempt.
 *
 * @example A quota of tokens a minute
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { createBucketThrottle } from "@workqueue/core/throttles";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using _time = new FakeTime();
 * const perMinute = (count: number) => ({ rate: count / 60, burst: count });
 * const throttle = createBucketThrottle(perMinute(90_000));
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }));
 * await using _pool = runWorkers(queue, (prompt, { charge }) => {
 *   const usage = { total_tokens: 100 * prompt.length }; // from the response of the model
 *   charge(usage.total_tokens);
 * }, { throttle, cost: () => 0 }); // the cost is unknown before the attempt
 *
 * queue.add("Why?");
 * await queue.shutDownWithDrain();
 * assertEquals(throttle.tokens, 89_600);
 * ```
 *
 * @param options `rate`: tokens per second, a non-negative number or `Infinity`; `burst`: a non-negative integer;
 * `counts`: `"cost"` (default), or `"attempts"` if each attempt takes one token whatever it costs; `clock`: the clock
 * of the bucket.
 * @returns The throttle.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createBucketThrottle(
  options: OptionsInput<typeof bucketThrottleOptions> & { clock?: Clock | undefined },
): TokenBucket {
  return createThrottle(
    bucket,
    { number: numberKind, integer: integerKind, enum: enumKind },
    options,
  ) as TokenBucket;
}
