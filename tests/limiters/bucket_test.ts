import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createBucketLimiter, createDefaultControllerLimiter, TokenBucket } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { delays, RETRY } from "./helpers.ts";

Deno.test("bucket: all items take tokens from it, and it counts no failures", () => {
  const clock = new HandClock();
  const limiter = createBucketLimiter<string>({ rate: 10, burst: 2, clock });
  assertEquals(["a", "b", "c", "a"].map((item) => limiter.when(item)), [0, 0, 100, 200]);
  assertEquals(limiter.numRequeues("a"), 0);
  limiter.forget("a"); // returns no token
  assertEquals(limiter.when("a"), 300);
  clock.time = 1000;
  assertEquals(["a", "b", "c"].map((item) => limiter.when(item)), [0, 0, 100]);
});

Deno.test("bucket: its token bucket is accessible, to take tokens and to change it", () => {
  const clock = new HandClock();
  const limiter = createBucketLimiter<string>({ rate: 10, burst: 2, clock });
  const { bucket } = limiter;
  assert(bucket instanceof TokenBucket);
  assertEquals([bucket.rate, bucket.burst, bucket.tokens], [10, 2, 2]);
  assertEquals([limiter.when("a"), bucket.tokens, bucket.allow(), limiter.when("b")], [0, 1, true, 100]);
  bucket.setRate(1);
  assertEquals(limiter.when("a"), 2000);
});

Deno.test("bucket: uses the time of the runtime if no clock is given", () => {
  using time = new FakeTime();
  for (const limiter of [createBucketLimiter({ rate: 2, burst: 1 }), createDefaultControllerLimiter()]) {
    delays(limiter, "a", 150);
    time.tick(60_000);
    limiter.forget("a");
    assert(limiter.when("a") <= 15_000);
  }
  const limiter = createBucketLimiter({ rate: 2, burst: 1, clock: undefined });
  assertEquals(delays(limiter, "a", 2), [0, 500]);
  time.tick(1000);
  assertEquals(delays(limiter, "a", 1), [0]);
});

Deno.test("bucket: a delay is a finite number, even if a token never comes", () => {
  const never = createBucketLimiter({ rate: 0, burst: 1, clock: new HandClock() });
  assertEquals(never.when("a"), 0);
  const delay = never.when("a");
  assert(Number.isFinite(delay));
  const years = delay / (365 * 24 * 3_600_000);
  assert(years > 250 && years < 300, "Go's longest duration");
  const noBurst = createBucketLimiter({ rate: 1, burst: 0, clock: new HandClock() });
  assertEquals(noBurst.when("a"), delay);
  const infinite = createBucketLimiter({ rate: Infinity, burst: 0, clock: new HandClock() });
  assertEquals(delays(infinite, "a", 1000), new Array(1000).fill(0));
});

Deno.test("bucket: thousands of items wait behind each other", () => {
  const limiter = createBucketLimiter({ rate: 8, burst: 1, clock: new HandClock() });
  assertEquals(delays(limiter, "a", 5000), Array.from({ length: 5000 }, (_, i) => i * 125));
});

Deno.test("bucket: each failure that a queue counts takes a token from the same bucket", () => {
  const limiter = createBucketLimiter<string>({ rate: 10, burst: 2, clock: new HandClock() });
  assertEquals(limiter.countsFailures, false);
  assertEquals(["a", "b", "c", "a"].map((item) => limiter.next!(1, item, item, RETRY)), [0, 0, 100, 200]);
  assertEquals(limiter.when("a"), 300);
  assertEquals([limiter.next!(7, "a", "a", RETRY), limiter.bucket.tokens, limiter.numRequeues("a")], [400, -4, 0]);
});
