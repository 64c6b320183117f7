/** Tests of descriptions, which represent configs as plain data. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { ConfigError, disciplines, limiters, type PartDescription, type RateLimiter } from "@workqueue/core";
import { HandClock, issuesOf } from "../helpers.ts";

/** Returns a copy of a description as plain data. */
const data = (description: PartDescription) => structuredClone(description);

Deno.test("a description is data: types, places, options in milliseconds with defaults, parts, and marked templates", () => {
  const description = limiters.describe({
    type: "max-of",
    limiters: [
      { type: "exponential", baseDelay: "5ms", maxDelay: "1m" },
      { type: "per-group", separator: "/", limiter: { type: "bucket", rate: Infinity, burst: 3 } },
      {
        type: "jitter",
        spread: 0.5,
        limiter: { type: "fast-slow", fastDelay: 1, slowDelay: "2s", maxFastAttempts: 3 },
      },
    ],
  });
  assertEquals<unknown>(data(description), {
    type: "max-of",
    path: "",
    options: {
      limiters: [
        {
          type: "exponential",
          path: "/limiters/0",
          options: { baseDelay: 5, maxDelay: 60_000 },
        },
        {
          type: "per-group",
          path: "/limiters/1",
          options: {
            separator: "/",
            limiter: {
              type: "bucket",
              path: "/limiters/1/limiter",
              template: true,
              options: { rate: Infinity, burst: 3 },
            },
          },
        },
        {
          type: "jitter",
          path: "/limiters/2",
          options: {
            spread: 0.5,
            limiter: {
              type: "fast-slow",
              path: "/limiters/2/limiter",
              options: { fastDelay: 1, slowDelay: 2000, maxFastAttempts: 3 },
            },
          },
        },
      ],
    },
  });
});

Deno.test("an omitted option without a default is absent", () => {
  const fair = disciplines.describe({ type: "fair", separator: "/", maxPerGroup: undefined });
  assertEquals(Object.keys(fair.options), ["separator"]);
});

Deno.test("a list of durations is described in milliseconds", () => {
  assertEquals<unknown>(data(limiters.describe({ type: "steps", delays: ["5s", 5, "2h"] })), {
    type: "steps",
    path: "",
    options: { delays: [5000, 5, 7_200_000] },
  });
});

Deno.test("disciplines are described, too, with weights as an object and infinite durations as infinity", () => {
  const description = disciplines.describe({
    type: "fair",
    separator: "/",
    weights: { big: 2 },
    within: { type: "priority", maxHeadStart: "unlimited" },
  });
  assertEquals<unknown>(data(description), {
    type: "fair",
    path: "",
    options: {
      separator: "/",
      weights: { big: 2 },
      within: {
        type: "priority",
        path: "/within",
        template: true,
        options: { min: -100, max: 100, maxHeadStart: Infinity },
      },
    },
  });
});

Deno.test("a part can be created from its description, any number of times, with the description's context", () => {
  const clock = new HandClock();
  const description = limiters.describe({ type: "bucket", rate: 1, burst: 1 }, { clock });
  const [one, two] = [description.create(), description.create()];
  assertEquals([one.when("a"), one.when("a"), two.when("a")], [0, 1000, 0]);
  clock.time += 500;
  assertEquals(one.when("a"), 1500);
});

Deno.test("parts inside a part, and parts that a template creates, can be created from their descriptions", () => {
  const { options } = limiters.describe({
    type: "per-group",
    separator: "/",
    limiter: { type: "exponential", baseDelay: 7, maxDelay: 9 },
  });
  assertEquals((options["limiter"] as PartDescription<RateLimiter>).create().when("a"), 7);
});

Deno.test("describing builds nothing, and uses the definitions with which the config was checked", () => {
  let built = 0;
  const registry = limiters.extend().register({
    type: "mine",
    description: "",
    options: { n: { kind: "integer", description: "", default: 4 } },
    create: ({ n }) => {
      built++;
      if (n === 0) throw new Error("not today");
      return { when: () => n, forget() {}, numRequeues: () => 0 };
    },
  });
  const definition = registry.get("mine");
  const [good, bad] = [registry.describe({ type: "mine" }), registry.describe({ type: "mine", n: 0 })];
  registry.unregister("mine");
  assertEquals([built, good.options], [0, { n: 4 }]);
  assertStrictEquals(good.definition(), definition);
  assertEquals(good.create().when("a"), 4);
  assertThrows(() => bad.create(), ConfigError, "Cannot describe limiter: not today");
});

Deno.test("an invalid config has no description: every problem is reported, as when it is built", () => {
  const config = { type: "max-of", limiters: [{ type: "bucket", rate: -1, burst: 0.5 }, "shared"] } as never;
  assertEquals(issuesOf(() => limiters.describe(config)), issuesOf(() => limiters.build(config)));
  assertEquals(issuesOf(() => limiters.describe(config)).map(({ path }) => path), [
    "/limiters/0/rate",
    "/limiters/0/burst",
    "/limiters/1",
  ]);
  assertThrows(
    () => limiters.describe({ type: "bucket", rate: 1, burst: 1 }, { clock: {} } as never),
    TypeError,
    "Cannot describe limiter: 'clock' must have timers, and a finite now()",
  );
  // @ts-expect-error A built-in limiter has no such option.
  assertThrows(() => limiters.describe({ type: "bucket", rate: 1, burst: 1, burts: 1 }), ConfigError, "burst");
});
