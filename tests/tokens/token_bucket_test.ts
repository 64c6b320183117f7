import { assert, assertAlmostEquals, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type Duration, type Reservation, TokenBucket } from "@workqueue/core";
import { onBucketChange } from "../../lib/tokens/bucket_changes.ts";
import { delayOf, giveBackGrant, type Grant, grantTokens } from "../../lib/tokens/grants.ts";
import { levelOf } from "../../lib/tokens/token_level.ts";
import { HandClock } from "../helpers.ts";
import { flush, isSettled, randomNumbers } from "../queue_helpers.ts";

/** Milliseconds per token at `RATE`. Most tests count time in this unit. */
const UNIT = 250;
const RATE = 4;

/** Creates a bucket under a clock that counts in units. */
function createBucket(burst: number, rate = RATE) {
  const clock = new HandClock();
  const bucket = new TokenBucket(rate, burst, { clock });
  return {
    clock,
    bucket,
    /** Moves the clock to this time, forward or back. */
    at(unit: number): TokenBucket {
      clock.time = unit * UNIT;
      return bucket;
    },
    /** Reserves `n` tokens at time `unit` and checks that they become usable at `usableAt`; `undefined` means never. */
    reserve(unit: number, n: number, usableAt: number | undefined): Reservation {
      const reservation = this.at(unit).reserve(n);
      assertEquals(reservation.ok, usableAt !== undefined);
      const expected = usableAt === undefined ? Infinity : (usableAt - unit) * UNIT;
      assertEquals(reservation.delay, expected, `${n} reserved at ${unit}`);
      return reservation;
    },
  };
}

type Step = [unit: number, tokens: number, n: number, allowed: boolean];

/** Takes tokens at the time of each step, and checks how many tokens there were before. */
function assertSteps(burst: number, steps: Step[]): void {
  const made = createBucket(burst);
  for (const [i, [unit, tokens, n, allowed]] of steps.entries()) {
    assertEquals(made.at(unit).tokens, tokens, `tokens before step ${i}`);
    assertEquals(made.bucket.allow(n), allowed, `step ${i}`);
  }
}

Deno.test("TokenBucket.every() converts an interval to a rate", () => {
  const cases: [interval: Duration, rate: number][] = [
    ["100ms", 10],
    ["1h", 1 / 3600],
    ["0", Infinity],
    ["-1s", Infinity],
    [0, Infinity],
    [-1, Infinity],
    [-0, Infinity],
    [1e-6, 1e9],
    [1, 1000],
    [10, 100],
    [250, 4],
    [1000, 1],
    [2500, 0.4],
    [60_000, 1 / 60],
    [Infinity, 0],
    [-Infinity, Infinity],
  ];
  for (const [interval, rate] of cases) {
    if (rate === Infinity) assertEquals(TokenBucket.every(interval), Infinity);
    else assertAlmostEquals(TokenBucket.every(interval), rate, rate * 1e-12);
  }
});

Deno.test("TokenBucket.every() refuses a value that is not an interval", () => {
  const rest = `'interval' must be a duration such as "250ms", "1h30m" or a number of milliseconds, got`;
  assertEquals(
    assertThrows(() => TokenBucket.every(NaN), RangeError).message,
    `Cannot convert interval to rate: ${rest} NaN`,
  );
  const { message } = assertThrows(() => TokenBucket.every("1 s"), TypeError);
  assertEquals(message, `Cannot convert interval to rate: ${rest} "1 s"`);
});

Deno.test("a bucket of one token gives one, and then one each time a token is due", () => {
  assertSteps(1, [
    [0, 1, 1, true],
    [0, 0, 1, false],
    [0, 0, 1, false],
    [1, 1, 1, true],
    [1, 0, 1, false],
    [2, 1, 2, false], // more than the bucket's capacity is never allowed
    [2, 1, 1, true],
    [2, 0, 1, false],
    [2.5, 0.5, 1, false], // half a token is not enough
    [3, 1, 1, true],
  ]);
});

Deno.test("a bucket starts full, gives its burst at once, and refills at the rate, up to its burst", () => {
  assertSteps(3, [
    [0, 3, 2, true],
    [0, 1, 2, false], // a refusal takes nothing
    [0, 1, 1, true],
    [0, 0, 1, false],
    [1, 1, 4, false],
    [2, 2, 1, true],
    [3, 2, 1, true],
    [4, 2, 1, true],
    [4, 1, 1, true],
    [4, 0, 1, false],
    [5.5, 1.5, 1, true],
    [5.5, 0.5, 0, true],
    [9, 3, 3, true],
    [9, 0, 0, true],
    [900, 3, 3, true],
    [900, 0, 1, false],
  ]);
});

Deno.test("a clock that goes back neither adds nor removes tokens", () => {
  assertSteps(3, [
    [5, 3, 1, true],
    [2, 2, 1, true],
    [2, 1, 1, true],
    [2, 0, 1, false],
    [3, 1, 1, true], // one token has arrived since time 2, when a token was last taken
    [3, 0, 1, false],
    [4, 1, 1, true],
    [4, 0, 1, false],
  ]);
});

Deno.test("a new bucket is full, whether its clock has run for long or is below zero", () => {
  for (const start of [-1e6, 0.3, 1.7e12]) {
    const bucket = new TokenBucket(10, 5, { clock: new HandClock(start) });
    assertEquals(bucket.tokens, 5);
    assert(bucket.allow(5));
    assertEquals(bucket.tokens, 0);
  }
});

Deno.test("times are whole nanoseconds: a clock with fractions makes no delay inexact", () => {
  for (let start = 0; start < 100; start += 0.1) {
    const clock = new HandClock(start);
    const bucket = new TokenBucket(10, 1, { clock });
    assert(bucket.allow());
    clock.time = start + 50;
    assertEquals(bucket.reserve().delay, 50, String(start));
  }
});

Deno.test("a whole token is there when it is due, whatever the fractions of the rate", () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(0.7692307692307693, 1, { clock }); // one token in 1.3 s
  assert(bucket.allow());
  clock.time = 1299;
  assertFalse(bucket.allow());
  clock.time = 1300;
  assert(bucket.allow());
});

Deno.test("calls at the same moment share the burst", () => {
  const { bucket } = createBucket(5, 1);
  const allowed = Array.from({ length: 15 }, () => bucket.allow());
  assertEquals(allowed.filter((is) => is).length, 5);
});

Deno.test("in the long run, the rate plus the burst are allowed", () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(100, 100, { clock });
  let allowed = 0;
  for (; clock.time < 5000; clock.time += 2) {
    if (bucket.allow()) allowed++;
  }
  assert(allowed >= 599 && allowed <= 601, String(allowed));
});

Deno.test("with any reservations, no period has more usable tokens than burst and rate allow", () => {
  const random = randomNumbers(4);
  for (let round = 0; round < 50; round++) {
    const clock = new HandClock();
    const rate = 1 + Math.floor(random() * 20);
    const burst = 1 + Math.floor(random() * 5);
    const bucket = new TokenBucket(rate, burst, { clock });
    const usable: { at: number; n: number }[] = [];
    for (let i = 0; i < 60; i++) {
      clock.time += Math.floor(random() * 300);
      const n = 1 + Math.floor(random() * burst);
      if (random() < 0.5) usable.push({ at: clock.time + bucket.reserve(n).delay, n });
      else if (bucket.allow(n)) usable.push({ at: clock.time, n });
    }
    for (let from = 0; from < usable.length; from++) {
      let sum = 0;
      for (let to = from; to < usable.length; to++) {
        sum += usable[to]!.n;
        const seconds = (usable[to]!.at - usable[from]!.at) / 1000;
        assert(sum <= burst + rate * seconds + 1e-6, `${sum} tokens in ${seconds} s at ${rate}/s, burst ${burst}`);
      }
    }
  }
});

Deno.test("a reservation takes future tokens, and reports when they may be used", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.reserve(0, 2, 2);
  made.reserve(3, 2, 4);
  assertEquals(made.bucket.tokens, -1);
});

Deno.test("a reservation's delay shrinks as time passes, down to zero", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const reservation = made.reserve(0, 2, 2);
  made.at(1.5);
  assertEquals(reservation.delay, 0.5 * UNIT);
  made.at(2);
  assertEquals(reservation.delay, 0);
  made.at(7);
  assertEquals(reservation.delay, 0);
});

Deno.test("reservations and refusals mix: allow succeeds only if the tokens are there now", () => {
  const made = createBucket(2);
  made.reserve(0, 3, undefined); // more than the bucket's capacity
  made.reserve(0, 2, 0);
  assertFalse(made.at(1).allow(2)); // only one token is there
  made.reserve(1, 2, 2);
  assertEquals(made.bucket.tokens, -1);
  assertFalse(made.bucket.allow(1));
  assertFalse(made.bucket.allow(0)); // while the bucket is in debt, even taking 0 tokens fails
  assert(made.at(3).allow(1));
});

Deno.test("a request for no tokens is granted at once if the bucket has no debt, and otherwise waits for the debt", () => {
  const made = createBucket(2);
  made.reserve(0, 0, 0);
  made.reserve(0, 2, 0);
  made.reserve(0, 0, 0);
  made.reserve(0, 1, 1);
  made.reserve(0, 0, 1);
  assertEquals(made.bucket.tokens, -1);
});

Deno.test("a reservation that was not granted is never usable, and cancelling it returns nothing", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const refused = made.reserve(0, 3, undefined);
  refused.cancel();
  made.at(100);
  assertEquals(refused.delay, Infinity);
  made.at(0);
  made.reserve(0, 2, 2);
});

Deno.test("cancelling the last reservation returns its tokens, at once or later", () => {
  for (const cancelledAt of [0, 1, 2]) {
    const made = createBucket(2);
    made.reserve(0, 2, 0);
    const last = made.reserve(0, 2, 2);
    made.at(cancelledAt);
    last.cancel();
    assertEquals(made.bucket.tokens, cancelledAt);
    made.reserve(cancelledAt, 2, 2);
  }
});

Deno.test("cancelling a reservation whose time has come does nothing", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const used = made.reserve(0, 2, 2);
  made.at(3);
  used.cancel();
  assertEquals(made.bucket.tokens, 1);
  made.reserve(3, 2, 4);
});

Deno.test("cancelling returns nothing if later reservations depend on all of its tokens", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const first = made.reserve(0, 1, 1);
  made.reserve(0, 1, 2);
  made.at(0);
  first.cancel();
  assertEquals(made.bucket.tokens, -2);
  made.reserve(0, 1, 3);
});

Deno.test("cancelling takes nothing if later reservations depend on more than its tokens", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const first = made.reserve(0, 1, 1);
  made.reserve(0, 2, 3);
  made.reserve(0, 2, 5);
  first.cancel();
  assertEquals(made.bucket.tokens, -5);
});

Deno.test("cancelling an earlier reservation leaves the later one as the last that others depend on", () => {
  const made = createBucket(4);
  made.reserve(0, 4, 0);
  const earlier = made.reserve(0, 4, 4);
  const later = made.reserve(0, 1, 5);
  earlier.cancel(); // returns three of its four tokens
  assertEquals(made.bucket.tokens, -2);
  later.cancel();
  assertEquals(made.bucket.tokens, -1);
});

Deno.test("cancelling returns the tokens on which no later reservation depends", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const first = made.reserve(0, 2, 2);
  made.reserve(0, 1, 3);
  made.at(2);
  first.cancel(); // returns one of its two tokens
  assertEquals(made.bucket.tokens, 0);
  made.reserve(2, 2, 4);
});

Deno.test("reservations can be cancelled out of order", () => {
  const made = createBucket(4);
  made.reserve(0, 4, 0);
  const first = made.reserve(0, 3, 3);
  made.reserve(0, 1, 4);
  const last = made.reserve(0, 1, 5);
  made.at(1);
  last.cancel(); // returns its token
  first.cancel(); // returns two of its three tokens; the canceled `last` doesn't count
  assertEquals(made.bucket.tokens, -1);
  made.reserve(1, 3, 5);
});

Deno.test("cancelling never fills the bucket beyond its burst", () => {
  const made = createBucket(3);
  const reservation = made.reserve(1, 3, 1);
  made.bucket.setBurst(1);
  made.at(1);
  reservation.cancel();
  assertEquals(made.bucket.tokens, 1);
});

Deno.test("cancelling a reservation of no tokens does nothing", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.reserve(0, 1, 1);
  const none = made.reserve(0, 0, 1);
  none.cancel();
  assertEquals(made.bucket.tokens, -1);
  made.reserve(0, 1, 2);
});

Deno.test("after the clock goes back, a reservation may break the rate; later, bucket and clock agree again", () => {
  const made = createBucket(2);
  made.reserve(1, 2, 1);
  made.reserve(0, 1, 1); // at time 0, the bucket is empty, so the token arrives at 1
  made.reserve(2, 2, 3);
  made.reserve(0, 3, undefined); // changes nothing
  made.reserve(2, 1, 4);
  assertFalse(made.at(0).allow(2)); // changes nothing
  made.reserve(2, 1, 5);
});

Deno.test("a reservation can be cancelled after the clock went back", () => {
  const made = createBucket(2);
  made.reserve(1, 2, 1);
  const reservation = made.reserve(1, 2, 3);
  made.reserve(1, 1, 4);
  made.at(0);
  reservation.cancel(); // returns one of its two tokens
  made.reserve(1, 2, 4); // from 0 to 1, a token arrives again
});

Deno.test("a new rate applies from now on, and earlier reservations keep their time", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const earlier = made.reserve(0, 2, 2);
  made.at(1).setRate(2 * RATE);
  assertEquals(made.bucket.rate, 8);
  assertEquals(earlier.delay, UNIT);
  assertEquals(made.bucket.tokens, -1);
  made.reserve(1, 1, 2); // two tokens are owed, including this one, and two now arrive per unit
});

Deno.test("a new burst applies from now on: a larger one is filled at the rate", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.reserve(0, 2, 2);
  made.at(3).setBurst(4);
  assertEquals(made.bucket.burst, 4);
  assertEquals(made.bucket.tokens, 1);
  made.reserve(3, 4, 6);
  made.reserve(3, 5, undefined);
  assertEquals(made.at(100).tokens, 4);
});

Deno.test("a smaller burst drops the tokens beyond it", () => {
  const made = createBucket(5);
  made.at(1).setBurst(2);
  assertEquals(made.bucket.tokens, 2);
  made.bucket.setBurst(5);
  assertEquals(made.bucket.tokens, 2);
});

Deno.test("changing the rate before canceling a reservation does not change how many tokens are returned", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const reservation = made.reserve(0, 2, 2);
  made.at(1).setRate(2 * RATE);
  made.at(1);
  reservation.cancel();
  assertEquals(made.bucket.tokens, 1);
  made.reserve(1, 2, 1.5);
});

Deno.test("tokens that came before a change of the rate count at the old rate", () => {
  const made = createBucket(8);
  assert(made.at(0).allow(8));
  made.at(2).setRate(0);
  assertEquals(made.at(50).tokens, 2);
  made.at(50).setRate(RATE);
  assertEquals(made.at(51).tokens, 3);
});

Deno.test("after the last reservation is cancelled, an earlier one is the last that others depend on", () => {
  const made = createBucket(4);
  made.reserve(0, 4, 0);
  const first = made.reserve(0, 2, 2);
  const second = made.reserve(0, 2, 4);
  second.cancel();
  first.cancel(); // returns all its tokens, because no later reservation is left
  assertEquals(made.bucket.tokens, 0);
});

Deno.test("after the last reservation is cancelled, the one before is not the last if its time has passed", () => {
  // Go behaves in the same way. It matters only if the rate has changed, so that an earlier reservation becomes usable
  // after the last one.
  const clock = new HandClock();
  const bucket = new TokenBucket(1, 1, { clock });
  bucket.reserve();
  bucket.setRate(0.1);
  const slow = bucket.reserve(); // usable at 10 s
  bucket.setBurst(5);
  bucket.setRate(10);
  const last = bucket.reserve(5); // usable at 0.6 s, so the bucket expects the previous one to be usable at 0.1 s
  clock.time = 200;
  last.cancel();
  assertAlmostEquals(bucket.tokens, 1);
  slow.cancel();
  assertAlmostEquals(bucket.tokens, 1 + 1 + 0.94);
});

Deno.test("a cancel leaves tokens on which later reservations depend, even if the earlier reservation's time has passed", () => {
  const made = createBucket(4);
  made.reserve(0, 4, 0);
  const last = made.reserve(0, 4, 4);
  made.at(3);
  last.cancel();
  assertEquals(made.bucket.tokens, 3);
  const again = made.reserve(3, 4, 4);
  again.cancel();
  assertEquals(made.bucket.tokens, 3);
});

Deno.test("a rate of zero gives the tokens in the bucket and nothing more", () => {
  const made = createBucket(1, 0);
  assert(made.at(0).allow());
  assertFalse(made.at(1e9).allow());
  assertEquals(made.bucket.tokens, 0);
});

Deno.test("at a rate of zero, a reservation is granted, but its time never comes", () => {
  const made = createBucket(2, 0);
  made.reserve(0, 2, 0);
  const reservation = made.reserve(0, 1, Infinity);
  assertEquals(made.at(1e9).tokens, -1);
  assertEquals(reservation.delay, Infinity);
  reservation.cancel();
  assertEquals(made.bucket.tokens, 0);
});

Deno.test("a bucket whose rate was zero fills once it has a rate, and wait waits for that token", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(0, 1, { clock });
  assert(bucket.allow());
  clock.time = 60_000;
  assertFalse(bucket.allow());
  bucket.setRate(10);
  const waited = bucket.wait();
  await clock.advance(99);
  assertFalse(await isSettled(waited));
  await clock.advance(1);
  await waited;
});

Deno.test("an infinite rate allows everything at once, whatever the burst", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(Infinity, 0, { clock });
  for (const n of [0, 1, 3, 1e9]) {
    assert(bucket.allow(n));
    const reservation = bucket.reserve(n);
    assertEquals([reservation.ok, reservation.delay], [true, 0]);
    reservation.cancel();
    await bucket.wait(n);
  }
  assertEquals(bucket.rate, Infinity);
  assertEquals(bucket.tokens, 0);
  assertEquals(clock.delays, []);
});

Deno.test("the rate may become infinite and finite again: a bucket that is not full fills at once", () => {
  const made = createBucket(3);
  assert(made.at(0).allow(3));
  made.bucket.setRate(Infinity);
  assertEquals(made.at(0).tokens, 0); // no time has passed
  assert(made.at(0).allow(100));
  assertEquals(made.at(1).tokens, 3);
  made.at(1).setRate(RATE);
  assertEquals(made.bucket.tokens, 3);
  assertFalse(made.bucket.allow(4));
});

Deno.test("cancelling at an infinite rate does nothing, because the bucket is not used", () => {
  const made = createBucket(3);
  made.reserve(0, 3, 0);
  const reservation = made.reserve(0, 3, 3);
  made.bucket.setRate(Infinity);
  reservation.cancel();
  made.bucket.setRate(RATE);
  assertEquals(made.bucket.tokens, -3);
});

Deno.test("a tiny rate does not overflow: only the burst is allowed", () => {
  for (const rate of [1e-10, 1e-300, Number.MIN_VALUE]) {
    const made = createBucket(1, rate);
    assert(made.bucket.allow());
    assertFalse(made.bucket.allow());
    assertFalse(made.at(1e6).allow());
    const { ok, delay } = made.bucket.reserve();
    assert(ok);
    assertEquals(delay, Infinity);
  }
});

Deno.test("a huge rate is not infinite: at most the burst is given at once", () => {
  const made = createBucket(2, Number.MAX_VALUE);
  assert(made.at(0).allow(2));
  made.reserve(0, 2, 0); // the two tokens arrive within a nanosecond
  assertFalse(made.bucket.allow(3));
  assertEquals(made.at(1).tokens, 2);
});

Deno.test("a burst of zero only allows requests for no tokens", () => {
  const made = createBucket(0);
  assertFalse(made.at(100).allow());
  assert(made.bucket.allow(0));
  made.reserve(100, 1, undefined);
});

Deno.test("times are whole nanoseconds: a delay of a fraction of one is cut off", () => {
  const made = createBucket(1, 3);
  assert(made.bucket.allow());
  assertEquals(made.bucket.reserve().delay, 333.333333);
  assertEquals(made.bucket.reserve().delay, 666.666666);
});

Deno.test("a token that is due in a nanosecond can't be used yet", () => {
  const made = createBucket(1, 1e9);
  assert(made.bucket.allow());
  assertFalse(made.bucket.allow());
  assertEquals(made.bucket.reserve().delay, 1e-6);
});

Deno.test("take: returns how long to wait for tokens that are taken for good", () => {
  const { at, bucket } = createBucket(3);
  assertEquals([at(0).take(), bucket.take(2), bucket.take(), bucket.take(2)], [0, 0, UNIT, 3 * UNIT]);
  assertEquals([bucket.tokens, bucket.take(4), bucket.tokens], [-3, Infinity, -3]); // more than the bucket's capacity
  assertEquals([at(5).take(), at(5).take(0), bucket.take()], [0, 0, 0]);
  assertEquals([new TokenBucket(0, 1).take(), new TokenBucket(0, 0).take()], [0, Infinity]);
  assertEquals(new TokenBucket(Infinity, 0).take(9), 0);
  const never = new TokenBucket(0, 1);
  assertEquals([never.take(), never.take()], [0, Infinity]);
});

Deno.test("rule 10: unknown options, and options of the wrong type, are refused", async () => {
  const cases: [options: unknown, rest: string][] = [
    [{ clok: new HandClock() }, `"clok" is not an option here; did you mean "clock"?`],
    [
      { clock: {} },
      "'clock' must have timers, and a finite now(), got an object",
    ],
    [null, "'options' must be an object, got null"],
    [[], "'options' must be an object, got an array"],
    ["clock", `'options' must be an object, got "clock"`],
  ];
  for (const [options, rest] of cases) {
    const { message } = assertThrows(() => new TokenBucket(1, 1, options as object), TypeError);
    assertEquals(message, `Cannot create token bucket: ${rest}`);
  }
  const bucket = new TokenBucket(0, 1, { clock: undefined });
  const { signal } = new AbortController();
  for (const options of [{ signl: signal }, signal, null, { signal: {} }]) {
    await assertRejects(
      () => bucket.wait(1, options as { signal: AbortSignal }),
      TypeError,
      "Cannot wait for tokens:",
    );
  }
  assertEquals(bucket.tokens, 1);
});

Deno.test("wait: available tokens are given at once, without a timer", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 3, { clock });
  await bucket.wait();
  await bucket.wait(2);
  assertEquals(bucket.tokens, 0);
  await bucket.wait(0);
  assertEquals(clock.delays, []);
});

Deno.test("wait: resolves when the tokens come, in the order of the calls", async () => {
  using time = new FakeTime();
  const bucket = new TokenBucket(RATE, 3);
  const order: string[] = [];
  await bucket.wait(2);
  const first = bucket.wait(3).then(() => order.push("first")); // must wait for two units
  const second = bucket.wait(1).then(() => order.push("second"));
  time.tick(2 * UNIT - 1);
  await time.runMicrotasks();
  assertEquals(order, []);
  time.tick(1);
  await first;
  assertEquals(order, ["first"]);
  time.tick(UNIT - 1);
  await time.runMicrotasks();
  assertEquals(order, ["first"]);
  time.tick(1);
  await second;
});

Deno.test("wait: never ends early, even if the delay is not a whole number of milliseconds", async () => {
  using time = new FakeTime();
  const bucket = new TokenBucket(3, 1);
  await bucket.wait();
  const waited = bucket.wait(); // 333.3 ms
  time.tick(333);
  assertFalse(await isSettled(waited));
  time.tick(1);
  assert(await isSettled(waited));
});

Deno.test("wait: a delay below a millisecond is waited for too, with one timer of a whole millisecond", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(2000, 1, { clock });
  await bucket.wait();
  const waited = bucket.wait();
  assertFalse(await isSettled(waited));
  await clock.advance(1);
  await waited;
  assertEquals(clock.delays, [1]);
});

Deno.test("wait: continues if a timer fires early, or the clock goes back meanwhile", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 1, { clock });
  await bucket.wait();
  const waited = bucket.wait();
  clock.time = -UNIT;
  await clock.advance(UNIT);
  assertFalse(await isSettled(waited));
  await clock.advance(UNIT);
  assert(await isSettled(waited));
  assertEquals(clock.timers, 0);
});

Deno.test("wait: a request for more tokens than the bucket holds is refused at once, because it could never succeed", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 3, { clock });
  const { message } = await assertRejects(() => bucket.wait(4), RangeError);
  assertEquals(message, "Cannot wait for tokens: 'n' must not exceed the burst of 3, got 4");
  assertEquals(bucket.tokens, 3);
  assertEquals(clock.delays, []);
});

Deno.test("wait: with a signal that has already aborted, no token is taken, even if tokens are available", async () => {
  const bucket = new TokenBucket(RATE, 3, { clock: new HandClock() });
  const reason = new Error("too late");
  const error = await assertRejects(() => bucket.wait(1, { signal: AbortSignal.abort(reason) }));
  assertEquals(error, reason);
  assertEquals(bucket.tokens, 3);
});

Deno.test("wait: an abort rejects with the signal's reason, returns the tokens and clears the timer", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 3, { clock });
  const stop = new AbortController();
  await bucket.wait(2, { signal: stop.signal });
  const waited = bucket.wait(3, { signal: stop.signal }).catch((error) => error);
  assertEquals(bucket.tokens, -2);
  await clock.advance(UNIT);
  const reason = new Error("never mind");
  stop.abort(reason);
  assert(await waited === reason);
  assertEquals(clock.timers, 0);
  assertEquals(bucket.tokens, 2);
  assert(bucket.allow(2));
});

Deno.test("wait: calls that are aborted together leave no debt, and the next one waits as if they had never been made", async () => {
  for (const reversed of [false, true]) {
    const clock = new HandClock();
    const bucket = new TokenBucket(1, 1, { clock });
    await bucket.wait();
    const stops = Array.from({ length: 10 }, () => new AbortController());
    const aborted = stops.map(({ signal }) => assertRejects(() => bucket.wait(1, { signal }), DOMException));
    for (const stop of reversed ? stops.toReversed() : stops) stop.abort();
    await Promise.all(aborted);
    assertEquals([bucket.tokens, clock.timers, bucket.atRest()], [0, 0, false]);
    const waited = bucket.wait();
    await clock.advance(999);
    assertFalse(await isSettled(waited));
    await clock.advance(1);
    await waited;
    await clock.advance(1000);
    assert(bucket.atRest());
  }
});

Deno.test("wait: calls behind an aborted one move up, whether it was the first or in the middle", async () => {
  for (const aborted of [0, 1, 2]) {
    const clock = new HandClock();
    const bucket = new TokenBucket(1, 1, { clock });
    await bucket.wait();
    const stop = new AbortController();
    const ends: string[] = [];
    for (let i = 0; i < 4; i++) {
      const signal = i === aborted ? stop.signal : undefined;
      bucket.wait(1, { signal }).then(() => ends.push(`${i} at ${clock.time}`), () => ends.push(`${i} aborted`));
    }
    await clock.advance(500);
    stop.abort();
    await flush();
    await clock.advance(5000);
    const others = [0, 1, 2, 3].filter((i) => i !== aborted);
    assertEquals(ends, [`${aborted} aborted`, ...others.map((i, place) => `${i} at ${(place + 1) * 1000}`)]);
  }
});

Deno.test("wait: if a signal aborts just when the call's turn comes, it takes no token, and the next call gets it", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(1, 1, { clock });
  await bucket.wait();
  const stop = new AbortController();
  const first = bucket.wait().then(() => Promise.resolve().then(() => stop.abort()));
  const early = bucket.wait().then(() => stop.abort());
  const second = bucket.wait(1, { signal: stop.signal }).catch((error) => error.name);
  const third = bucket.wait();
  await clock.advance(2000);
  await Promise.all([first, early]);
  assertEquals(await second, "AbortError");
  await clock.advance(1000);
  await third;
  assertEquals([bucket.tokens, clock.timers], [0, 0]);
});

Deno.test("wait: a late timer costs no tokens, so a fast bucket with a small burst keeps its rate", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(5000, 1, { clock });
  let served = 0;
  for (let i = 0; i < 101; i++) bucket.wait().then(() => served++);
  assert(await isSettled(Promise.resolve()));
  assertEquals(served, 1);
  for (let ms = 1; ms <= 20; ms++) {
    await clock.advance(1);
    await isSettled(Promise.resolve());
    assertEquals(served, 1 + 5 * ms);
  }
});

Deno.test("wait: a changed rate or burst applies to waiting calls, also in a bucket that never gave a token", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(0, 2, { clock });
  await bucket.wait(2);
  const order: string[] = [];
  const first = bucket.wait().then(() => order.push(`first at ${clock.time}`));
  const second = bucket.wait(2).then(() => order.push("second"), (error) => order.push(error.message));
  const third = bucket.wait().then(() => order.push(`third at ${clock.time}`));
  await clock.advance(1000);
  bucket.setRate(10);
  await flush();
  await clock.advance(50);
  bucket.setBurst(1);
  await flush();
  await clock.advance(150);
  await Promise.all([first, second, third]);
  assertEquals(order, [
    "first at 1100",
    "Cannot wait for tokens: 'n' must not exceed the burst of 1, got 2",
    "third at 1200",
  ]);
  assertEquals(clock.timers, 0);
});

Deno.test("wait: a reservation made meanwhile goes before the waiting calls, and keeps its time when the first one leaves", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(1, 1, { clock });
  await bucket.wait();
  const stop = new AbortController();
  const first = assertRejects(() => bucket.wait(1, { signal: stop.signal }), DOMException);
  const second = bucket.wait();
  const reservation = bucket.reserve();
  assertEquals(reservation.delay, 2000);
  stop.abort();
  await first;
  assertEquals(reservation.delay, 2000);
  await clock.advance(2999);
  assertFalse(await isSettled(second));
  await clock.advance(1);
  await second;
});

Deno.test("wait: a signal that aborts after the wait has ended changes nothing", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 1, { clock });
  const stop = new AbortController();
  await bucket.wait(1, { signal: stop.signal });
  const waited = bucket.wait(1, { signal: stop.signal });
  await clock.advance(UNIT);
  await waited;
  stop.abort();
  assertEquals(bucket.tokens, 0);
  assertEquals(clock.cleared, 0); // the signal listener is gone
});

Deno.test("wait: may last longer than the runtime's timers", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(TokenBucket.every(3e9), 1, { clock });
  await bucket.wait();
  const waited = bucket.wait();
  await clock.advance(2 ** 31 - 1);
  assertFalse(await isSettled(waited));
  await clock.advance(3e9 - 2 ** 31);
  assertFalse(await isSettled(waited));
  await clock.advance(1);
  await waited;
  assertEquals(clock.delays, [2 ** 31 - 1, 3e9 - (2 ** 31 - 1)]);
});

Deno.test("wait: at a rate of zero, it lasts until it is aborted, and then leaves no timer", async () => {
  using time = new FakeTime();
  const bucket = new TokenBucket(0, 1);
  await bucket.wait();
  const stop = new AbortController();
  const waited = bucket.wait(1, { signal: stop.signal });
  time.tick(1e12);
  assertFalse(await isSettled(waited));
  stop.abort();
  await assertRejects(() => waited, DOMException);
  assertFalse(time.next());
});

Deno.test("invalid numbers are refused, with the argument, the rule and the value, and change nothing", async () => {
  const { bucket } = createBucket(3);
  const rates: [value: unknown, ErrorClass: typeof RangeError | typeof TypeError, received: string][] = [
    [NaN, RangeError, "NaN"],
    [-1, RangeError, "-1"],
    [-Infinity, RangeError, "-Infinity"],
    ["10", TypeError, `"10"`],
    [undefined, TypeError, "undefined"],
    [null, TypeError, "null"],
    [10n, TypeError, "10n"],
    [{ valueOf: () => 10 }, TypeError, "an object"],
  ];
  for (const [value, ErrorClass, received] of rates) {
    const rule = `'rate' must be a non-negative number, got ${received}`;
    const created = assertThrows(() => new TokenBucket(value as number, 1), ErrorClass);
    assertEquals(created.message, `Cannot create token bucket: ${rule}`);
    const changed = assertThrows(() => bucket.setRate(value as number), ErrorClass);
    assertEquals(changed.message, `Cannot set rate: ${rule}`);
  }
  const counts: [value: unknown, ErrorClass: typeof RangeError | typeof TypeError, received: string][] = [
    [NaN, RangeError, "NaN"],
    [-1, RangeError, "-1"],
    [1.5, RangeError, "1.5"],
    [Infinity, RangeError, "Infinity"],
    [2 ** 53, RangeError, "9007199254740992"],
    ["1", TypeError, `"1"`],
    [null, TypeError, "null"],
    [true, TypeError, "true"],
  ];
  for (const [value, ErrorClass, received] of counts) {
    const rule = (option: string) => `'${option}' must be a non-negative integer, got ${received}`;
    const cases: [call: () => unknown, message: string][] = [
      [() => new TokenBucket(1, value as number), `Cannot create token bucket: ${rule("burst")}`],
      [() => bucket.setBurst(value as number), `Cannot set burst: ${rule("burst")}`],
      [() => bucket.allow(value as number), `Cannot take tokens: ${rule("n")}`],
      [() => bucket.reserve(value as number), `Cannot reserve tokens: ${rule("n")}`],
      [() => bucket.take(value as number), `Cannot take tokens: ${rule("n")}`],
    ];
    for (const [call, message] of cases) assertEquals(assertThrows(call, ErrorClass).message, message);
    const { message } = await assertRejects(() => bucket.wait(value as number), ErrorClass);
    assertEquals(message, `Cannot wait for tokens: ${rule("n")}`);
  }
  assertThrows(() => new TokenBucket(1, undefined as unknown as number), TypeError, "'burst'");
  assertEquals([bucket.rate, bucket.burst, bucket.tokens], [RATE, 3, 3]);
});

Deno.test("the default number of tokens is one", async () => {
  const { bucket } = createBucket(5);
  bucket.allow();
  bucket.reserve();
  await bucket.wait();
  assertEquals(bucket.tokens, 2);
});

Deno.test("pause: gives no token before its end, and then the bucket continues with the tokens that it had", () => {
  const made = createBucket(3);
  assert(made.at(0).allow(2));
  made.at(0.5).pauseFor(10 * UNIT);
  assertEquals(made.bucket.tokens, 1.5);
  assertFalse(made.bucket.allow());
  assertFalse(made.bucket.allow(0));
  assertEquals(made.at(10).tokens, 1.5);
  assertFalse(made.at(10.499).allow());
  assert(made.at(10.5).allow());
  assertEquals([made.bucket.tokens, made.at(11).tokens, made.at(99).tokens], [0.5, 1, 3]);
});

Deno.test("pause: requests during it wait at least for the end, then for their tokens, one after the other", () => {
  const made = createBucket(2);
  made.at(1).pauseFor(4 * UNIT);
  assertEquals([made.bucket.take(2), made.bucket.take(), made.bucket.take(0)], [4 * UNIT, 5 * UNIT, 5 * UNIT]);
  made.reserve(3, 1, 7); // needs the fourth token: two are there at 5, the third arrives at 6, the fourth at 7
  made.reserve(3, 3, undefined);
  assertEquals([made.bucket.tokens, made.bucket.take(3)], [-2, Infinity]);
  made.reserve(6, 1, 8);
});

Deno.test("pause: of two pauses, the later end counts, whichever came first", () => {
  const [one, two] = [createBucket(1), createBucket(1)];
  one.at(0).pauseFor(10 * UNIT);
  one.at(4).pauseFor(2 * UNIT); // until 6
  one.at(7).pauseFor(3 * UNIT); // also until 10
  two.at(0).pauseFor(3 * UNIT);
  two.at(2).pauseFor(8 * UNIT);
  for (const made of [one, two]) {
    assertEquals([made.at(7).take(), made.bucket.take()], [3 * UNIT, 4 * UNIT]);
    assertFalse(made.at(9.9).allow());
    assertEquals([made.at(10.5).tokens, made.at(11).tokens, made.at(12).tokens], [-0.5, 0, 1]);
  }
});

Deno.test("pause: between two pauses, tokens come", () => {
  const made = createBucket(9);
  assert(made.at(0).allow(9));
  made.at(1).pauseFor(5 * UNIT); // until 6
  made.at(8).pauseFor(5 * UNIT); // until 13
  assertEquals([made.at(12).tokens, made.at(13).tokens, made.at(14).tokens], [3, 3, 4]);
  assert(made.at(14).allow(4));
});

Deno.test("pause: a duration of zero or less, or below a nanosecond, changes nothing", () => {
  const made = createBucket(1);
  for (const delay of [0, -0, -5, "0s", "-1h", -Number.MAX_VALUE, 1e-7]) made.at(3).pauseFor(delay);
  assert(made.bucket.allow());
  made.bucket.pauseFor("750ms");
  for (const delay of [0, -5, "-1h"]) made.bucket.pauseFor(delay); // these delays don't end the pause either
  assertEquals(made.bucket.take(), 3 * UNIT + UNIT);
});

Deno.test("pause: an invalid duration is refused, and changes nothing", () => {
  const { bucket } = createBucket(1);
  const rest = `'duration' must be a duration such as "250ms", "1h30m" or a number of milliseconds, got`;
  const cases: [value: unknown, ErrorClass: typeof RangeError | typeof TypeError, received: string][] = [
    [Infinity, RangeError, "Infinity"],
    [-Infinity, RangeError, "-Infinity"],
    [NaN, RangeError, "NaN"],
    ["soon", TypeError, `"soon"`],
    [undefined, TypeError, "undefined"],
    [{}, TypeError, "an object"],
  ];
  for (const [value, ErrorClass, received] of cases) {
    const { message } = assertThrows(() => bucket.pauseFor(value as number), ErrorClass);
    assertEquals(message, `Cannot pause token bucket: ${rest} ${received}`);
  }
  assert(bucket.allow());
});

Deno.test("pause: an endless pause never ends, and no number is NaN", () => {
  for (const delay of [1e15, Number.MAX_VALUE]) {
    for (const rate of [0, RATE, Infinity]) {
      const made = createBucket(1, rate);
      made.at(5).pauseFor(delay);
      made.bucket.pauseFor(delay);
      assertEquals([made.at(9).take(), made.bucket.reserve().delay], [Infinity, Infinity]);
      assertFalse(made.bucket.allow());
      assert(Number.isFinite(made.bucket.tokens));
    }
  }
});

Deno.test("pause: earlier reservations keep their time, and their tokens are still owed", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const before = made.reserve(0, 2, 2);
  made.at(1).pauseFor(9 * UNIT); // until 10
  assertEquals(before.delay, UNIT);
  assertEquals([made.at(3).tokens, before.delay], [-1, 0]);
  made.reserve(3, 1, 12); // one token is owed, which arrives at 11
  assertEquals(made.at(12).tokens, 0);
});

Deno.test("pause: reservations made during a pause keep their time when another pause follows", () => {
  const made = createBucket(1);
  made.at(0).pauseFor(4 * UNIT);
  const first = made.reserve(1, 1, 4);
  const second = made.reserve(1, 1, 5);
  made.at(2).pauseFor(8 * UNIT); // until 10
  assertEquals([first.delay, second.delay], [2 * UNIT, 3 * UNIT]);
  made.reserve(2, 1, 12);
});

Deno.test("pause: a reservation made before the pause can be cancelled before its time", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const early = made.reserve(0, 1, 1);
  const late = made.reserve(0, 1, 2);
  made.at(0).pauseFor(10 * UNIT);
  made.at(1.5);
  early.cancel(); // returns nothing: `early` has become usable, even though the bucket's own time stands still
  assertEquals(made.bucket.tokens, -2);
  late.cancel();
  assertEquals(made.bucket.tokens, -1);
  made.reserve(1.5, 1, 12);
});

Deno.test("pause: a cancel returns tokens on which no later reservation depends, by the bucket's time", () => {
  const made = createBucket(5);
  made.reserve(0, 5, 0);
  const before = made.reserve(0, 5, 5);
  made.at(1).pauseFor(10 * UNIT); // until 11
  made.reserve(2, 1, 16);
  before.cancel(); // returns four of five tokens, because only one token was reserved afterwards
  assertEquals(made.bucket.tokens, -1);
});

Deno.test("pause: a reservation made during it can be cancelled, during it and after", () => {
  for (const cancelledAt of [2, 4, 5]) {
    const made = createBucket(2);
    made.reserve(0, 2, 0);
    made.bucket.pauseFor(4 * UNIT);
    const first = made.reserve(1, 1, 5);
    const last = made.reserve(1, 1, 6);
    made.at(cancelledAt);
    last.cancel();
    first.cancel();
    assertEquals(made.bucket.tokens, Math.max(cancelledAt - 4, 0));
    made.reserve(cancelledAt, 2, 6);
  }
});

Deno.test("pause: a rate or burst that is set during it applies from its end on", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.at(1).pauseFor(4 * UNIT); // until 5; one token is available
  const reserved = made.reserve(2, 2, 6);
  made.at(3).setRate(2 * RATE);
  assertEquals([made.bucket.tokens, reserved.delay], [-1, 3 * UNIT]);
  made.reserve(4, 1, 6);
  made.at(4).setBurst(4);
  assertEquals([made.at(5).tokens, made.at(6).tokens, made.at(9).tokens], [-2, 0, 4]);

  const smaller = createBucket(3);
  smaller.at(0).pauseFor(UNIT);
  smaller.bucket.setBurst(1);
  assertEquals([smaller.bucket.tokens, smaller.bucket.take(), smaller.bucket.take()], [1, UNIT, 2 * UNIT]);
});

Deno.test("pause: an infinite rate is paused too, whatever the burst, and gives everything at the end", () => {
  const made = createBucket(0, Infinity);
  made.at(1).pauseFor(2 * UNIT);
  assertFalse(made.bucket.allow());
  assertEquals([made.bucket.take(9), made.reserve(2, 1e9, 3).ok], [2 * UNIT, true]);
  assert(made.at(3).allow(9));
});

Deno.test("pause: grants of an infinite rate took no tokens, and return none at a finite rate", () => {
  const made = createBucket(5);
  assert(made.at(0).allow(5));
  made.bucket.setRate(Infinity);
  made.bucket.pauseFor(4 * UNIT);
  const reserved = made.reserve(1, 3, 4);
  made.at(2).setRate(RATE);
  reserved.cancel();
  assertEquals(made.bucket.tokens, 0);
});

Deno.test("pause: at a rate of zero, the tokens in the bucket come at its end, and no others", () => {
  const made = createBucket(2, 0);
  made.at(0).pauseFor(3 * UNIT);
  made.reserve(1, 2, 3);
  const never = made.reserve(1, 1, Infinity);
  assert(never.ok);
  never.cancel();
  assertEquals(made.at(9).tokens, 0);
});

Deno.test("pause: if the clock goes back, the pause still lasts until its end", () => {
  const made = createBucket(2);
  made.at(5).pauseFor(2 * UNIT); // until 7
  made.reserve(3, 1, 7);
  assert(made.at(7).allow());
  assertFalse(made.at(6).allow());
  assertEquals(made.at(8).tokens, 1);
});

Deno.test("pause: times are whole nanoseconds, also after thousands of pauses", () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(10, 1, { clock });
  assert(bucket.allow());
  for (let i = 0; i < 5000; i++) {
    bucket.pauseFor(0.1);
    clock.time += 0.1;
  }
  assertAlmostEquals(bucket.take(), 100, 1e-6); // adding 0.1 to the time 5000 times is inexact
  for (const delay of [0.1, "100us", 33.3]) {
    const other = new TokenBucket(3, 1, { clock: new HandClock(0.7) });
    other.pauseFor(delay);
    const ms = delay === 33.3 ? 33.3 : 0.1;
    assertEquals([other.take(), other.take()], [ms, Math.round(ms * 1e6 + 333_333_333) / 1e6]);
  }
});

Deno.test("pause: an earlier wait is not delayed, a later one waits for the end, and an abort returns tokens", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 1, { clock });
  await bucket.wait();
  const before = bucket.wait();
  bucket.pauseFor(10 * UNIT);
  const stop = new AbortController();
  const aborted = bucket.wait(1, { signal: stop.signal }).catch(() => "aborted");
  const during = bucket.wait(1, { signal: AbortSignal.any([]) });
  await clock.advance(UNIT);
  assert(await isSettled(before));
  stop.abort();
  assertEquals(await aborted, "aborted");
  await flush();
  await clock.advance(11 * UNIT - 1);
  assertFalse(await isSettled(during)); // due at 12: the pause ends at 10, and one token was already owed
  await clock.advance(1);
  await during;
  assertEquals([clock.timers, bucket.tokens], [0, 0]);
});

Deno.test("at rest: full, not paused, and with no reservation ahead", () => {
  const made = createBucket(2);
  assert(made.at(0).atRest());
  assert(made.bucket.allow());
  assertFalse(made.bucket.atRest());
  assertFalse(made.at(0.999).atRest());
  assert(made.at(1).atRest());
  made.bucket.pauseFor(UNIT);
  assertEquals([made.bucket.atRest(), made.at(1.9).atRest(), made.at(2).atRest()], [false, false, true]);
  made.reserve(2, 2, 2);
  made.reserve(2, 2, 4);
  made.bucket.setRate(1e9); // fills the bucket at once, but the reservations keep their times
  assertEquals([made.at(3).tokens, made.bucket.atRest(), made.at(4).atRest()], [2, false, true]);

  const [empty, never, infinite] = [createBucket(0), createBucket(1, 0), createBucket(1, Infinity)];
  assert(empty.bucket.atRest());
  assert(never.bucket.atRest());
  assert(never.bucket.allow());
  assertFalse(never.at(1e9).atRest());
  assert(infinite.bucket.allow(5));
  assert(infinite.bucket.atRest());
});

Deno.test("changes: a listener is called after each change, pause and resume, until it is removed", () => {
  const { bucket } = createBucket(2);
  const heard: string[] = [];
  const end = onBucketChange(bucket, (isPause) => heard.push(isPause ? "pause" : `${bucket.rate}/s, ${bucket.burst}`));
  bucket.setRate(9);
  bucket.setBurst(3);
  bucket.setRate(9);
  bucket.setBurst(3);
  bucket.pauseFor(UNIT);
  bucket.pauseFor(UNIT);
  bucket.pauseFor(0);
  assertThrows(() => bucket.setRate(-1));
  assertEquals(heard, ["9/s, 2", "9/s, 3", "pause"]);
  bucket.resume();
  bucket.resume();
  assertEquals(heard.slice(3), ["9/s, 3"], "the end of a pause is a change");
  end();
  end();
  bucket.setRate(1);
  bucket.pauseFor(UNIT);
  bucket.resume();
  assertEquals(heard.length, 4);
});

Deno.test("changes: a listener that is removed and added again during a change is called at the next change, in the order of the adds", () => {
  const { bucket } = createBucket(2);
  const heard: string[] = [];
  let endOther = () => {};
  const listen = () => {
    const end = onBucketChange(bucket, () => {
      heard.push("one");
      end();
      endOther();
      listen();
    });
  };
  listen();
  endOther = onBucketChange(bucket, () => heard.push("never"));
  const push = () => void heard.push("same");
  onBucketChange(bucket, push);
  onBucketChange(bucket, push)();
  bucket.setRate(9);
  assertEquals(heard, ["one", "same"]);
  bucket.setRate(8);
  assertEquals(heard.slice(2), ["same", "one"]);
});

Deno.test("changes: a third-party bucket never reports any", () => {
  onBucketChange({} as TokenBucket, () => {})();
});

/** Takes tokens of a bucket, possibly future ones, that can be given back unused. */
function grant(bucket: TokenBucket, n = 1): Grant {
  const level = levelOf(bucket);
  return grantTokens(level, n, level.time())!;
}

Deno.test("unused: tokens are returned after their time has come, up to the burst", () => {
  const made = createBucket(3, 0);
  const level = levelOf(made.bucket);
  const [first, second] = [grant(made.bucket), grant(made.bucket, 2)];
  made.at(5);
  giveBackGrant(level, second);
  assertEquals(made.bucket.tokens, 2);
  made.bucket.setBurst(2);
  giveBackGrant(level, first);
  assertEquals(made.bucket.tokens, 2);
});

Deno.test("unused: later reservations keep their time, and do not reduce the returned tokens", () => {
  const { bucket } = createBucket(1);
  const unused = grant(bucket);
  const other = grant(bucket);
  const delay = delayOf(other, levelOf(bucket).time());
  giveBackGrant(levelOf(bucket), unused);
  assertEquals([bucket.tokens + 0, delayOf(other, levelOf(bucket).time())], [0, delay]);
});

Deno.test("unused: before their time has come, tokens are returned as by a cancel", () => {
  const { bucket } = createBucket(1);
  bucket.allow();
  const [one, two] = [grant(bucket), grant(bucket)];
  giveBackGrant(levelOf(bucket), one);
  assertEquals(bucket.tokens, -2, "the second one counts on it");
  giveBackGrant(levelOf(bucket), two);
  assertEquals(bucket.tokens, -1);
});

Deno.test("unused: a bucket with an infinite rate gets nothing back", () => {
  const { bucket } = createBucket(1, 0);
  const unused = grant(bucket);
  bucket.setRate(Infinity);
  giveBackGrant(levelOf(bucket), unused);
  bucket.setRate(0);
  assertEquals(bucket.tokens + 0, 0);
});

Deno.test("pause: reports the time until its end", () => {
  const { at } = createBucket(1);
  assertEquals(at(0).resumesInMs, 0);
  at(0).pauseFor(2 * UNIT);
  assertEquals([at(0).resumesInMs, at(1).resumesInMs, at(2).resumesInMs, at(9).resumesInMs], [2 * UNIT, UNIT, 0, 0]);
});

Deno.test("resume: the bucket continues with the tokens that it had before the pause", () => {
  const made = createBucket(3);
  assert(made.at(0).allow(2));
  made.at(0.5).pauseFor(10 * UNIT);
  made.at(4).resume();
  assertEquals([made.bucket.tokens, made.bucket.resumesInMs], [1.5, 0]);
  assert(made.bucket.allow());
  assertFalse(made.bucket.allow());
  assertEquals([made.at(4.5).tokens, made.at(5).tokens, made.at(99).tokens], [1, 1.5, 3]);
});

Deno.test("resume: does nothing without a pause, a second time, or after the pause's end", () => {
  const made = createBucket(9);
  assert(made.at(0).allow(9));
  made.at(1).resume();
  assertEquals(made.bucket.tokens, 1);
  made.bucket.pauseFor(2 * UNIT); // until 3
  made.at(2).resume();
  made.bucket.resume();
  made.at(3).resume();
  assertEquals(made.bucket.tokens, 2);
  made.bucket.pauseFor(2 * UNIT); // until 5
  made.at(5).resume();
  made.at(6).resume();
  assertEquals([made.bucket.tokens, made.bucket.atRest(), made.at(12).atRest()], [3, false, true]);
});

Deno.test("resume: a later pause may end before the resumed one would have ended", () => {
  const made = createBucket(9);
  assert(made.at(0).allow(9));
  made.bucket.pauseFor(10 * UNIT);
  made.at(2).resume();
  made.at(4).pauseFor(3 * UNIT); // until 7
  assertEquals([made.bucket.tokens, made.at(6).resumesInMs, made.at(7).tokens, made.at(8).tokens], [2, UNIT, 2, 3]);
});

Deno.test("resume: reservations keep their time, and those made in the pause can be made again for an earlier time", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  const before = made.reserve(0, 1, 1);
  made.at(0.5).pauseFor(10 * UNIT); // until 10.5; half a token is owed
  const during = made.reserve(2, 1, 12);
  made.at(4).resume();
  assertEquals([made.bucket.tokens, before.delay, during.delay], [-1.5, 0, 8 * UNIT]);
  during.cancel();
  assertEquals(made.bucket.tokens, -0.5);
  made.reserve(4, 1, 5.5);
});

Deno.test("resume: a reservation made during the pause can be returned before its time", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.bucket.pauseFor(10 * UNIT);
  const [one, two] = [made.reserve(0, 1, 11), made.reserve(0, 1, 12)];
  made.at(1).resume();
  assertEquals(made.at(4).tokens, 1); // the tokens of both reservations had arrived by 3
  one.cancel();
  assertEquals(made.bucket.tokens, 1, "the second one counts on it");
  two.cancel();
  assertEquals(made.bucket.tokens, 2);
  made.at(11.5);
  one.cancel();
  assertEquals(made.bucket.tokens, 2, "as many as the bucket holds");
});

Deno.test("resume: an infinite rate gives any number at once, and a rate of zero gives the tokens in the bucket", () => {
  const [infinite, zero] = [createBucket(0, Infinity), createBucket(2, 0)];
  for (const { bucket } of [infinite, zero]) {
    bucket.pauseFor(2 * UNIT);
    bucket.resume();
  }
  assert(infinite.bucket.allow(9));
  assertEquals([zero.bucket.allow(2), zero.bucket.take()], [true, Infinity]);
});

Deno.test("resume: a new rate or burst set in the pause applies from then on", () => {
  const made = createBucket(2);
  made.reserve(0, 2, 0);
  made.bucket.pauseFor(4 * UNIT);
  made.at(1).setRate(2 * RATE);
  made.bucket.setBurst(4);
  made.at(2).resume();
  assertEquals([made.bucket.tokens, made.at(3).tokens, made.at(9).tokens], [0, 2, 4]);
});

Deno.test("resume: ends an endless pause", () => {
  for (const duration of [1e15, Number.MAX_VALUE]) {
    const made = createBucket(2);
    assert(made.at(5).allow());
    made.bucket.pauseFor(duration);
    made.at(9).resume();
    assertAlmostEquals(made.bucket.tokens, 1, 1e-4);
    assertAlmostEquals(made.at(9.5).tokens, 1.5, 1e-4);
    assertEquals([made.bucket.resumesInMs, made.at(99).tokens], [0, 2]);
  }
});

Deno.test("resume: a clock that goes back does not restore the pause", () => {
  const made = createBucket(2);
  made.at(5).pauseFor(9 * UNIT);
  made.at(7).resume();
  assertEquals(made.at(6).resumesInMs, 0);
  assert(made.bucket.allow(2));
  assertEquals(made.at(8).tokens, 2);
});

Deno.test("resume: times are whole nanoseconds, also after thousands of pauses", () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(10, 1, { clock });
  assert(bucket.allow());
  for (let i = 0; i < 5000; i++) {
    bucket.pauseFor(0.3);
    clock.time += 0.1;
    bucket.resume();
  }
  assertAlmostEquals(bucket.take(), 100, 1e-6); // adding 0.1 to the time 5000 times is inexact
});

Deno.test("resume: waiting calls ask again, in their order, and an abort returns tokens", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(RATE, 1, { clock });
  await bucket.wait();
  bucket.pauseFor(10 * UNIT);
  const stop = new AbortController();
  const waits = [bucket.wait(), bucket.wait(1, { signal: stop.signal }).catch(() => "aborted"), bucket.wait()];
  const settled = () => Promise.all(waits.map(isSettled));
  await clock.advance(2 * UNIT);
  bucket.resume();
  await clock.advance(UNIT - 1);
  assertEquals(await settled(), [false, false, false]);
  await clock.advance(1);
  assertEquals(await settled(), [true, false, false]);
  stop.abort();
  await clock.advance(UNIT);
  assertEquals(await settled(), [true, true, true]);
  assertEquals([await waits[1], clock.timers, bucket.tokens], ["aborted", 0, 0]);

  bucket.setBurst(2);
  await clock.advance(2 * UNIT);
  bucket.pauseFor(UNIT);
  const both = [bucket.wait(), bucket.wait()];
  await flush();
  bucket.resume();
  await flush();
  assertEquals([await isSettled(both[0]!), await isSettled(both[1]!), clock.timers], [true, true, 0]);
});

Deno.test("resume: works on fake time like on any other", async () => {
  using time = new FakeTime();
  const bucket = new TokenBucket(1, 1);
  bucket.pauseFor("1m");
  const wait = bucket.wait();
  await time.tickAsync(10_000);
  assertEquals([await isSettled(wait), bucket.resumesInMs], [false, 50_000]);
  bucket.resume();
  await wait;
  assertEquals(bucket.take(), 1000);
});

Deno.test("wait: a change after its time has come, but before a late timer fires, takes no second token", async () => {
  for (const change of ["setRate", "setBurst", "resume"] as const) {
    const { clock, bucket } = createBucket(1);
    await bucket.wait();
    const wait = bucket.wait();
    await flush();
    if (change === "resume") bucket.pauseFor(9 * UNIT);
    clock.time = 1.5 * UNIT; // the timer has not fired yet
    if (change === "setRate") bucket.setRate(RATE / 2);
    else if (change === "setBurst") bucket.setBurst(2);
    else bucket.resume();
    await flush();
    assertEquals([await isSettled(wait), clock.timers], [true, 0], change);
    assertEquals(bucket.tokens, change === "resume" ? -1 : 0.5, change);
  }
});
