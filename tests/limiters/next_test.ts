/** Tests of `next`, by which a queue asks for delays, for all built-in limiters. Each limiter has tests of its own. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import {
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createIgnoreEarlyLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  type LimiterConfig,
  limiters,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { NextRecorder, Recorder, RETRY } from "./helpers.ts";

/** A failed attempt that began after any delay. */
const LATE = { startedAt: Infinity, dueAt: 0, minDelay: 0 };

const ms = fc.oneof(fc.nat(10_000), fc.double({ min: 0, max: 1e9, noNaN: true }));

/** Limiters whose delays depend only on the number of failures, and limiters around them. */
const { counting } = fc.letrec<{ counting: LimiterConfig }>((tie) => ({
  counting: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(ms, ms).map(([one, other]): LimiterConfig => {
      return { type: "exponential", baseDelay: Math.min(one, other), maxDelay: Math.max(one, other) };
    }),
    fc.record({ type: fc.constant("fast-slow" as const), fastDelay: ms, slowDelay: ms, maxFastAttempts: fc.nat(30) }),
    fc.record({ type: fc.constant("steps" as const), delays: fc.array(ms, { minLength: 1, maxLength: 20 }) }),
    fc.record({ type: fc.constant("ignore-early" as const), limiter: tie("counting") }),
    fc.record({
      type: fc.constant("jitter" as const),
      limiter: tie("counting"),
      spread: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({
      type: fc.constant("max-of" as const),
      limiters: fc.array(tie("counting"), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ type: fc.constant("max-wait" as const), limiter: tie("counting"), maxDelay: ms }),
    fc.record({ type: fc.constant("per-group" as const), separator: fc.constant("/"), limiter: tie("counting") })
      .map((config) => config as LimiterConfig),
  ),
}));

/** Creates a limiter with a clock and random numbers of its own. */
const build = (config: LimiterConfig) => limiters.build(config, { clock: new HandClock(), random: () => 0.37 });

/** Fails an item by hand. An `ignore-early` limiter doesn't ignore the failure. */
const byHand = (limiter: RateLimiter, key = "a/1") => limiter.when(key, key, { startedAt: Infinity });

Deno.test("next: the delay after n failures equals the one after n calls by hand, in any order", () => {
  fc.assert(fc.property(counting, fc.array(fc.integer({ min: 1, max: 60 })), (config, numbers) => {
    const [fresh, asked] = [build(config), build(config)];
    const delays = Array.from({ length: 60 }, () => byHand(fresh));
    for (const failures of [1, 60, ...numbers]) {
      assertEquals(asked.next!(failures, "a/1", "a/1", LATE), delays[failures - 1]!);
    }
  }));
});

Deno.test("next: for the default limiters as well, the delay after n failures equals the one after n calls by hand", () => {
  const pairs = [
    [createDefaultItemLimiter(), createDefaultItemLimiter()],
    [
      createDefaultControllerLimiter({ clock: new HandClock() }),
      createDefaultControllerLimiter({ clock: new HandClock() }),
    ],
  ] as const;
  for (const [fresh, asked] of pairs) {
    for (let failures = 1; failures < 300; failures++) {
      assertEquals(asked.next!(failures, "a", "a", RETRY), fresh.when("a"));
    }
    assertEquals(asked.numRequeues("a"), 0);
  }
});

Deno.test("next: failures of a queue and failures by hand don't affect each other", () => {
  const operation = fc.record({
    do: fc.constantFrom("when", "forget", "next", "next", "forgotten"),
    key: fc.constantFrom("a/1", "a/2", "b"),
    failures: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(fc.property(counting, fc.array(operation, { maxLength: 40 }), (config, operations) => {
    const [both, hand, queue] = [build(config), build(config), build(config)];
    for (const { do: what, key, failures } of operations) {
      if (what === "when") assertEquals(byHand(both, key), byHand(hand, key));
      else if (what === "next") {
        assertEquals(both.next!(failures, key, key, LATE), queue.next!(failures, key, key, LATE));
      } else if (what === "forgotten") both.forgotten?.(key, key);
      else for (const limiter of [both, hand]) limiter.forget(key);
      assertEquals(both.numRequeues(key), hand.numRequeues(key));
      assertEquals(both.atRest!(), hand.atRest!());
    }
    assert(queue.atRest!());
  }));
});

const bucket: LimiterConfig = { type: "bucket", rate: 2, burst: 2 };

Deno.test("next: each failure takes a token from a bucket, also inside other limiters, and is not counted", () => {
  const configs: LimiterConfig[] = [
    bucket,
    { type: "max-wait", limiter: bucket, maxDelay: "5s" },
    { type: "jitter", limiter: bucket, spread: 0.5 },
    { type: "max-of", limiters: [bucket, { type: "bucket", rate: 1, burst: 5 }] },
    { type: "per-group", separator: "/", limiter: { type: "bucket", rate: 2, burst: 2 } },
  ];
  for (const config of configs) {
    const [fresh, asked] = [build(config), build(config)];
    for (let i = 0; i < 30; i++) {
      assertEquals(asked.next!(1 + i % 4, "a/1", "a/1", RETRY), byHand(fresh), JSON.stringify(config));
      assertEquals([asked.countsFailures, asked.numRequeues("a/1")], [false, 0], JSON.stringify(config));
    }
    assertFalse(asked.atRest!());
  }
});

Deno.test("next: an early failure takes no token from a bucket", () => {
  const limiter = build({ type: "ignore-early", limiter: bucket });
  const early = { startedAt: 1, dueAt: 1000, minDelay: 0 };
  for (let i = 0; i < 10; i++) assertEquals(typeof limiter.next!(1, "a", "a", early), "symbol");
  assertEquals([1, 2, 3].map((failures) => limiter.next!(failures, "a", "a", LATE)), [0, 0, 500]);
  assertFalse(limiter.countsFailures === false, "the queue remembers when the delay ends");
});

Deno.test("countsFailures: a limiter counts unless its delays never depend on the number of failures", () => {
  const backoff: LimiterConfig = { type: "exponential", baseDelay: 1, maxDelay: 2 };
  const counts = (config: LimiterConfig) => {
    const limiter = build(config);
    limiter.next!(1, "a", "a", LATE); // a per-group limiter knows it from the first group on
    return limiter.countsFailures !== false;
  };
  const around = (limiter: LimiterConfig): LimiterConfig[] => [
    { type: "max-wait", limiter, maxDelay: 1 },
    { type: "jitter", limiter, spread: 1 },
    { type: "max-of", limiters: [bucket, limiter] },
    { type: "per-group", separator: "/", limiter } as LimiterConfig,
  ];
  for (const config of around(bucket)) assertFalse(counts(config), JSON.stringify(config));
  for (const config of around(backoff)) assert(counts(config), JSON.stringify(config));
  assert(createMaxOfLimiter(build(bucket), new Recorder(1)).countsFailures);
});

/** Limiters around another one. */
const AROUND: Record<string, (inner: RateLimiter) => RateLimiter> = {
  "ignore-early": (inner) => createIgnoreEarlyLimiter(inner, { clock: new HandClock() }),
  "jitter": (inner) => createJitterLimiter(inner, { spread: 0.5, random: () => 0 }),
  "max-of": (inner) => createMaxOfLimiter(inner),
  "max-wait": (inner) => createMaxWaitLimiter(inner, "1h"),
  "per-group": (inner) => createPerGroupLimiter({ groupOf: () => "all", limiter: () => inner }),
  "all of them": (inner) => Object.values(AROUND).slice(0, 5).reduce((limiter, wrap) => wrap(limiter), inner),
};
for (const [name, wrap] of Object.entries(AROUND)) {
  Deno.test(`next, ${name}: an inner limiter without next counts the failures itself, and forgets them`, () => {
    const inner = new Recorder(80, 4);
    const limiter = wrap(inner);
    const item = {};
    assertEquals(limiter.next!(3, item, "key", RETRY), 80);
    limiter.forgotten!(item, "key");
    assertEquals(inner.calls, [["when", item, "key", RETRY], ["forget", item, "key"]]);
  });

  Deno.test(`next, ${name}: an inner limiter with next is asked, and keeps its counts by hand`, () => {
    const inner = new NextRecorder(80);
    const limiter = wrap(inner);
    const item = {};
    assertEquals(limiter.next!(3, item, "key", RETRY), 80);
    limiter.forgotten!(item, "key");
    assertEquals(inner.calls, [["next", 3, item, "key", RETRY], ["forgotten", item, "key"]]);

    const plain = Object.assign(new Recorder(0), { next: () => 7 }); // without `forgotten`
    const around = wrap(plain);
    around.next!(1, item, "key", RETRY);
    around.forgotten!(item, "key");
    assertEquals(plain.calls, []);
  });
}
