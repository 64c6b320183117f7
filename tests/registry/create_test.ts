/**
 * Tests of building parts from configs: the arguments that `create` receives, and the errors that `create` must not
 * cause.
 */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { type BuildContext, ConfigError, limiters, type RateLimiter, systemClock } from "@workqueue/core";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { HandClock, issuesOf } from "../helpers.ts";
import { CONSTANT, parts, spy } from "./parts.ts";

Deno.test("rule 10: an invalid context, or one with an unknown member, is refused", () => {
  const cases: [context: unknown, rest: string][] = [
    [{ clok: new HandClock() }, `"clok" is not an option here; did you mean "clock"?`],
    [{ clock: 5 }, "'clock' must have timers, and a finite now(), got 5"],
    [{ random: 0.5 }, "'random' must be a function, got 0.5"],
    [null, "'options' must be an object, got null"],
  ];
  for (const [context, rest] of cases) {
    const build = () => limiters.build({ type: "bucket", rate: 1, burst: 1 }, context as BuildContext);
    assertEquals(assertThrows(build, Error).message, `Cannot build limiter: ${rest}`);
  }
});

Deno.test("create gets the source of random numbers", () => {
  const { registry, created } = spy({});
  const random = () => 0.5;
  registry.build({ type: "max-wait", maxDelay: 1, limiter: { type: "spy" } }, { random });
  assertStrictEquals(created[0]?.context.random, random);
});

Deno.test("create gets the clock of the build, or the system clock", () => {
  const { registry, created } = spy({});
  const clock = new HandClock();
  registry.build({ type: "spy" }, { clock });
  registry.build({ type: "max-of", limiters: [{ type: "spy" } as never] }, { clock });
  registry.build({ type: "spy" });
  assertStrictEquals(created[0]?.context.clock, clock);
  assertStrictEquals(created[1]?.context.clock, clock);
  assertStrictEquals(created[2]?.context.clock, systemClock);
});

Deno.test("an error thrown by create is reported with its place, and is the cause", () => {
  const failure = new RangeError("no such curve");
  let thrown: unknown = failure;
  const registry = limiters.extend().register(parts({
    create: () => {
      throw thrown;
    },
  }));
  const config = { type: "max-of", limiters: [{ type: "bucket", rate: 1, burst: 1 }, { type: "custom" }] };
  const error = assertThrows(() => registry.build(config as never), ConfigError);
  assertEquals([...error.issues], [{ path: "/limiters/1", message: "no such curve" }]);
  assertStrictEquals(error.cause, failure);

  thrown = "a text";
  const other = assertThrows(() => registry.build({ type: "custom" }), ConfigError);
  assertEquals([...other.issues], [{ path: "", message: `creating "custom" failed` }]);
  assertEquals(other.cause, "a text");
});

Deno.test("a create that doesn't return a limiter is reported with its place", () => {
  const { when, forget, numRequeues } = CONSTANT;
  const bad = [
    undefined,
    null,
    5,
    "limiter",
    () => 5,
    {},
    { when },
    { forget, numRequeues },
    { when, forget },
    {
      when,
      numRequeues,
    },
    { when: 5, forget, numRequeues },
    Promise.resolve(CONSTANT),
  ];
  for (const limiter of bad) {
    const registry = limiters.extend().register(parts({ create: () => limiter }));
    const config = { type: "max-wait", maxDelay: 1, limiter: { type: "custom" } };
    assertEquals(issuesOf(() => registry.build(config as never)), [
      { path: "/limiter", message: `"custom" created something that is not a rate limiter` },
    ]);
  }
});

Deno.test("a limiter may be an instance of a class", () => {
  class Custom implements RateLimiter {
    when = () => 3;
    forget() {}
    numRequeues() {
      return 0;
    }
  }
  const limiter = new Custom();
  const registry = new LimiterRegistry().register(parts({ create: () => limiter }));
  assertStrictEquals(registry.build({ type: "custom" }), limiter);
});
