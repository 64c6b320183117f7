import { assertEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { ATTEMPT, delays, Recorder } from "./helpers.ts";

Deno.test("max-of: the longest delay and the highest count win", () => {
  const limiter = createMaxOfLimiter<string>(
    createFastSlowLimiter({ fastDelay: 5, slowDelay: 3000, maxFastAttempts: 3 }),
    createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 }),
  );
  assertEquals(delays(limiter, "one", 5), [5, 5, 5, 3000, 3000]);
  assertEquals(limiter.numRequeues("one"), 5);
  assertEquals(delays(limiter, "two", 2), [5, 5]);
  assertEquals(limiter.numRequeues("two"), 2);
  limiter.forget("one");
  assertEquals(limiter.numRequeues("one"), 0);
  assertEquals(limiter.when("one"), 5);

  const counts = createMaxOfLimiter(new Recorder(1, 3), new Recorder(9, 7), new Recorder(4, 5));
  assertEquals([counts.when("a"), counts.numRequeues("a")], [9, 7]);
  const none = createMaxOfLimiter(new Recorder(0, 0));
  assertEquals([none.when("a"), none.numRequeues("a")], [0, 0]);
});

Deno.test("max-of: each method of every limiter is called, with the item and its key", () => {
  const inner = [new Recorder(3), new Recorder(2), new Recorder(1)];
  const limiter = createMaxOfLimiter<string>(...inner);
  limiter.when("item", 1, ATTEMPT);
  limiter.forget("item", 2);
  limiter.numRequeues("item", 3);
  for (const { calls } of inner) {
    assertEquals(calls, [["when", "item", 1, ATTEMPT], ["forget", "item", 2], ["numRequeues", "item", 3]]);
  }
});

Deno.test("max-of: none, or one that is no limiter, is refused", () => {
  const rest = "Cannot create max-of limiter: 'limiters' must be one or more rate limiters, got an array";
  const good = createDefaultItemLimiter();
  const { forget, numRequeues } = new Recorder(1);
  const bad: unknown[][] = [
    [],
    [undefined],
    [good, null],
    [good, {}],
    [[good]],
    ["exponential"],
    [
      { forget, numRequeues },
    ],
    [{ ...good }],
    [{ when: () => 1, forget, numRequeues: 0 }],
  ];
  for (const limiters of bad) {
    const { message } = assertThrows(() => createMaxOfLimiter(...limiters as RateLimiter[]), TypeError);
    assertEquals(message, rest);
  }
});

/** Limiter whose `when` throws on every other call, starting with the first. */
class EachSecondThrows extends Recorder {
  #calls = 0;

  override when(...args: unknown[]): number {
    if (this.#calls++ % 2 === 0) throw new Error("when is broken");
    return super.when(...args);
  }
}

Deno.test("max-of: if one of the limiters throws, the buckets that were asked before have their tokens back", () => {
  const clock = new HandClock();
  const bucket = () => createBucketLimiter({ rate: 1, burst: 2, clock });
  const around: ((limiter: RateLimiter) => RateLimiter)[] = [
    (limiter) => limiter,
    (limiter) => createMaxWaitLimiter(limiter, "1h"),
    (limiter) => createJitterLimiter(limiter, { spread: 0.5, random: () => 0 }),
    (limiter) => createMaxOfLimiter(limiter),
    (limiter) => createPerGroupLimiter({ groupOf: () => "all", limiter: () => limiter }),
  ];
  for (const wrap of around) {
    const [asked, unasked] = [bucket(), bucket()];
    const limiter = createMaxOfLimiter(wrap(asked), new EachSecondThrows(0), unasked);
    const delays = [1, 2, 3, 4].map((key) => {
      const before = asked.bucket.tokens;
      assertThrows(() => limiter.when(key), Error, "when is broken");
      assertEquals([asked.bucket.tokens, unasked.bucket.tokens], [before, before]);
      return limiter.when(key);
    });
    assertEquals(delays, [0, 0, 1000, 2000]);
  }
});

Deno.test("max-of: a limiter that cannot take a failure back keeps the others from nothing, and hides no error", () => {
  const clock = new HandClock();
  const stubborn = Object.assign(new Recorder(1), {
    uncount() {
      throw new Error("uncount is broken");
    },
  });
  const bucket = createBucketLimiter({ rate: 1, burst: 2, clock });
  const limiter = createMaxOfLimiter(stubborn, bucket, new EachSecondThrows(0));
  assertThrows(() => limiter.when("a"), Error, "when is broken");
  assertEquals(bucket.bucket.tokens, 2);
});

Deno.test("max-of: if one of the limiters throws, none has counted that, however deep those are that were asked before", () => {
  const clock = new HandClock();
  let isBroken = false;
  const broken: RateLimiter = {
    when() {
      if (isBroken) throw new Error("when is broken");
      return 1;
    },
    forget() {},
    numRequeues: () => 0,
  };
  const exponential = (forgetAfter?: string) =>
    createExponentialLimiter({ baseDelay: 5, maxDelay: 1000, forgetAfter, clock });
  const counting: Record<string, () => RateLimiter> = {
    "exponential": () => exponential(),
    "exponential that forgets": () => exponential("1h"),
    "fast-slow": () => createFastSlowLimiter({ fastDelay: 8, slowDelay: 9, maxFastAttempts: 2 }),
    "jitter": () => createJitterLimiter(exponential(), { spread: 0.5, random: () => 0.2 }),
    "max-wait": () => createMaxWaitLimiter(exponential(), 300),
    "max-of": () => createMaxOfLimiter(exponential(), exponential("1h")),
    "per-group": () => createPerGroupLimiter({ groupOf: () => "all", limiter: () => exponential() }),
  };
  for (const [name, make] of Object.entries(counting)) {
    const [limiter, whole] = [createMaxOfLimiter(make(), make(), broken, make()), createMaxOfLimiter(make(), broken)];
    for (let failures = 1; failures <= 4; failures++) {
      isBroken = true;
      for (let i = 0; i < 2; i++) assertThrows(() => limiter.when("a"), Error, "when is broken");
      isBroken = false;
      assertEquals(limiter.numRequeues("a"), failures - 1, name);
      assertEquals([limiter.when("a"), limiter.numRequeues("a")], [whole.when("a"), failures], name);
    }
    isBroken = true;
    assertThrows(() => limiter.when("b"), Error, "when is broken");
    assertEquals([limiter.numRequeues("a"), limiter.numRequeues("b")], [4, 0], name);
    limiter.forget("a");
    assertEquals(limiter.atRest?.(), false, "a third-party limiter does not say");
  }
});
