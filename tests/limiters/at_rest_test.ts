import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { Recorder } from "./helpers.ts";

/** Limiter whose `atRest` always returns the given answer. */
class Resting extends Recorder {
  constructor(readonly answer: unknown) {
    super(1);
  }

  atRest(): boolean {
    return this.answer as boolean;
  }
}

const backoff = () => createExponentialLimiter({ baseDelay: 1, maxDelay: 9 });

Deno.test("at rest: a bucket that is full, not paused, and has its original rate and burst", () => {
  const clock = new HandClock();
  const limiter = createBucketLimiter({ rate: 1, burst: 2, clock });
  const { bucket } = limiter;
  assert(limiter.atRest!());
  limiter.when("a");
  assertFalse(limiter.atRest!());
  clock.time = 1000;
  assert(limiter.atRest!());
  bucket.pauseFor(1000);
  assertFalse(limiter.atRest!());
  clock.time = 5000;
  assert(limiter.atRest!());
  bucket.setRate(2);
  assertFalse(limiter.atRest!());
  bucket.setRate(1);
  bucket.setBurst(1);
  assertFalse(limiter.atRest!());
  bucket.setBurst(2);
  assertFalse(limiter.atRest!()); // not full yet
  clock.time = 6000;
  assert(limiter.atRest!());
});

Deno.test("at rest: a backoff without failures", () => {
  const limiter = backoff();
  limiter.when("a");
  limiter.when("b");
  limiter.forget("a");
  assertFalse(limiter.atRest!());
  limiter.forget("b");
  assert(limiter.atRest!());
});

Deno.test("at rest: a limiter around others is at rest if all of them report so, and not if one doesn't report", () => {
  const wrappers: ((inner: RateLimiter) => RateLimiter)[] = [
    (inner) => createMaxWaitLimiter(inner, 5),
    (inner) => createJitterLimiter(inner, { spread: 1 }),
    (inner) => createMaxOfLimiter(inner),
    (inner) => createMaxOfLimiter(new Resting(true), inner, backoff()),
    (inner) => createMaxWaitLimiter(createJitterLimiter(createMaxOfLimiter(inner), { spread: 0 }), 1),
  ];
  const cases: [inner: RateLimiter, atRest: boolean][] = [
    [new Resting(true), true],
    [new Resting(false), false],
    [new Resting(undefined), false],
    [new Resting("yes"), false],
    [new Recorder(1), false],
    [backoff(), true],
  ];
  for (const wrap of wrappers) {
    for (const [inner, atRest] of cases) assertEquals(wrap(inner).atRest!(), atRest);
  }
});

Deno.test("at rest: the default controller limiter, once its item is forgotten and its bucket is full", () => {
  const clock = new HandClock();
  const limiter = createDefaultControllerLimiter({ clock });
  assert(limiter.atRest!());
  limiter.when("a");
  clock.time = 100;
  assertFalse(limiter.atRest!());
  limiter.forget("a");
  assert(limiter.atRest!());
});
