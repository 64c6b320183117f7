/** Tests of descriptions of queues as data. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createDefaultControllerLimiter,
  limiters,
  loadConfig,
  type PartDescription,
  type RateLimiter,
  TokenBucket,
} from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import { HandClock } from "../helpers.ts";

const BACKOFF = { type: "exponential", baseDelay: "1s", maxDelay: "1m" };
const BUCKET = { type: "bucket", rate: 2, burst: 3 };

/** Returns a copy of a description as plain data. */
const data = (description: object): unknown => structuredClone(description);

Deno.test("a queue is described as in the document, with durations in milliseconds", () => {
  const config = loadConfig({
    queues: {
      "a/b": {
        limiter: BACKOFF,
        maxSleep: "1s",
        addWhileDelayed: "replace",
        discipline: { type: "fair", separator: "/" },
        throttle: { rate: 5, burst: 1 },
        concurrency: 4,
        maxRetries: 0,
        timeout: "30s",
      },
    },
  });
  assertEquals(data(config.describe("a/b")), {
    name: "a/b",
    limiter: { type: "exponential", path: "/queues/a~1b/limiter", options: { baseDelay: 1000, maxDelay: 60_000 } },
    maxSleep: 1000,
    addWhileDelayed: "replace",
    discipline: { type: "fair", path: "/queues/a~1b/discipline", template: true, options: { separator: "/" } },
    throttle: { type: "bucket", path: "/queues/a~1b/throttle", options: { rate: 5, burst: 1 } },
    concurrency: 4,
    maxRetries: 0,
    timeout: 30_000,
  });
});

Deno.test("a queue without a limiter has the default controller limiter, even if the registry uses those names for other types", () => {
  const expected = {
    name: "q",
    limiter: {
      type: "max-of",
      path: "/queues/q/limiter",
      options: {
        limiters: [
          {
            type: "exponential",
            path: "/queues/q/limiter/limiters/0",
            options: { baseDelay: 5, maxDelay: 1_000_000 },
          },
          { type: "bucket", path: "/queues/q/limiter/limiters/1", options: { rate: 10, burst: 100 } },
        ],
      },
    },
  };
  assertEquals(data(loadConfig({ queues: { q: {} } }).describe("q")), expected);
  const registry = limiters.extend();
  for (const type of ["max-of", "exponential", "bucket"]) registry.unregister(type);
  const config = loadConfig({ queues: { q: {} } }, { limiters: registry });
  assertEquals(data(config.describe("q")), expected);
  const queue = config.queue<string>("q");
  queue.addRateLimited("a");
  assertEquals([queue.numRequeues("a"), queue.delayed], [1, 1]);
});

Deno.test("the default controller limiter does what its config describes", () => {
  const clock = new HandClock();
  const [made, built] = [
    createDefaultControllerLimiter({ clock }),
    limiters.build(defaultControllerConfig, { clock }),
  ];
  for (let i = 0; i < 300; i++) assertEquals(made.when(i % 120), built.when(i % 120));
});

Deno.test("a limiter with two names has the same path under both", () => {
  const config = loadConfig({
    limiters: {
      first: { type: "max-of", limiters: ["also", BACKOFF] },
      also: "shared",
      shared: BUCKET,
    },
    queues: {
      a: { limiter: "first", throttle: "also" },
      b: { limiter: { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: ["shared"] } } },
    },
  });
  const shared = { type: "bucket", path: "/limiters/shared", name: "shared", options: { rate: 2, burst: 3 } };
  assertEquals(data(config.describe("a")), {
    name: "a",
    limiter: {
      type: "max-of",
      path: "/limiters/first",
      name: "first",
      options: {
        limiters: [
          shared,
          { type: "exponential", path: "/limiters/first/limiters/1", options: { baseDelay: 1000, maxDelay: 60_000 } },
        ],
      },
    },
    throttle: shared,
  });
  const template = config.describe("b").limiter.options["limiter"] as PartDescription;
  assertEquals(data(template), {
    type: "max-of",
    path: "/queues/b/limiter/limiter",
    template: true,
    options: { limiters: [shared] },
  });
});

Deno.test("parts built from a description share named parts with the document, and are new otherwise", () => {
  const clock = new HandClock();
  const document = {
    limiters: { shared: BUCKET },
    queues: { q: { limiter: { type: "max-of", limiters: ["shared"] } } },
  };
  const config = loadConfig(document, { clock });
  const limiter = config.describe("q").limiter.create();
  for (let i = 0; i < 3; i++) assertEquals(limiter.when("a"), 0);
  assertEquals(config.bucket("shared").allow(), false);
});

Deno.test("a third-party definition named bucket shows the rate of its bucket", () => {
  const registry = limiters.extend();
  registry.unregister("bucket");
  registry.register({
    type: "bucket",
    description: "",
    options: { perMinute: { kind: "integer", description: "" } },
    create: ({ perMinute }): RateLimiter & { bucket: TokenBucket } => ({
      bucket: new TokenBucket(perMinute / 60, 7),
      when: () => 0,
      forget() {},
      numRequeues: () => 0,
    }),
  });
  const config = loadConfig(
    { limiters: { api: { type: "bucket", perMinute: 30 } }, queues: { q: { throttle: "api" } } },
    {
      limiters: registry,
    },
  );
  const { type, path, name, options } = config.describe("q").throttle!;
  assertEquals({ type, path, name, options }, {
    type: "bucket",
    path: "/limiters/api",
    name: "api",
    options: { rate: 0.5, burst: 7 },
  });
});

Deno.test("a very long chain of names is described, too", () => {
  const chain = Object.fromEntries(
    Array.from({ length: 4000 }, (_, i) => [`l${i}`, { type: "max-wait", maxDelay: 1, limiter: `l${i + 1}` }]),
  );
  const config = loadConfig({ limiters: { ...chain, l4000: BACKOFF }, queues: { q: { limiter: "l0" } } });
  let limiter = config.describe("q").limiter;
  while (limiter.type === "max-wait") limiter = limiter.options["limiter"] as PartDescription<RateLimiter>;
  assertEquals(limiter.name, "l4000");
});

Deno.test("a queue that the document does not have has no description", () => {
  const config = loadConfig({ queues: { images: {} } });
  assertThrows(() => config.describe("imags"), RangeError, 'has none named "imags"; did you mean "images"?');
});

Deno.test("a description uses the definitions that were registered when the document was loaded", () => {
  const registry = limiters.extend();
  const definition = registry.get("exponential");
  const config = loadConfig({ queues: { q: { limiter: BACKOFF } } }, { limiters: registry });
  registry.unregister("exponential");
  assertStrictEquals(config.describe("q").limiter.definition(), definition);
});
