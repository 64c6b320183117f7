import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  createBucketLimiter,
  createExponentialLimiter,
  createIgnoreEarlyLimiter,
  createMaxOfLimiter,
  type LimiterConfig,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { NOT_COUNTED } from "../../lib/base/brands.ts";
import { NextRecorder, RETRY } from "./helpers.ts";
import { courseOf, OUTAGE_LIMITERS } from "./outage.ts";

const backoff = (clock: HandClock) => createExponentialLimiter({ baseDelay: 1000, maxDelay: 100_000, clock });

Deno.test("ignore-early: judges a failure by the start of its attempt, or else by the time of the failure", () => {
  const clock = new HandClock();
  const limiter = createIgnoreEarlyLimiter<string>(backoff(clock), { clock });
  const failAt = (time: number, startedAt?: number) => {
    clock.time = time;
    return limiter.when("a", "a", startedAt === undefined ? undefined : { startedAt });
  };
  assertEquals(failAt(0), 1000);
  assertEquals(failAt(400), 600);
  assertEquals(failAt(1300, 999), 0); // began before the retry was due, and failed after it
  assertEquals(failAt(1300, 1000), 2000);
  assertEquals(limiter.numRequeues("a"), 2);
  limiter.forget("a");
  assertEquals([failAt(1400), limiter.atRest!()], [1000, false]);
});

Deno.test("ignore-early: the minimum delay of a retry counts", () => {
  const clock = new HandClock();
  const limiter = createIgnoreEarlyLimiter<string>(backoff(clock), { clock });
  assertEquals(limiter.when("a", "a", { startedAt: 0, minDelay: 5000 }), 1000);
  clock.time = 4000;
  assertEquals([limiter.when("a"), limiter.numRequeues("a")], [1000, 1]);
});

Deno.test("rule 17: a failure of an attempt that began before the previous delay was over is not counted", () => {
  const inner = new NextRecorder(7);
  const limiter = createIgnoreEarlyLimiter<string>(inner, { clock: new HandClock(1e9) });
  const next = (startedAt: number, dueAt: number | undefined) =>
    limiter.next!(2, "a", "key", { startedAt, dueAt, minDelay: 0 });
  for (const startedAt of [0, 500, 999, 999.998, -Infinity]) assertEquals(next(startedAt, 1000), NOT_COUNTED);
  assertEquals(inner.calls, []);
  // Sums of times are rounded, so a timer may be up to a microsecond early.
  for (const startedAt of [999.9995, 1000, 1000.5, 5000, Infinity]) assertEquals(next(startedAt, 1000), 7);
  assertEquals(next(0, undefined), 7); // the first failure
  assertEquals(inner.calls.at(-1), ["next", 2, "a", "key", { startedAt: 0, dueAt: undefined, minDelay: 0 }]);

  const time = fc.double({ min: 0, max: 1e7, noNaN: true });
  fc.assert(fc.property(time, fc.oneof(time, fc.double({ min: -0.01, max: 0.01, noNaN: true })), (dueAt, early) => {
    const startedAt = dueAt - early;
    assertEquals(next(startedAt, dueAt), dueAt - startedAt > 0.001 ? NOT_COUNTED : 7);
  }));
});

Deno.test("rule 10: the times of an attempt are numbers", () => {
  const limiter = createIgnoreEarlyLimiter<string>(new NextRecorder(7), { clock: new HandClock(1e9) });
  for (const wrong of ["5s", null, NaN, {}, true]) {
    const attempt = (startedAt: unknown, minDelay: unknown = 0) => ({ startedAt, dueAt: 5, minDelay }) as never;
    assertThrows(
      () => limiter.next!(2, "a", "a", attempt(wrong)),
      Error,
      "'startedAt' must be a number of milliseconds",
    );
    assertThrows(() => limiter.when("a", "a", attempt(wrong)), Error, "'startedAt' must be a number of milliseconds");
    assertThrows(() => limiter.when("a", "a", attempt(5, wrong)), Error, "'minDelay' must be a number of milliseconds");
  }
  assertEquals(limiter.when("a", "a", {}), -1, "the answer of the inner limiter");
});

Deno.test("rule 17: failures by hand follow the limiter's own times, and failures of a queue do not", () => {
  const limiter = createIgnoreEarlyLimiter<string>(backoff(new HandClock()), { clock: new HandClock() });
  assertEquals(limiter.when("a"), 1000);
  assertEquals(limiter.next!(1, "a", "a", { startedAt: 0, dueAt: undefined, minDelay: 0 }), 1000);
  assertEquals(limiter.next!(2, "a", "a", { startedAt: 0, dueAt: 1000, minDelay: 0 }), NOT_COUNTED);
  limiter.forgotten!("a", "a");
  assertEquals([limiter.when("a"), limiter.numRequeues("a")], [1000, 1]); // early, by hand
  assertEquals(limiter.next!(3, "b", "b", RETRY), 4000);
  assertEquals(limiter.when("b"), 1000);
});

Deno.test("rule 14: ignore-early forgets times a while after they have passed", () => {
  const clock = new HandClock();
  const passing = createExponentialLimiter<number>({ baseDelay: 1, maxDelay: 1, forgetAfter: 0, clock });
  const limiter = createIgnoreEarlyLimiter(passing, { forgetAfter: "1m", clock });
  for (let i = 0; i < 1000; i++) limiter.when(i);
  clock.time = 60_001;
  for (let i = 1000; i < 3000; i++) limiter.when(i);
  for (let i = 1000; i < 3000; i++) limiter.forget(i);
  assertEquals(limiter.atRest!(), true);
});

Deno.test("rule 17: inside a max-of limiter, the other limiters count early failures", () => {
  const clock = new HandClock();
  const limiter = createMaxOfLimiter<string>(createIgnoreEarlyLimiter(backoff(clock), { clock }), backoff(clock));
  limiter.when("a");
  limiter.when("a");
  assertEquals(limiter.numRequeues("a"), 2);
});

Deno.test("ignore-early: a value that is not a limiter, and invalid options, are refused", () => {
  const limiter = createBucketLimiter({ rate: 1, burst: 1 });
  const action = "Cannot create ignore-early limiter: ";
  assertThrows(() => createIgnoreEarlyLimiter({} as never), TypeError, `${action}'limiter' must be a rate limiter`);
  assertThrows(() => createIgnoreEarlyLimiter(limiter, { forgetAfter: -1 }), RangeError, `${action}'forgetAfter'`);
  assertThrows(() => createIgnoreEarlyLimiter(limiter, { age: 1 } as never), TypeError, '"age" is not an option here');
});

const outage = fc.record({
  inner: fc.constantFrom(...OUTAGE_LIMITERS),
  addWhileDelayed: fc.constantFrom("keep" as const, "replace" as const, "fold" as const),
  duration: fc.integer({ min: 1000, max: 600_000 }),
  interval: fc.oneof(fc.integer({ min: 200, max: 60_000 }), fc.constantFrom(333.3, 1000)),
  hasLaterEvents: fc.boolean(),
  lasts: fc.oneof(fc.constantFrom(0, 0.1), fc.integer({ min: 1, max: 3000 })),
});

Deno.test("rule 17: with events, a failing key succeeds again as soon as without events", async () => {
  await fc.assert(
    fc.asyncProperty(outage, async ({ inner, ...rest }) => {
      const load = { ...rest, limiter: { type: "ignore-early", limiter: inner } as const };
      const without = await courseOf({ ...load, interval: Infinity });
      const withEvents = await courseOf(load);
      const counted = without.attempts.length - 1;
      assert(withEvents.highest <= without.highest, `attempt ${withEvents.highest}, and ${without.highest} without`);
      // Each retry may be up to 1 ms late, because timers are set for whole milliseconds.
      const latest = without.endedAt! + (counted + 1) * (load.lasts + 1);
      assert(withEvents.endedAt! <= latest, `at ${withEvents.endedAt} instead of ${latest}`);
    }),
    { seed: 1, numRuns: 150 },
  );
});

Deno.test("rule 17: with an event per second for 60 s, a success comes in time, and in client-go after 964 s", async () => {
  const load = { addWhileDelayed: "keep", duration: 60_000, hasLaterEvents: false, lasts: 0 } as const;
  const exponential: LimiterConfig = { type: "exponential", baseDelay: "5ms", maxDelay: "1000s" };
  const ignoring = { type: "ignore-early", limiter: exponential } as const;
  // Without events, the attempts are at 0, 5 ms, 15 ms, 35 ms, … 40.955 s, 81.915 s.
  const without = await courseOf({ ...load, limiter: exponential, interval: Infinity });
  assertEquals(without.endedAt, 81_915);
  const counting = await courseOf({ ...load, limiter: exponential, interval: 1000 });
  assertEquals(Math.floor(counting.endedAt! / 1000), 60 + 964);
  const withEvents = await courseOf({ ...load, limiter: ignoring, interval: 1000 });
  assertEquals([withEvents.endedAt, withEvents.highest], [81_915, without.attempts.length]);
  // An event after the outage finds the system working again.
  const later = await courseOf({ ...load, limiter: ignoring, interval: 1000, hasLaterEvents: true });
  assertEquals(later.endedAt, 60_000);
});

Deno.test("rule 17: early failures don't count for maxRetries", async () => {
  const exponential: LimiterConfig = { type: "exponential", baseDelay: "1s", maxDelay: "1m" };
  const load = { addWhileDelayed: "keep", duration: 60_000, hasLaterEvents: true, lasts: 10, maxRetries: 8 } as const;
  const ignoring = { type: "ignore-early", limiter: exponential } as const;
  const without = await courseOf({ ...load, limiter: exponential, interval: Infinity });
  assert(without.endedAt! > 60_000);
  assertEquals((await courseOf({ ...load, limiter: exponential, interval: 1000 })).endedAt, undefined);
  const withEvents = await courseOf({ ...load, limiter: ignoring, interval: 1000 });
  assert(withEvents.endedAt! >= 60_000 && withEvents.endedAt! <= without.endedAt! + 90);
});
