/** Contract suite of limiters with `update`. */

import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import * as fc from "fast-check";
import type { RateLimiter } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { fail } from "./limiter_suite.ts";
import { type Config, UpdatedLimiter } from "./updated_limiter.ts";

const KEYS = ["a/1", "a/2", "b/1", "c"];
const HOUR = 3_600_000;

const operation = fc.record({
  do: fc.constantFrom("when", "when", "when", "forget", "pass"),
  key: fc.constantFrom(...KEYS),
  ms: fc.nat(3000),
});
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** Creates a limiter with its own clock. */
function make(config: Config, time = 0) {
  const clock = new HandClock(time);
  const live = new UpdatedLimiter(config, { clock, random: () => 0.37 });
  const { limiter } = live;
  const run = (operations: readonly Operation[]) =>
    operations.map(({ do: what, key, ms }) => {
      if (what === "pass") clock.time += ms;
      else if (what === "forget") limiter.forget(key);
      // Changing a bucket settles its tokens in whole nanoseconds, so its delays are rounded here.
      const delay = what === "when" ? Math.round(fail(limiter, key) * 1000) / 1000 : 0;
      return [delay, counts(limiter)];
    });
  return { clock, live, limiter, run };
}

const counts = (limiter: RateLimiter) => KEYS.map((key) => limiter.numRequeues(key));

type Check = (before: Config, after: Config, first: Operation[], then: Operation[]) => void;

/** Number of delays after which the old options no longer influence a limiter that remembers its delays. */
const DELAYS_UNTIL_SETTLED = 100;

/** Exceptions to the contract that a limiter may declare. */
export interface UpdateTraits {
  /**
   * Whether a delay depends on earlier delays, which may come from the old options. Default: `false`, which means that
   * delays depend only on counts.
   */
  readonly remembersDelays?: boolean;
}

const checkCounts: Check = (before, after, first, then) => checkAnswers(before, after, first, then, 0);
const checkCountsOnceSettled: Check = (before, after, first, then) =>
  checkAnswers(before, after, first, then, DELAYS_UNTIL_SETTLED);

/**
 * Checks that an updated limiter gives the same answers as a new limiter with the same counts. Before the comparison,
 * each limiter returns `delays` more delays for each key.
 */
function checkAnswers(before: Config, after: Config, first: Operation[], then: Operation[], delays: number): void {
  const [updated, fresh] = [make(before), make(after)];
  for (const { run } of [updated, fresh]) run(first);
  updated.live.update(after);
  for (const { limiter } of [updated, fresh]) {
    for (const key of KEYS) for (let i = 0; i < delays; i++) fail(limiter, key);
  }
  assertEquals(updated.run(then), fresh.run(then));
}

/** Registers tests of the change from one config to another of the same type, and back. */
export function testLimiterUpdate(
  name: string,
  one: Config,
  other: Config,
  { remembersDelays = false }: UpdateTraits = {},
): void {
  const program = fc.array(operation, { maxLength: 40, size: "max" });
  const test = (what: string, check: Check) =>
    Deno.test(`every update, ${name}: ${what}`, () => {
      for (const [before, after] of [[one, other], [other, one]] as const) {
        fc.assert(fc.property(program, program, (first, then) => check(before, after, first, then)));
      }
    });

  test("the limiter is the same object, and all counts survive", (before, after, first) => {
    const { live, limiter, run } = make(before);
    run(first);
    const counted = counts(limiter);
    live.update(after);
    assertStrictEquals(live.limiter, limiter);
    assertEquals(counts(limiter), counted);
  });

  test("an update to the current options changes nothing", (config, _, first, then) => {
    const [updated, twin] = [make(config), make(config)];
    for (const { run } of [updated, twin]) run(first);
    updated.live.update(config);
    assertEquals(updated.run(then), twin.run(then));
  });

  // Skipped for buckets, because a new bucket is full and a bucket in use is not.
  if (![one, other].some((config) => JSON.stringify(config).includes('"bucket"'))) {
    if (remembersDelays) {
      test(
        "after the update and a number of delays, the limiter acts like a new limiter that has counted the same",
        checkCountsOnceSettled,
      );
      Deno.test(`every update, ${name}: a limiter with the trait 'remembersDelays' needs it`, () => {
        const remembers = [[one, other], [other, one]].some(([before, after]) =>
          fc.check(fc.property(program, program, (first, then) => checkCounts(before!, after!, first, then))).failed
        );
        assert(remembers, "remove 'remembersDelays': the limiter passes without it");
      });
    } else {
      test("after the update, the limiter acts like a new limiter that has counted the same", checkCounts);
    }

    test("after the update, a key that is forgotten is treated as by a new limiter", (before, after, first, then) => {
      const [updated, fresh] = [make(before), make(after)];
      updated.run(first);
      updated.live.update(after);
      for (const key of KEYS) updated.limiter.forget(key);
      assertEquals(updated.run(then), fresh.run(then));
    });
  }

  test(
    "once all keys are forgotten and time has passed, the limiter acts like a new limiter",
    (before, after, first, then) => {
      const updated = make(before);
      updated.run(first);
      updated.live.update(after);
      const fresh = make(after, updated.clock.time += HOUR);
      for (const key of KEYS) updated.limiter.forget(key);
      assert(updated.limiter.atRest?.() ?? true);
      assertEquals(updated.run(then), fresh.run(then));
    },
  );
}
