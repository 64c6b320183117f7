/** Tests of all queue options except limiters: disciplines, throttles, and adding an item that is delayed. */

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createPriorityDiscipline,
  defineDiscipline,
  type DisciplineRegistry,
  disciplines,
  limiters,
  loadConfig,
  type LoadConfigOptions,
  runWorkers,
  TokenBucket,
  type WorkLease,
} from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HandClock, issuesOf } from "../helpers.ts";
import { flush, PlainLifo, sourceOf, takeAll } from "../queue_helpers.ts";

const FAIR = {
  type: "fair",
  separator: "/",
  within: { type: "priority", maxHeadStart: "1m" },
};

Deno.test("a queue has the discipline that the document sets", () => {
  const config = loadConfig({ queues: { q: { discipline: FAIR } } }, { clock: new HandClock() });
  const queue = config.queue<string>("q");
  for (const key of ["a/1", "a/2", "a/3", "b/1"]) queue.add(key);
  queue.add("a/3", { priority: 5 });
  assertEquals(takeAll(queue), ["a/3", "b/1", "a/1", "a/2"]);
});

Deno.test("each queue that is created has its own discipline, built anew", () => {
  const config = loadConfig({ queues: { q: { discipline: { type: "priority" } }, r: {} } });
  const [one, two] = [config.queue<string>("q"), config.queue<string>("q")];
  one.add("a");
  assertEquals([one.length, two.length], [1, 0]);
});

Deno.test("a discipline given in code overrides the document's, which is not built then", () => {
  let built = 0;
  const registry = disciplines.extend().register(defineDiscipline({
    type: "mine",
    description: "",
    options: {},
    create: () => {
      built++;
      return new PlainLifo();
    },
  }));
  const config = loadConfig({ queues: { q: { discipline: { type: "mine" } } } }, { disciplines: registry });
  assertEquals(built, 1); // loading creates the discipline once, as a check
  const strict = createPriorityDiscipline<string>({ maxHeadStart: Infinity });
  const queue = config.queue<string>("q", { discipline: strict });
  ["a", "b"].forEach((item, priority) => queue.add(item, { priority }));
  assertEquals([takeAll(queue), built], [["b", "a"], 1]);
  const lifo = config.queue<string>("q", { discipline: undefined });
  for (const item of ["a", "b"]) lifo.add(item);
  assertEquals([takeAll(lifo), built], [["b", "a"], 2]);
});

Deno.test("a discipline that can't be built is a problem of the document, with its place", () => {
  const registry = disciplines.extend().register(defineDiscipline({
    type: "bad",
    description: "",
    options: {},
    create: () => {
      throw new Error("not today");
    },
  }));
  const discipline = { type: "fair", separator: "/", within: { type: "bad" } };
  assertEquals(issuesOf(() => loadConfig({ queues: { q: { discipline } } }, { disciplines: registry })), [
    { path: "/queues/q/discipline/within", message: "not today" },
  ]);
});

Deno.test("addWhileDelayed is passed on to the queue", () => {
  const queues = { keeps: {}, replaces: { addWhileDelayed: "replace" }, folds: { addWhileDelayed: "fold" } };
  const config = loadConfig({ queues });
  const lengths = ["keeps", "replaces", "folds"].map((name) => {
    using queue = config.queue<string>(name);
    queue.add("a");
    const lease = queue.tryGet()!;
    const attempt = { lease: lease as WorkLease<string>, key: "a", number: 1 };
    sourceOf(queue).finish(attempt, { kind: "failed", error: "down", minDelay: 10_000 }, () => {});
    lease[Symbol.dispose]();
    queue.add("a");
    return [queue.length, queue.delayed];
  });
  assertEquals(lengths, [[1, 1], [1, 0], [0, 1]]);
});

Deno.test("throttle is a token bucket, which all pools of a queue share", () => {
  const clock = new HandClock();
  const config = loadConfig({ queues: { q: { throttle: { rate: 2, burst: 3 } }, r: {} } }, { clock });
  const { throttle } = config.workers("q");
  assertStrictEquals(config.workers("q").throttle, throttle);
  assert(throttle instanceof TokenBucket);
  assertEquals([throttle.rate, throttle.burst, throttle.tokens], [2, 3, 3]);
  assert(throttle.allow(3));
  clock.time = 500;
  assertEquals(throttle.tokens, 1);
  assertFalse("throttle" in config.workers("r"));
});

Deno.test("pools that run with a queue's document options begin attempts at that rate, together", async () => {
  const clock = new HandClock();
  const config = loadConfig({ queues: { q: { throttle: { rate: 1, burst: 2 } } } }, { clock });
  const queue = config.queue<number>("q");
  for (let i = 0; i < 5; i++) queue.add(i);
  const begun: number[] = [];
  const pools = [1, 2].map(() => runWorkers(queue, (item) => void begun.push(item), config.workers("q")));
  await flush();
  assertEquals(begun, [0, 1]);
  await clock.advance(2000);
  assertEquals(begun, [0, 1, 2, 3]);
  for (const pool of pools) await pool.stop();
});

Deno.test("throttle may name a bucket limiter, and takes tokens from the same bucket", () => {
  const limiters = {
    again: "api",
    api: { type: "bucket", rate: 1, burst: 5 },
    slow: { type: "exponential", baseDelay: 1, maxDelay: 2 },
  };
  const config = loadConfig({ limiters, queues: { q: { throttle: "api" }, r: { limiter: "api", throttle: "again" } } });
  const bucket = config.bucket("api");
  assert(bucket instanceof TokenBucket);
  assertStrictEquals(config.workers("q").throttle, bucket);
  assertStrictEquals(config.workers("r").throttle, bucket);
  assertStrictEquals(config.bucket("again"), bucket);
  config.limiter("api").when("a");
  assertEquals(bucket.tokens < 5, true);
});

Deno.test("only the name of a bucket is accepted as a bucket, and a similar name of a bucket is suggested", () => {
  const slow = { type: "exponential", baseDelay: 1, maxDelay: 2 };
  const limiters = {
    api: { type: "bucket", rate: 1, burst: 5 },
    slow,
    both: { type: "max-of", limiters: ["api"] },
    sloth: "slow",
  };
  const config = loadConfig({ limiters });
  for (const name of ["slow", "both", "sloth", "apo", "q", ""]) {
    const hint = name === "apo" ? `; did you mean "api"?` : "";
    const message = `Cannot get bucket: the config has none named "${name}"${hint}`;
    assertEquals(assertThrows(() => config.bucket(name), RangeError).message, message);
  }
  const queues = { a: { throttle: "slow" }, b: { throttle: "apo" }, c: { throttle: "both" } };
  assertEquals(issuesOf(() => loadConfig({ limiters, queues })), [
    { path: "/queues/a/throttle", message: `"slow" is not the name of a throttle here` },
    { path: "/queues/b/throttle", message: `"apo" is not the name of a throttle here; did you mean "api"?` },
    { path: "/queues/c/throttle", message: `"both" is not the name of a throttle here` },
  ]);
});

Deno.test("every problem with a queue's options is reported at its place", () => {
  const queues = {
    q: {
      discipline: { type: "fair", separator: "", weights: { a: -1 }, within: { type: "priorty" } },
      addWhileDelayed: "drop",
      throttle: { type: "bucket", rate: -1, brust: 5 },
    },
    r: { discipline: "fair", throttle: 5 },
  };
  const types = disciplines.types().map((type) => `"${type}"`).join(", ");
  assertEquals(issuesOf(() => loadConfig({ queues })).map(({ path, message }) => `${path}: ${message}`).sort(), [
    `/queues/q/addWhileDelayed: 'addWhileDelayed' must be one of "keep", "replace", "fold", got "drop"`,
    `/queues/q/discipline/separator: 'separator' must be a non-empty string, got ""`,
    "/queues/q/discipline/weights/a: 'weights.a' must be a number from 0.001 to 1000, got -1",
    `/queues/q/discipline/within/type: 'type' must be one of ${types}, got "priorty"; ` +
    `did you mean "priority"?`,
    `/queues/q/throttle/brust: "brust" is not an option here; did you mean "burst"?`,
    "/queues/q/throttle/burst: missing required option 'burst' (maximum number of attempts that start at once)",
    "/queues/q/throttle/rate: 'rate' must be a non-negative number, got -1",
    `/queues/r/discipline: 'discipline' must be a discipline, an object such as { "type": "fair" }, got "fair"`,
    "/queues/r/throttle: 'throttle' must be a throttle or the name of one, got 5",
  ]);
});

Deno.test("the given registry of disciplines is used to read a document and to make the schema", () => {
  const registry = disciplines.extend().register(defineDiscipline({
    type: "lifo",
    description: "The newest first.",
    options: {},
    create: () => new PlainLifo(),
  }));
  const document = { queues: { q: { discipline: { type: "lifo" } } } };
  assertEquals(issuesOf(() => loadConfig(document)).map(({ path }) => path), ["/queues/q/discipline/type"]);
  const queue = loadConfig(document, { disciplines: registry }).queue<string>("q");
  for (const item of ["a", "b"]) queue.add(item);
  assertEquals(takeAll(queue), ["b", "a"]);

  const isValid = (options?: { disciplines: DisciplineRegistry }) =>
    new Ajv2020({ strict: true, strictNumbers: false }).compile(configSchema(options))(document);
  assertEquals([isValid(), isValid({ disciplines: registry })], [false, true]);
});

Deno.test("a value that is not a registry of disciplines is refused", () => {
  for (const bad of [5, {}, "disciplines"]) {
    const options = { disciplines: bad } as unknown as LoadConfigOptions;
    assertThrows(() => loadConfig({}, options), Error, "'disciplines' must be a registry of disciplines, got");
    assertThrows(() => configSchema(options), Error, "'disciplines' must be a registry of disciplines, got");
  }
});

Deno.test("a limiter type that is named bucket and has no bucket is a problem of the document", () => {
  const registry = limiters.extend();
  registry.unregister("bucket");
  const create = () => ({ when: () => 0, forget() {}, numRequeues: () => 0 });
  registry.register({ type: "bucket", description: "", options: {}, create });
  assertEquals(issuesOf(() => loadConfig({ limiters: { "a/b": { type: "bucket" } } }, { limiters: registry })), [
    { path: "/limiters/a~1b", message: `"bucket" created a limiter without a token bucket` },
  ]);
});
