/** Tests of `loadConfigWith`, and of registries that have only some of the built-in types. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  bucket,
  disciplineRegistry,
  exponential,
  fair,
  ignoreEarly,
  limiterRegistry,
  limiters,
  loadConfig,
  loadConfigWith,
  maxOf,
  runWorkers,
} from "@workqueue/core";
import { bucket as bucketThrottle, type ThrottleRegistry, throttleRegistry } from "@workqueue/core/throttles";
import { issuesOf } from "../helpers.ts";

const DOCUMENT = `{
  "limiters": {
    "backoff": { "type": "exponential", "baseDelay": "100ms", "maxDelay": "5m" },
    "retry": { "type": "ignore-early", "limiter": "backoff" }
  },
  "queues": { "mail": { "limiter": "retry", "throttle": { "rate": 9, "burst": 5 }, "concurrency": 4, "maxRetries": 5 } }
}`;

Deno.test("loadConfigWith loads a document that uses only the types of its registries", async () => {
  const config = loadConfigWith(DOCUMENT, {
    limiters: limiterRegistry(exponential, ignoreEarly),
    throttles: throttleRegistry(bucketThrottle),
  });
  assertEquals(config.describe("mail"), loadConfig(DOCUMENT).describe("mail"));
  const queue = config.queue<string>("mail");
  queue.add("a");
  const done: string[] = [];
  runWorkers(queue, (item) => void done.push(item), config.workers("mail"));
  await queue.shutDownWithDrain();
  assertEquals(done, ["a"]);
});

Deno.test("loadConfigWith refuses types that are not in its registries, and an omitted registry has none", () => {
  assertEquals(issuesOf(() => loadConfigWith(DOCUMENT, { limiters: limiterRegistry(exponential) })), [
    { path: "/limiters/retry/type", message: `'type' must be one of "exponential", got "ignore-early"` },
    { path: "/queues/mail/throttle/type", message: `'type' must be that of a registered throttle, got "bucket"` },
  ]);
  const document = {
    limiters: { a: {} },
    queues: { q: { limiter: "a", discipline: { type: "fair" }, throttle: { type: "aimd" } } },
  };
  assertEquals(issuesOf(() => loadConfigWith(document, {})), [
    { path: "/limiters/a/type", message: "missing required option 'type' (that of a registered limiter)" },
    { path: "/queues/q/discipline/type", message: `'type' must be that of a registered discipline, got "fair"` },
    { path: "/queues/q/throttle/type", message: `'type' must be that of a registered throttle, got "aimd"` },
  ]);
  const disciplines = disciplineRegistry(fair);
  loadConfigWith({ queues: {} }, { disciplines });
});

Deno.test("loadConfigWith gives a queue without a limiter the default, if the registry has its types", () => {
  const document = { queues: { q: { concurrency: 2 } } };
  const message =
    "missing required option 'limiter' (the default limiter needs the types 'max-of', 'exponential' and " +
    "'bucket')";
  const registries = [limiterRegistry(exponential, bucket), limiterRegistry(exponential, maxOf), undefined];
  for (const limiters of registries) {
    assertEquals(issuesOf(() => loadConfigWith(document, { limiters })), [{ path: "/queues/q/limiter", message }]);
  }
  const expected = JSON.stringify(loadConfig(document).describe("q"));
  assertEquals(JSON.stringify(loadConfigWith(document, { limiters }).describe("q")), expected);
  const some = limiterRegistry(exponential, bucket, maxOf);
  assertEquals(JSON.stringify(loadConfigWith(document, { limiters: some }).describe("q")), expected);
  // A type of the program that has the name of a built-in one is not part of the default.
  const other = limiterRegistry(bucket, maxOf, { ...exponential, create: () => ({}) } as never);
  assertEquals(issuesOf(() => loadConfigWith(document, { limiters: other })), [{ path: "/queues/q/limiter", message }]);
  // A limiter that is wrong is reported as such.
  assertEquals(issuesOf(() => loadConfigWith({ queues: { q: { limiter: 1 } } }, {})), [
    { path: "/queues/q/limiter", message: "'limiter' must be a limiter or the name of one, got 1" },
  ]);
});

Deno.test("a bucket that is a limiter is a throttle by name even without the type of throttle, but has no definition", () => {
  const document = {
    limiters: { api: { type: "bucket", rate: 9, burst: 5 } },
    queues: { q: { limiter: "api", throttle: "api" } },
  };
  const limiters = limiterRegistry(bucket);
  const describe = (throttles?: ThrottleRegistry) => {
    const config = loadConfigWith(document, { limiters, throttles });
    assertStrictEquals(config.workers("q").throttle, config.bucket("api"));
    const { throttle } = config.describe("q");
    assertEquals([throttle!.type, throttle!.options], ["bucket", { rate: 9, burst: 5 }]);
    return throttle!;
  };
  assertStrictEquals(describe(throttleRegistry(bucketThrottle)).definition(), bucketThrottle as unknown);
  const message = `Cannot describe throttle: the registry of throttles has no type "bucket"`;
  assertThrows(() => describe().definition(), TypeError, message);
});

Deno.test("loadConfig uses the default limiter even if its registry lacks the limiter's types", () => {
  const document = { queues: { q: {} } };
  const config = loadConfig(JSON.stringify(document), { limiters: limiterRegistry(exponential, bucket) });
  assertEquals(JSON.stringify(config.describe("q")), JSON.stringify(loadConfig(document).describe("q")));
});

Deno.test("loadConfigWith refuses wrong options", () => {
  const options: [options: unknown, message: string][] = [
    [{ limitres: limiters }, `Cannot load config: "limitres" is not an option here; did you mean "limiters"?`],
    [{ limiters: [exponential] }, "Cannot load config: 'limiters' must be a registry of limiters"],
    [{ clock: 1 }, "Cannot load config: 'clock' must have timers"],
    [undefined, "Cannot load config: 'options' must be an object"],
  ];
  for (const [wrong, message] of options) {
    assertThrows(() => loadConfigWith("{}", wrong as never), Error, message);
  }
});

Deno.test("a registry has the types that it was given, and refuses the same type twice", () => {
  assertEquals(limiterRegistry(exponential, bucket).types(), ["exponential", "bucket"]);
  assertStrictEquals(limiterRegistry(exponential).get("exponential"), exponential);
  assertThrows(
    () => limiterRegistry(exponential, exponential),
    TypeError,
    `Cannot register limiter: the type "exponential" is registered already`,
  );
  assertThrows(() => throttleRegistry({} as never), TypeError, "Cannot define throttle");
  assertEquals(disciplineRegistry().types(), []);
});
