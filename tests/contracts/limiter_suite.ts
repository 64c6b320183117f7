/** Contract suite of rate limiters, built-in and third-party. */

import { assert, assertEquals } from "@std/assert";
import type { BuildContext, RateLimiter } from "@workqueue/core";
import { HandClock } from "../helpers.ts";

/**
 * Counts the failure of an attempt that began late. A limiter that ignores early failures doesn't ignore it.
 *
 * @returns The delay.
 */
export function fail(limiter: RateLimiter<unknown>, item: unknown, key: unknown = item): number {
  return limiter.when(item, key, { startedAt: Infinity });
}

/**
 * Registers the suite for one limiter.
 *
 * @param create Creates a new limiter with the clock and the source of random numbers of the context.
 * @param keysAreTexts Whether the limiter accepts only strings as keys.
 */
export function testLimiter(
  name: string,
  create: (context: BuildContext) => RateLimiter<unknown>,
  { keysAreTexts = false } = {},
): void {
  const make = () => create({ clock: new HandClock(), random: () => 0.5 });

  Deno.test(`every limiter, ${name}: each delay is a finite number, and none is negative`, () => {
    const limiter = make();
    for (let i = 0; i < 3000; i++) {
      const delay = fail(limiter, i % 3 === 0 ? "often" : `item ${i}`);
      assert(Number.isFinite(delay) && delay >= 0, `a delay of ${delay}`);
    }
  });

  Deno.test(`every limiter, ${name}: counts the calls of when for an item since it was last forgotten, or nothing`, () => {
    const limiter = make();
    assertEquals(limiter.numRequeues("a"), 0);
    fail(limiter, "a");
    const counted = limiter.numRequeues("a"); // 0 if the limiter doesn't count
    for (let i = 2; i <= 5; i++) {
      fail(limiter, "a");
      assertEquals(limiter.numRequeues("a"), i * counted);
    }
    limiter.forget("a");
    assertEquals(limiter.numRequeues("a"), 0);
    fail(limiter, "a");
    assertEquals(limiter.numRequeues("a"), counted);
  });

  Deno.test(`every limiter, ${name}: the method 'next', if there is one, returns the same as the method 'when' of an equal limiter`, () => {
    const [limiter, byHand] = [make(), make()];
    if (limiter.next === undefined) return;
    const retry = { startedAt: Infinity, dueAt: undefined, minDelay: 0 };
    for (let round = 0; round < 2; round++) {
      for (let failures = 1; failures <= 50; failures++) {
        assertEquals(limiter.next(failures, "a", "a", retry), fail(byHand, "a"), `${failures} failures`);
      }
      assertEquals(limiter.next(1, "b", "b", retry), fail(byHand, "b"));
      limiter.forgotten?.("a", "a");
      limiter.forgotten?.("b", "b");
      byHand.forget("a");
      byHand.forget("b");
    }
  });

  Deno.test(`every limiter, ${name}: each item has its own count, and forgetting an item leaves the other counts alone`, () => {
    const limiter = make();
    for (const item of ["a", "b", "b"]) fail(limiter, item);
    const counted = limiter.numRequeues("a");
    assertEquals(limiter.numRequeues("b"), 2 * counted);
    limiter.forget("a");
    limiter.forget("never seen");
    assertEquals([limiter.numRequeues("a"), limiter.numRequeues("b")], [0, 2 * counted]);
  });

  Deno.test(`every limiter, ${name}: rule 8: counts by the key, or by the item if no key is given`, () => {
    const limiter = make();
    fail(limiter, { id: 1 }, "one"); // the same key, but a new object in each call
    const counted = limiter.numRequeues({ id: 1 }, "one");
    fail(limiter, { id: 1 }, "one");
    fail(limiter, { id: 2 }, "two");
    fail(limiter, "one"); // without a key, the item itself is the key
    assertEquals(limiter.numRequeues({}, "one"), 3 * counted);
    assertEquals(limiter.numRequeues("one"), 3 * counted);
    limiter.forget({}, "one");
    assertEquals([limiter.numRequeues("one"), limiter.numRequeues({}, "two")], [0, counted]);

    if (keysAreTexts) return;
    const item = {};
    fail(limiter, item);
    assertEquals([limiter.numRequeues(item), limiter.numRequeues({})], [counted, 0]); // compared by identity
    limiter.forget(item);
    assertEquals(limiter.numRequeues(item), 0);
  });

  Deno.test(`every limiter, ${name}: keys are compared as in a Map, whatever they are`, () => {
    const limiter = make();
    const keys = [
      "__proto__",
      "constructor",
      "toString",
      "",
      0,
      NaN,
      null,
      undefined,
      1,
      "1",
      false,
      1n,
      Symbol("key"),
    ];
    for (const key of keys) {
      if (keysAreTexts && typeof key !== "string") continue;
      const item = Symbol("item");
      assertEquals(limiter.numRequeues(item, key), 0);
      fail(limiter, item, key);
      const counted = limiter.numRequeues(item, key);
      fail(limiter, item, key);
      assertEquals(limiter.numRequeues(item, key), 2 * counted);
    }
  });

  Deno.test(`every limiter, ${name}: two limiters with the same options share nothing`, () => {
    const [one, two] = [make(), make()];
    const delays = Array.from({ length: 20 }, () => fail(one, "a"));
    assertEquals(two.numRequeues("a"), 0);
    assertEquals(Array.from({ length: 20 }, () => fail(two, "a")), delays);
  });

  Deno.test(`every limiter, ${name}: a thousand keys that come and go don't affect the count of another one`, () => {
    const limiter = make();
    fail(limiter, "stays");
    const counted = limiter.numRequeues("stays");
    for (let i = 0; i < 1000; i++) {
      fail(limiter, `passes ${i % 50}`);
      limiter.forget(`passes ${i % 50}`);
      assertEquals(limiter.numRequeues(`passes ${i % 50}`), 0);
    }
    assertEquals(limiter.numRequeues("stays"), counted);
  });

  Deno.test(`every limiter, ${name}: a limiter at rest does the same as a new one, or it never reports being at rest`, () => {
    const clock = new HandClock();
    const random = () => 0.5;
    const limiter = create({ clock, random });
    const canTell = limiter.atRest?.() ?? false;
    for (let i = 0; i < 20; i++) fail(limiter, `item ${i % 3}`);
    assertEquals(limiter.atRest?.() ?? false, false);
    for (let i = 0; i < 3; i++) limiter.forget(`item ${i}`);
    clock.time += 3_600_000;
    assertEquals(limiter.atRest?.() ?? false, canTell);
    if (!canTell) return;
    const fresh = create({ clock, random });
    for (let i = 0; i < 20; i++) assertEquals(fail(limiter, "a"), fail(fresh, "a"));
  });
}
