/** What holds of the `update` of every limiter that has one. */

import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import * as fc from "fast-check";
import type { RateLimiter } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { type Config, UpdatedLimiter } from "./updated_limiter.ts";

const KEYS = ["a/1", "a/2", "b/1", "c"];
const HOUR = 3_600_000;

const operation = fc.record({
  do: fc.constantFrom("when", "when", "when", "forget", "pass"),
  key: fc.constantFrom(...KEYS),
  ms: fc.nat(3000),
});
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** A limiter with a clock of its own. */
function make(config: Config, time = 0) {
  const clock = new HandClock(time);
  const live = new UpdatedLimiter(config, { clock, random: () => 0.37 });
  const { limiter } = live;
  const run = (operations: readonly Operation[]) =>
    operations.map(({ do: what, key, ms }) => {
      if (what === "pass") clock.time += ms;
      else if (what === "forget") limiter.forget(key);
      // A bucket that is changed counts its tokens up to then, in whole nanoseconds.
      const delay = what === "when" ? Math.round(limiter.when(key) * 1000) / 1000 : 0;
      return [delay, counts(limiter)];
    });
  return { clock, live, limiter, run };
}

/** What of a program takes no time, so that no count passes. When they do is each limiter's own business. */
const atOnce = (operations: readonly Operation[]) => operations.filter(({ do: what }) => what !== "pass");

const counts = (limiter: RateLimiter) => KEYS.map((key) => limiter.numRequeues(key));

type Check = (before: Config, after: Config, first: Operation[], then: Operation[]) => void;

/** Registers tests for the change of one config to another, of the same type, and back. */
export function testLimiterUpdate(name: string, one: Config, other: Config): void {
  const program = fc.array(operation, { maxLength: 40 });
  const test = (what: string, check: Check) =>
    Deno.test(`every update, ${name}: ${what}`, () => {
      for (const [before, after] of [[one, other], [other, one]] as const) {
        fc.assert(fc.property(program, program, (first, then) => check(before, after, first, then)));
      }
    });

  test("the limiter is the same object, and all counts survive", (before, after, first) => {
    const { live, limiter, run } = make(before);
    run(atOnce(first));
    const counted = counts(limiter);
    live.update(after);
    assertStrictEquals(live.limiter, limiter);
    assertEquals(counts(limiter), counted);
  });

  test("an update to the options that it has changes nothing", (config, _, first, then) => {
    const [updated, twin] = [make(config), make(config)];
    for (const { run } of [updated, twin]) run(first);
    updated.live.update(config);
    assertEquals(updated.run(then), twin.run(then));
  });

  // A bucket has tokens beside counts: new ones are full, and those in use are not.
  if (![one, other].some((config) => JSON.stringify(config).includes('"bucket"'))) {
    test("from then on it answers as a new one that has counted the same", (before, after, first, then) => {
      const [updated, fresh] = [make(before), make(after)];
      for (const { run } of [updated, fresh]) run(atOnce(first));
      updated.live.update(after);
      assertEquals(updated.run(atOnce(then)), fresh.run(atOnce(then)));
    });
  }

  test("once all is forgotten and time has passed, it is a new one", (before, after, first, then) => {
    const updated = make(before);
    updated.run(first);
    updated.live.update(after);
    const fresh = make(after, updated.clock.time += HOUR);
    for (const key of KEYS) updated.limiter.forget(key);
    assert(updated.limiter.atRest?.() ?? true);
    assertEquals(updated.run(then), fresh.run(then));
  });
}
