/** Tests of limiters and queues built from a config. */

import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  ConfigError,
  createDefaultItemLimiter,
  InMemoryMetrics,
  limiters,
  loadConfig,
  type RateLimiter,
  runWorkers,
} from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { LimiterRegistry } from "@workqueue/core/limiters";
import { HandClock, issuesOf, pathsOf } from "../helpers.ts";
import { takeAll } from "../queue_helpers.ts";
import { countingRegistry, EXPONENTIAL } from "./documents.ts";

Deno.test("an empty config describes no queues", () => {
  for (const source of ["{}", {}, '{"limiters":{},"queues":{}}', { $schema: "./schema.json" }, Object.create(null)]) {
    const config = loadConfig(source);
    assertEquals([config.limiterNames, config.queueNames], [[], []]);
  }
});

Deno.test("a config may be JSON text or an object, with durations as strings and numbers", () => {
  const document = {
    $schema: "https://example.org/schema.json",
    limiters: {
      gentle: { type: "exponential", baseDelay: "10ms", maxDelay: 60_000 },
      api: { type: "bucket", rate: 5, burst: 2 },
    },
    queues: {
      images: { limiter: "gentle", concurrency: 4, maxRetries: 0, timeout: "30s", maxSleep: 500 },
      mails: { limiter: { type: "max-of", limiters: ["gentle", "api"] }, timeout: 1500 },
      rest: {},
    },
  };
  for (const source of [document, JSON.stringify(document), JSON.stringify(document, null, "\t")]) {
    const config = loadConfig(source);
    assertEquals(config.limiterNames, ["gentle", "api"]);
    assertEquals(config.queueNames, ["images", "mails", "rest"]);
    assertEquals(config.limiter("gentle").when("a"), 10);
    assertEquals(config.workers("images"), { concurrency: 4, maxRetries: 0, timeout: 30_000 });
    assertEquals(config.workers("mails"), { timeout: 1500 });
    assertEquals(Object.keys(config.workers("rest")), []);
  }
});

Deno.test("an undefined value in a document counts as omitted, wherever it is", () => {
  const config = loadConfig({
    $schema: undefined,
    xyzzy: undefined,
    limiters: { a: { ...EXPONENTIAL, xyzzy: undefined } },
    queues: { q: { limiter: undefined, timeout: undefined, xyzzy: undefined } },
  });
  assertEquals([config.limiterNames, config.workers("q")], [["a"], {}]);
});

Deno.test("loading a document does not change it", () => {
  const document = { limiters: { a: "b", b: { ...EXPONENTIAL } }, queues: { q: { limiter: "a" } } };
  const before = structuredClone(document);
  loadConfig(document);
  assertEquals(document, before);
});

Deno.test("changing the document after it was loaded has no effect", () => {
  const document = { limiters: { a: { ...EXPONENTIAL } }, queues: { q: { limiter: "a", concurrency: 1 } } };
  const config = loadConfig(document);
  document.limiters.a.baseDelay = 50;
  document.queues.q.concurrency = 9;
  assertEquals(config.limiter("a").when("x"), 1);
  assertEquals(config.workers("q"), { concurrency: 1 });
});

Deno.test("a queue takes its limiter from the document", () => {
  const clock = new HandClock();
  const config = loadConfig({ queues: { q: { limiter: { ...EXPONENTIAL, baseDelay: 40 } } } }, { clock });
  const queue = config.queue<string>("q");
  assertEquals(queue.name, "q");
  queue.addRateLimited("a");
  assertEquals([queue.delayed, clock.delays, queue.numRequeues("a")], [1, [40], 1]);
});

Deno.test("a queue that names no limiter has client-go's default limiter, on the clock of the config", async () => {
  const clock = new HandClock();
  const queue = loadConfig({ queues: { q: {} } }, { clock }).queue<number>("q");
  for (let item = 0; item < 101; item++) queue.addRateLimited(item);
  await clock.advance(5);
  assertEquals([queue.length, queue.delayed], [100, 1]);
  await clock.advance(95);
  assertEquals([queue.length, queue.delayed], [101, 0]);
});

Deno.test("without a clock, a config uses the time of the runtime", () => {
  using time = new FakeTime();
  const config = loadConfig({
    limiters: { b: { type: "bucket", rate: 10, burst: 1 } },
    queues: { q: { limiter: "b" } },
  });
  using queue = config.queue<string>("q");
  queue.addRateLimited("a");
  queue.addRateLimited("b");
  time.tick(99);
  assertEquals([queue.length, queue.delayed], [1, 1]);
  time.tick(1);
  assertEquals([queue.length, queue.delayed], [2, 0]);
});

Deno.test("queues that name the same limiter share it: two queues, one bucket", () => {
  const clock = new HandClock();
  const config = loadConfig({
    limiters: { api: { type: "bucket", rate: 10, burst: 3 }, own: { type: "bucket", rate: 10, burst: 3 } },
    queues: { one: { limiter: "api" }, two: { limiter: "api" }, three: { limiter: "own" } },
  }, { clock });
  const [one, two, three] = ["one", "two", "three"].map((name) => config.queue<number>(name));
  one!.addRateLimited(1);
  two!.addRateLimited(2);
  one!.addRateLimited(3);
  assertEquals([one!.length, two!.length], [2, 1]);
  two!.addRateLimited(4); // the bucket's three tokens are used up
  three!.addRateLimited(5);
  assertEquals([two!.length, two!.delayed, three!.length], [1, 1, 1]);
});

Deno.test("a limiter is built once and shared by all queues that name it", () => {
  const { created, registry } = countingRegistry();
  const config = loadConfig({
    limiters: {
      both: { type: "max-of", limiters: ["c", "c", { type: "max-wait", limiter: "c", maxDelay: 1000 }] },
      c: { type: "count", name: "c" },
    },
    queues: { one: { limiter: "c" }, two: { limiter: "both" } },
  }, { limiters: registry, clock: new HandClock() });
  assertEquals(created, ["c"]);
  const c = config.limiter("c");
  assertStrictEquals(config.limiter("c"), c);
  c.when("x");
  assertEquals(c.numRequeues("x"), 1);
  config.limiter("both").when("x");
  assertEquals(c.numRequeues("x"), 4); // three more calls to the limiter
  const [one, two] = [config.queue("one"), config.queue("two")];
  for (const queue of [one, two, two]) queue.addRateLimited("x");
  assertEquals([one.numRequeues("x"), two.numRequeues("x"), c.numRequeues("x")], [1, 2, 4]); // each queue counts
  assertEquals(created.length, 1);
});

Deno.test("queues created under one name share their limiter, even their inline limiter, and count separately", () => {
  const bucket = { type: "bucket", rate: 1, burst: 1 };
  const limiter = { type: "max-of", limiters: [EXPONENTIAL, bucket] };
  const clock = new HandClock();
  const config = loadConfig({ queues: { q: { limiter }, r: { limiter } } }, { clock });
  const [one, other, apart] = ["q", "q", "r"].map((name) => config.queue<string>(name));
  for (const queue of [one!, one!, other!, apart!]) queue.addRateLimited("a");
  assertEquals([one, other, apart].map((queue) => queue!.numRequeues("a")), [2, 1, 1]);
  const dues = [one, other, apart].map((queue) => queue!.snapshot().delayedItems[0]!.dueInMs);
  assertEquals(dues, [1, 2000, 1], "the bucket has no token left for the second queue");
  assert(config.queue("q") !== config.queue("q"));
});

Deno.test("a limiter that is a name is an alias: the same limiter under another name", () => {
  const config = loadConfig({
    limiters: { one: "two", two: "three", three: EXPONENTIAL },
    queues: { q: { limiter: "one" } },
  });
  assertStrictEquals(config.limiter("one"), config.limiter("three"));
  assertStrictEquals(config.limiter("two"), config.limiter("three"));
  assertEquals(config.limiterNames, ["one", "two", "three"]);
});

Deno.test("limiters are created after the limiters that they name, whatever the order of the document", () => {
  const parts = {
    top: { type: "count", name: "top", of: ["left", "right", { type: "count", name: "inline", of: ["leaf"] }] },
    left: { type: "count", name: "left", of: ["leaf"] },
    right: { type: "count", name: "right", of: ["left", "leaf"] },
    leaf: { type: "count", name: "leaf" },
    alias: "top",
  };
  const names = Object.keys(parts) as (keyof typeof parts)[];
  for (let turn = 0; turn < names.length; turn++) {
    names.push(names.shift()!);
    for (const order of [names, names.toReversed()]) {
      const { created, registry } = countingRegistry();
      loadConfig({ limiters: Object.fromEntries(order.map((name) => [name, parts[name]])) }, { limiters: registry });
      assertEquals(created.toSorted(), ["inline", "leaf", "left", "right", "top"]);
      const place = (name: string) => created.indexOf(name);
      assert(place("leaf") < place("left") && place("left") < place("right"), created.join());
      assert(place("right") < place("top") && place("inline") < place("top"), created.join());
    }
  }
});

Deno.test("clock and metrics are passed to the queues, and options of queue() override the document's", () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const config = loadConfig({ queues: { q: { maxSleep: 200 } } }, { clock, metrics });
  const queue = config.queue<{ id: number }>("q", { keyOf: ({ id }) => id });
  queue.addAfter({ id: 1 }, 60_000);
  queue.addAfter({ id: 1 }, 50_000);
  assertEquals([queue.delayed, clock.delays], [1, [200]]);
  queue.add({ id: 2 });
  assertEquals(metrics.value("workqueue_adds_total", "q"), 1);

  const otherClock = new HandClock();
  const otherMetrics = new InMemoryMetrics();
  const other = config.queue<string>("q", { name: "other", clock: otherClock, metrics: otherMetrics, maxSleep: 300 });
  other.addAfter("a", 60_000);
  assertEquals([other.name, otherClock.delays, clock.delays], ["other", [300], [200, 500]]);
  assertEquals(otherMetrics.value("workqueue_retries_total", "other"), 1);
  assertEquals(metrics.value("workqueue_retries_total", "other"), undefined);
});

Deno.test("rule 10: undefined options of queue() count as omitted, and values that are not options are refused", () => {
  const clock = new HandClock();
  const config = loadConfig({ queues: { q: { maxSleep: 200 } } }, { clock });
  const queue = config.queue<string>("q", { clock: undefined, maxSleep: undefined, name: undefined } as object);
  queue.addAfter("a", 60_000);
  assertEquals([queue.name, clock.delays], ["q", [200]]);
  for (const options of [null, [], "options", 5, new AbortController().signal]) {
    assertThrows(
      () => config.queue("q", options as object),
      Error,
      "Cannot create queue: 'options' must be an object",
    );
  }
});

Deno.test("a queue has the default maxSleep if the document does not set it", () => {
  const clock = new HandClock();
  const queue = loadConfig({ queues: { q: {} } }, { clock }).queue<string>("q");
  queue.addAfter("a", 60_000);
  assertEquals(clock.delays, [10_000]);
});

Deno.test("the result of workers() runs workers", async () => {
  const config = loadConfig({ queues: { q: { limiter: EXPONENTIAL, concurrency: 2, maxRetries: 0, timeout: "1m" } } });
  const queue = config.queue<string>("q");
  for (const item of ["a", "b", "c"]) queue.add(item);
  const givenUp: string[] = [];
  let active = 0;
  let most = 0;
  runWorkers(queue, async (item) => {
    most = Math.max(most, ++active);
    await Promise.resolve();
    active--;
    if (item === "b") throw new Error("no");
  }, { ...config.workers("q"), onGiveUp: (_, item) => givenUp.push(item) });
  await queue.shutDownWithDrain();
  assertEquals([most, givenUp], [2, ["b"]]);
});

Deno.test("a name that the config does not have is refused, with a suggestion", () => {
  const config = loadConfig({ limiters: { gentle: EXPONENTIAL }, queues: { images: {}, mails: {} } });
  const cases: [call: () => unknown, message: string][] = [
    [
      () => config.limiter("gentel"),
      `Cannot get limiter: the config has none named "gentel"; did you mean "gentle"?`,
    ],
    [() => config.limiter("images"), `Cannot get limiter: the config has none named "images"`],
    [() => config.queue("image"), `Cannot get queue: the config has none named "image"; did you mean "images"?`],
    [() => config.queue("gentle"), `Cannot get queue: the config has none named "gentle"`],
    [() => config.workers("Mails"), `Cannot get queue: the config has none named "Mails"; did you mean "mails"?`],
    [() => config.queue("__proto__"), `Cannot get queue: the config has none named "__proto__"`],
    [() => config.workers("constructor"), `Cannot get queue: the config has none named "constructor"`],
    [() => config.limiter("x".repeat(500)), `Cannot get limiter: the config has none named "${"x".repeat(60)}…"`],
  ];
  for (const [call, message] of cases) assertEquals(assertThrows(call, RangeError).message, message);
});

Deno.test("a name that is not a string is refused with a clear message", () => {
  const config = loadConfig({ limiters: { gentle: EXPONENTIAL }, queues: { images: {} } });
  for (const [name, received] of [[5, "5"], [undefined, "undefined"], [null, "null"], [["gentle"], "an array"]]) {
    for (const method of ["limiter", "queue", "workers"] as const) {
      const { message } = assertThrows(
        () => (config as unknown as Record<string, (name: unknown) => unknown>)[method]!(name),
        Error,
      );
      assert(message.startsWith("Cannot get ") && message.includes(received as string), message);
    }
  }
});

Deno.test("names of members that all objects have are ordinary names", () => {
  const names = ["toString", "hasOwnProperty", "valueOf", "then", "length", "a/b", "~", "a b", "ü", "0", " ", "type"];
  const config = loadConfig({
    limiters: Object.fromEntries(names.map((name, i) => [name, { ...EXPONENTIAL, baseDelay: i }])),
    queues: Object.fromEntries(names.map((name) => [name, { limiter: name }])),
  });
  assertEquals(config.limiterNames.toSorted(), names.toSorted());
  for (const [i, name] of names.entries()) assertEquals(config.limiter(name).when("x"), i, name);
});

Deno.test("a custom limiter is known where its registry is passed, and nowhere else", () => {
  const { created, registry } = countingRegistry();
  const document = { limiters: { mine: { type: "count", name: "x" } } };
  loadConfig(document, { limiters: registry });
  assertEquals(created, ["x"]);
  assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/mine/type"]);
  assertEquals(pathsOf(() => loadConfig(document, { limiters: new LimiterRegistry() })), ["/limiters/mine/type"]);
});

Deno.test("a custom limiter gets the clock of the config", () => {
  const clock = new HandClock();
  const clocks: unknown[] = [];
  const registry = new LimiterRegistry().register({
    type: "custom",
    description: "",
    options: {},
    create: (_, context) => {
      clocks.push(context.clock);
      return createDefaultItemLimiter();
    },
  });
  const document = { limiters: { a: { type: "custom" } }, queues: { q: { limiter: { type: "custom" } } } };
  loadConfig(document, { limiters: registry, clock });
  assertStrictEquals(clocks[0], clock);
  assertStrictEquals(clocks[1], clock);
});

Deno.test("rule 10: unknown options and options of the wrong type are refused", () => {
  const cases: [options: unknown, rest: string][] = [
    [{ clok: new HandClock() }, `"clok" is not an option here; did you mean "clock"?`],
    [{ registry: limiters }, `"registry" is not an option here`],
    [{ clock: 5 }, "'clock' must have timers, and a finite now(), got 5"],
    [{ random: "dice" }, `'random' must be a function, got "dice"`],
    [{ limiters: {} }, "'limiters' must be a registry of limiters, got an object"],
    [{ limiters: { get() {}, types() {} } }, "'limiters' must be a registry of limiters, got an object"],
    [null, "'options' must be an object, got null"],
    [[], "'options' must be an object, got an array"],
  ];
  for (const [options, rest] of cases) {
    const { message } = assertThrows(() => loadConfig({}, options as object), Error);
    assertEquals(message, `Cannot load config: ${rest}`);
  }
  const { message } = assertThrows(() => configSchema({ limiter: limiters } as object), TypeError);
  assertEquals(message, `Cannot describe config: "limiter" is not an option here; did you mean "limiters"?`);
  loadConfig({}, { limiters: undefined, clock: undefined, random: undefined, metrics: undefined });
});

Deno.test("a custom limiter gets the random numbers of the config", () => {
  const randoms: unknown[] = [];
  const registry = limiters.extend().register({
    type: "custom",
    description: "",
    options: {},
    create: (_, { random }) => {
      randoms.push(random);
      return createDefaultItemLimiter();
    },
  });
  const random = () => 0.5;
  loadConfig({ queues: { q: { limiter: { type: "custom" } } } }, { limiters: registry, random });
  assertStrictEquals(randoms[0], random);
});

Deno.test("a limiter that cannot be created is reported with its place in the document", () => {
  const failure = new Error("no such curve");
  const registry = limiters.extend().register({
    type: "failing",
    description: "",
    options: {},
    create: () => {
      throw failure;
    },
  });
  const cases: [document: object, path: string][] = [
    [{ limiters: { ok: EXPONENTIAL, "a/b": { type: "failing" } } }, "/limiters/a~1b"],
    [
      { queues: { q: { limiter: { type: "max-wait", maxDelay: 1, limiter: { type: "failing" } } } } },
      "/queues/q/limiter/limiter",
    ],
  ];
  for (const [document, path] of cases) {
    const error = assertThrows(() => loadConfig(document, { limiters: registry }), ConfigError);
    assertEquals([...error.issues], [{ path, message: "no such curve" }]);
    assertEquals(error.message, `Cannot load config: no such curve (at ${path})`);
    assertStrictEquals(error.cause, failure);
  }
});

Deno.test("types: the caller chooses the types of the config's queues", () => {
  const config = loadConfig({ limiters: { a: EXPONENTIAL }, queues: { q: {} } });
  const limiter: RateLimiter<number> = config.limiter<number>("a");
  const queue = config.queue<{ id: number }>("q", { keyOf: ({ id }) => id });
  // @ts-expect-error: items have an id
  queue.add({ name: "x" });
  queue.add({ id: 1 });
  assertEquals([limiter.when(1), takeAll(queue).length], [1, 2]);
});

Deno.test("a path instead of a text is refused with a hint at the function that loads files", () => {
  for (const path of ["limits.json", "/etc/work/limits.YAML", "C:\\work\\limits.toml", "./a.jsonc", "config.yml"]) {
    const message = "a path was given, not the text of a config: use loadConfigFile() of @workqueue/config-file";
    assertEquals(issuesOf(() => loadConfig(path)), [{ path: "", message }]);
    assertEquals(issuesOf(() => loadConfig({}).reload(path)), [{ path: "", message }]);
  }
  for (const text of ["", "limits", "null", '"limits.json"', "{ a.json"]) {
    const [issue] = issuesOf(() => loadConfig(text));
    assertEquals(issue!.message.includes("path was given"), false);
  }
});
