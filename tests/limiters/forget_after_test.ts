import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import * as fc from "fast-check";
import {
  type Clock,
  createExponentialLimiter,
  createFastSlowLimiter,
  createStepsLimiter,
  type LimiterConfig,
  limiters,
  loadConfig,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock, issuesOf } from "../helpers.ts";
import { delays } from "./helpers.ts";

/** Limiters that count failures, with their first four delays. */
const COUNTING: [name: string, delays: number[], create: (forgetAfter: number, clock: Clock) => RateLimiter][] = [
  [
    "exponential",
    [10, 20, 40, 40],
    (forgetAfter, clock) => createExponentialLimiter({ baseDelay: 10, maxDelay: 40, forgetAfter, clock }),
  ],
  [
    "fast-slow",
    [10, 10, 40, 40],
    (forgetAfter, clock) =>
      createFastSlowLimiter({ fastDelay: 10, slowDelay: 40, maxFastAttempts: 2, forgetAfter, clock }),
  ],
  [
    "steps",
    [10, 30, 40, 40],
    (forgetAfter, clock) => createStepsLimiter({ delays: [10, 30, 40], forgetAfter, clock }),
  ],
];

for (const [name, expected, create] of COUNTING) {
  Deno.test(`forgetAfter, ${name}: a count is dropped this time after the end of the last delay it caused`, () => {
    const clock = new HandClock(7);
    const limiter = create(100, clock);
    assertEquals(delays(limiter, "a", 4), expected);
    clock.time += 139.999;
    assertEquals([limiter.numRequeues("a"), limiter.numRequeues("b")], [4, 0]);
    clock.time = 147;
    assertEquals(limiter.numRequeues("a"), 0);
    assertEquals(delays(limiter, "a", 1), [10]);
    clock.time += 109;
    assertEquals(limiter.when("a"), expected[1]);
    clock.time += 100; // each call to `when` restarts the time until the failures are forgotten
    assertEquals(limiter.numRequeues("a"), 2);
    limiter.forget("a");
    assertEquals([limiter.numRequeues("a"), limiter.when("a")], [0, 10]);
  });

  Deno.test(`forgetAfter, ${name}: at rest once every count has expired or was forgotten`, () => {
    const clock = new HandClock();
    const limiter = create(100, clock);
    assert(limiter.atRest!());
    limiter.when("a");
    limiter.when("b");
    limiter.when("b");
    limiter.forget("a");
    assertEquals(limiter.atRest!(), false);
    clock.time = 100 + expected[1]!;
    assert(limiter.atRest!());
    limiter.when("c");
    assertEquals(limiter.atRest!(), false);
    for (const key of ["b", "c"]) limiter.forget(key);
    assert(limiter.atRest!());
  });

  Deno.test(`forgetAfter, ${name}: counts like a plain list of failures, under random calls`, () => {
    const operation = fc.record({
      do: fc.constantFrom("when", "when", "forget"),
      key: fc.nat(3),
      pass: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(150) }),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 50, size: "max" }), fc.nat(100), (operations, forgetAfter) => {
        const clock = new HandClock();
        const limiter = create(forgetAfter, clock);
        const failures = new Map<number, { delay: number; at: number }[]>();
        const listOf = (key: number) => {
          const list = failures.get(key) ?? [];
          const last = list.at(-1);
          return last === undefined || clock.time >= last.at + last.delay + forgetAfter ? [] : list;
        };
        for (const { do: what, key, pass } of operations) {
          clock.time += pass;
          if (what === "forget") {
            limiter.forget(key);
            failures.delete(key);
          } else {
            const list = listOf(key);
            const delay = expected[Math.min(list.length, 3)]!;
            assertEquals(limiter.when(key), delay);
            failures.set(key, [...list, { delay, at: clock.time }]);
          }
          for (let each = 0; each < 4; each++) assertEquals(limiter.numRequeues(each), listOf(each).length);
          // `atRest` may become true later than necessary, but never too early.
          if (limiter.atRest!()) { for (let each = 0; each < 4; each++) assertEquals(listOf(each), []); }
        }
        clock.time += 140;
        assert(limiter.atRest!());
      }),
    );
  });
}

Deno.test("forgetAfter: needs one reading of the clock each time, and no timer", () => {
  let looks = 0;
  const clock: Clock = { now: () => looks++, setTimeout: () => assert(false), clearTimeout() {} };
  const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 10, forgetAfter: 10, clock });
  looks = 0; // the clock is checked at creation
  for (let i = 0; i < 1000; i++) limiter.when(i);
  assertEquals(looks, 1000);
});

Deno.test("forgetAfter: uses the time of the runtime if no clock is given", () => {
  using time = new FakeTime();
  const limiter = createExponentialLimiter({ baseDelay: "1s", maxDelay: "1m", forgetAfter: "1h" });
  assertEquals(delays(limiter, "a", 3), [1000, 2000, 4000]);
  time.tick(3_603_999);
  assertEquals(limiter.numRequeues("a"), 3);
  time.tick(1);
  assertEquals(limiter.when("a"), 1000);
});

Deno.test("forgetAfter: in a document, it is an option of the queue", () => {
  const backoff = { type: "exponential", baseDelay: "1s", maxDelay: "1m" } as const;
  const configs: Exclude<LimiterConfig, string>[] = [
    backoff,
    { type: "fast-slow", fastDelay: "1s", slowDelay: "1m", maxFastAttempts: 1 },
    { type: "steps", delays: ["1s"] },
    { type: "ignore-early", limiter: backoff },
    { type: "bucket", rate: 1, burst: 1 },
  ];
  const message = '"forgetAfter" is an option of the queue, not of a limiter';
  for (const config of configs) {
    const misplaced = { ...config, forgetAfter: "1h" } as object as LimiterConfig;
    assertEquals(issuesOf(() => limiters.build(misplaced)), [{ path: "/forgetAfter", message }], config.type);
    const document = { limiters: { a: misplaced } };
    assertEquals(issuesOf(() => loadConfig(document)), [{ path: "/limiters/a/forgetAfter", message }], config.type);
  }
});

Deno.test("forgetAfter: a value that is not a duration is refused, and so is one that is not a clock", () => {
  const create = (options: object) => () => createExponentialLimiter({ baseDelay: 1, maxDelay: 1, ...options });
  for (const forgetAfter of [-1, Infinity, NaN, "1 h", null]) {
    assertThrows(
      create({ forgetAfter }),
      Error,
      "Cannot create exponential limiter: 'forgetAfter' must be a duration",
    );
  }
  assertThrows(
    create({ forgetAfter: 1, clock: {} }),
    TypeError,
    "'clock' must have timers, and a finite now(), got an object",
  );
  assertThrows(create({ forgetafter: 1 }), TypeError, `did you mean "forgetAfter"?`);
  assertEquals(create({ forgetAfter: undefined, clock: undefined })().when("a"), 1);
});
