import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  ConfigError,
  configSchema,
  createDefaultItemLimiter,
  InMemoryMetrics,
  LimiterRegistry,
  limiters,
  loadConfig,
  type RateLimiter,
  runWorkers,
} from "@workqueue/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { FakeTime } from "@std/testing/time";
import { buildOrder, type Reference } from "../config/build_order.ts";
import { parseJson } from "../config/json.ts";
import { HandClock, issuesOf, pathsOf, whilePolluted } from "./helpers.ts";
import { randomNumbers, takeAll } from "./queue_helpers.ts";

const TYPES = limiters.types().map((type) => `"${type}"`).join(", ");
const EXPONENTIAL = { type: "exponential", baseDelay: 1, maxDelay: 100 };

/** A registry with a limiter that counts what is created of it, in order. */
function countingRegistry() {
  const created: string[] = [];
  const registry = limiters.extend().register({
    type: "count",
    description: "",
    options: {
      name: { kind: "string", description: "", default: "" },
      of: { kind: "limiters", description: "", required: false },
    },
    create: ({ name }: { name: string }) => {
      created.push(name);
      return createDefaultItemLimiter();
    },
  });
  return { created, registry };
}

// What a config describes

Deno.test("an empty config describes nothing", () => {
  for (const source of ["{}", {}, '{"limiters":{},"queues":{}}', { $schema: "./schema.json" }, Object.create(null)]) {
    const config = loadConfig(source);
    assertEquals([config.limiterNames, config.queueNames], [[], []]);
  }
});

Deno.test("a config may be JSON text or an object, with durations as texts and numbers", () => {
  const document = {
    $schema: "https://example.org/schema.json",
    limiters: {
      gentle: { type: "exponential", baseDelay: "10ms", maxDelay: 60_000 },
      api: { type: "bucket", rate: 5, burst: 2 },
    },
    queues: {
      images: { limiter: "gentle", concurrency: 4, maxRetries: 0, timeout: "30s", maxWait: 500 },
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

Deno.test("loading changes nothing of the document", () => {
  const document = { limiters: { a: "b", b: { ...EXPONENTIAL } }, queues: { q: { limiter: "a" } } };
  const before = structuredClone(document);
  loadConfig(document);
  assertEquals(document, before);
});

Deno.test("changing the document after it was loaded changes nothing", () => {
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
  assertEquals([queue.waiting, clock.delays, queue.numRequeues("a")], [1, [40], 1]);
});

Deno.test("a queue that names no limiter has client-go's default one, on the clock of the config", async () => {
  const clock = new HandClock();
  const queue = loadConfig({ queues: { q: {} } }, { clock }).queue<number>("q");
  for (let item = 0; item < 101; item++) queue.addRateLimited(item);
  await clock.advance(5);
  assertEquals([queue.length, queue.waiting], [100, 1]);
  await clock.advance(95);
  assertEquals([queue.length, queue.waiting], [101, 0]);
});

Deno.test("without a clock a config takes the time of the runtime", () => {
  using time = new FakeTime();
  const config = loadConfig({
    limiters: { b: { type: "bucket", rate: 10, burst: 1 } },
    queues: { q: { limiter: "b" } },
  });
  using queue = config.queue<string>("q");
  queue.addRateLimited("a");
  queue.addRateLimited("b");
  time.tick(99);
  assertEquals([queue.length, queue.waiting], [1, 1]);
  time.tick(1);
  assertEquals([queue.length, queue.waiting], [2, 0]);
});

Deno.test("queues that name one limiter share it: two queues, one bucket", () => {
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
  two!.addRateLimited(4); // the three tokens are gone
  three!.addRateLimited(5);
  assertEquals([two!.length, two!.waiting, three!.length], [1, 1, 1]);
});

Deno.test("a limiter is built once and shared by all that name it", () => {
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
  config.queue("one").addRateLimited("x");
  assertEquals(c.numRequeues("x"), 1);
  config.queue("two").addRateLimited("x");
  assertEquals([c.numRequeues("x"), created.length], [4, 1]); // asked three times more
});

Deno.test("queues that are made for one name share their limiter, even one of their own", () => {
  const config = loadConfig({ queues: { q: { limiter: EXPONENTIAL }, r: { limiter: EXPONENTIAL }, s: {} } });
  const requeues = (name: string) => config.queue<string>(name).numRequeues("a");
  for (const name of ["q", "s"]) {
    using queue = config.queue<string>(name);
    queue.addRateLimited("a");
  }
  assertEquals([requeues("q"), requeues("r"), requeues("s")], [1, 0, 1]);
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

Deno.test("limiters are created after those they name, whatever the order of the document", () => {
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

Deno.test("clock and metrics are handed to the queues, and the options of queue() win over the document's", () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const config = loadConfig({ queues: { q: { maxWait: 200 } } }, { clock, metrics });
  const queue = config.queue<{ id: number }>("q", { keyOf: ({ id }) => id });
  queue.addAfter({ id: 1 }, 60_000);
  queue.addAfter({ id: 1 }, 50_000);
  assertEquals([queue.waiting, clock.delays], [1, [200]]);
  queue.add({ id: 2 });
  assertEquals(metrics.value("workqueue_adds_total", "q"), 1);

  const otherClock = new HandClock();
  const otherMetrics = new InMemoryMetrics();
  const other = config.queue<string>("q", { name: "other", clock: otherClock, metrics: otherMetrics, maxWait: 300 });
  other.addAfter("a", 60_000);
  assertEquals([other.name, otherClock.delays, clock.delays], ["other", [300], [200]]);
  assertEquals(otherMetrics.value("workqueue_retries_total", "other"), 1);
  assertEquals(metrics.value("workqueue_retries_total", "other"), undefined);
});

Deno.test("a queue's maxWait is the usual one where the document does not say", () => {
  const clock = new HandClock();
  const queue = loadConfig({ queues: { q: {} } }, { clock }).queue<string>("q");
  queue.addAfter("a", 60_000);
  assertEquals(clock.delays, [10_000]);
});

Deno.test("what workers() gives runs workers", async () => {
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

Deno.test("what is asked for by a name the config does not have is refused, with a suggestion", () => {
  const config = loadConfig({ limiters: { gentle: EXPONENTIAL }, queues: { images: {}, mails: {} } });
  const cases: [call: () => unknown, message: string][] = [
    [
      () => config.limiter("gentel"),
      `Cannot get limiter as the config has none named "gentel"; did you mean "gentle"?`,
    ],
    [() => config.limiter("images"), `Cannot get limiter as the config has none named "images"`],
    [() => config.queue("image"), `Cannot get queue as the config has none named "image"; did you mean "images"?`],
    [() => config.queue("gentle"), `Cannot get queue as the config has none named "gentle"`],
    [() => config.workers("Mails"), `Cannot get queue as the config has none named "Mails"; did you mean "mails"?`],
    [() => config.queue("__proto__"), `Cannot get queue as the config has none named "__proto__"`],
    [() => config.workers("constructor"), `Cannot get queue as the config has none named "constructor"`],
    [() => config.limiter("x".repeat(500)), `Cannot get limiter as the config has none named "${"x".repeat(60)}…"`],
  ];
  for (const [call, message] of cases) assertEquals(assertThrows(call, RangeError).message, message);
});

Deno.test("a name that is no string is refused as clearly", () => {
  const config = loadConfig({ limiters: { gentle: EXPONENTIAL }, queues: { images: {} } });
  for (const [name, received] of [[5, "5"], [undefined, "undefined"], [null, "null"], [["gentle"], "an array"]]) {
    for (const method of ["limiter", "queue", "workers"] as const) {
      const { message } = assertThrows(() => config[method](name as string), Error);
      assert(message.startsWith("Cannot get ") && message.includes(received as string), message);
    }
  }
});

Deno.test("names that objects have anyway are names like any other", () => {
  const names = ["toString", "hasOwnProperty", "valueOf", "then", "length", "a/b", "~", "a b", "ü", "0", " ", "type"];
  const config = loadConfig({
    limiters: Object.fromEntries(names.map((name, i) => [name, { ...EXPONENTIAL, baseDelay: i }])),
    queues: Object.fromEntries(names.map((name) => [name, { limiter: name }])),
  });
  assertEquals(config.limiterNames.toSorted(), names.toSorted());
  for (const [i, name] of names.entries()) assertEquals(config.limiter(name).when("x"), i, name);
});

Deno.test("a custom limiter is used where its registry is given, and nowhere else", () => {
  const { created, registry } = countingRegistry();
  const document = { limiters: { mine: { type: "count", name: "x" } } };
  loadConfig(document, { limiters: registry });
  assertEquals(created, ["x"]);
  assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/mine/type"]);
  assertEquals(pathsOf(() => loadConfig(document, { limiters: new LimiterRegistry() })), ["/limiters/mine/type"]);
});

Deno.test("a custom limiter is told the clock of the config", () => {
  const clock = new HandClock();
  const clocks: unknown[] = [];
  const registry = new LimiterRegistry().register({
    type: "told",
    description: "",
    options: {},
    create: (_, context) => {
      clocks.push(context.clock);
      return createDefaultItemLimiter();
    },
  });
  const document = { limiters: { a: { type: "told" } }, queues: { q: { limiter: { type: "told" } } } };
  loadConfig(document, { limiters: registry, clock });
  assertStrictEquals(clocks[0], clock);
  assertStrictEquals(clocks[1], clock);
});

Deno.test("rule 10: options that are unknown, or of the wrong type, are refused", () => {
  const cases: [options: unknown, rest: string][] = [
    [{ clok: new HandClock() }, `"clok" is not an option here; did you mean "clock"?`],
    [{ registry: limiters }, `"registry" is not an option here`],
    [{ clock: 5 }, "'clock' must be a clock: received 5"],
    [{ random: "dice" }, `'random' must be a function: received "dice"`],
    [{ limiters: {} }, "'limiters' must be a registry of limiters: received an object"],
    [null, "'options' must be an object: received null"],
    [[], "'options' must be an object: received an array"],
  ];
  for (const [options, rest] of cases) {
    const { message } = assertThrows(() => loadConfig({}, options as object), Error);
    assertEquals(message, `Cannot load config as ${rest}`);
  }
  const { message } = assertThrows(() => configSchema({ limiter: limiters } as object), TypeError);
  assertEquals(message, `Cannot describe config as "limiter" is not an option here; did you mean "limiters"?`);
  loadConfig({}, { limiters: undefined, clock: undefined, random: undefined, metrics: undefined });
});

Deno.test("a custom limiter is told where the random numbers of the config come from", () => {
  const randoms: unknown[] = [];
  const registry = limiters.extend().register({
    type: "told",
    description: "",
    options: {},
    create: (_, { random }) => {
      randoms.push(random);
      return createDefaultItemLimiter();
    },
  });
  const random = () => 0.5;
  loadConfig({ queues: { q: { limiter: { type: "told" } } } }, { limiters: registry, random });
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
    assertEquals(error.message, `Cannot load config as no such curve (at ${path})`);
    assertStrictEquals(error.cause, failure);
  }
});

// What is wrong with one

Deno.test("rule 10: every problem of the document is reported, with a pointer to each, and nothing is built", () => {
  const { created, registry } = countingRegistry();
  const document = {
    $schema: 5,
    limiter: {},
    limiters: {
      good: { type: "count" },
      "a/b": { type: "bucket", rate: "fast", brust: 3 },
      lost: "god",
      loop: { type: "max-of", limiters: ["good", "loop"] },
      backwards: { type: "exponential", baseDelay: "1s", maxDelay: "1ms" },
      none: { type: "max-of", limiters: [] },
    },
    queues: {
      q: { limiter: "goood", concurrency: 0, maxRetries: -1, timeout: "0s", maxWait: 0, maxretries: 3 },
      r: { limiter: 5 },
      s: null,
    },
  };
  const issues = issuesOf(() => loadConfig(document, { limiters: registry }));
  const duration = `must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms`;
  const expected = [
    { path: "/limiter", message: `"limiter" is not a part of a config; did you mean "limiters"?` },
    { path: "/limiters/a~1b/brust", message: `"brust" is not an option here; did you mean "burst"?` },
    { path: "/limiters/a~1b/rate", message: `'rate' must be a non-negative number: received "fast"` },
    { path: "/limiters/a~1b/burst", message: "'burst' is missing: How many retries may happen at once." },
    { path: "/limiters/lost", message: `"god" is not the name of a limiter here; did you mean "good"?` },
    {
      path: "/limiters/backwards/maxDelay",
      message: `'maxDelay' must not be less than 'baseDelay' (1000 ms): received "1ms"`,
    },
    {
      path: "/limiters/none/limiters",
      message: "'limiters' must be a list of 1 to 1000 limiters: received an array",
    },
    { path: "/queues/q/maxretries", message: `"maxretries" is not an option here; did you mean "maxRetries"?` },
    { path: "/queues/q/limiter", message: `"goood" is not the name of a limiter here; did you mean "good"?` },
    { path: "/queues/q/maxWait", message: `'maxWait' ${duration}: received 0` },
    { path: "/queues/q/concurrency", message: "'concurrency' must be a positive integer: received 0" },
    { path: "/queues/q/maxRetries", message: "'maxRetries' must be a non-negative integer: received -1" },
    { path: "/queues/q/timeout", message: `'timeout' ${duration}: received "0s"` },
    { path: "/queues/r/limiter", message: "'limiter' must be a limiter or the name of one: received 5" },
    { path: "/queues/s", message: "'s' must be an object: received null" },
    {
      path: "/limiters/loop/limiters/1",
      message: `limiters must not refer to each other in a circle: "loop" → "loop"`,
    },
  ];
  const sorted = (list: { path: string }[]) => list.toSorted((a, b) => a.path < b.path ? -1 : 1);
  assertEquals(sorted(issues.filter(({ path }) => path !== "/$schema")), sorted(expected));
  assertEquals(created, []);
});

Deno.test("rule 10: a good part of a bad document is not built: each problem by itself stops it all", () => {
  const good = { limiters: { a: { type: "count" } }, queues: { q: { limiter: { type: "count" } } } };
  const bad: [document: object, path: string][] = [
    [{ ...good, extra: {} }, "/extra"],
    [{ ...good, limiters: { ...good.limiters, b: {} } }, "/limiters/b/type"],
    [{ ...good, limiters: { ...good.limiters, b: "c" } }, "/limiters/b"],
    [{ ...good, limiters: { ...good.limiters, b: "b" } }, "/limiters/b"],
    [{ ...good, queues: { ...good.queues, r: 5 } }, "/queues/r"],
    [{ ...good, queues: { ...good.queues, r: { timeout: -1 } } }, "/queues/r/timeout"],
    [{ ...good, queues: { ...good.queues, r: { limiter: "x" } } }, "/queues/r/limiter"],
    [{ ...good, queues: { ...good.queues, "": {} } }, "/queues/"],
    [{ ...good, queues: [] }, "/queues"],
  ];
  for (const [document, path] of bad) {
    const { created, registry } = countingRegistry();
    assertEquals(pathsOf(() => loadConfig(document, { limiters: registry })), [path]);
    assertEquals(created, []);
  }
  const { created, registry } = countingRegistry();
  loadConfig(good, { limiters: registry });
  assertEquals(created.length, 2);
});

Deno.test("each of very many problems is reported, and suggestions are looked for where the message shows them", () => {
  const queues = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`q${i}`, { limiter: "gentel" }]));
  const issues = issuesOf(() => loadConfig({ limiters: { gentle: EXPONENTIAL }, queues }));
  const message = `"gentel" is not the name of a limiter here`;
  assertEquals(issues.map(({ message }) => message), [
    ...Array(20).fill(`${message}; did you mean "gentle"?`),
    ...Array(10).fill(message),
  ]);
  assertEquals(issues.at(-1)!.path, "/queues/q29/limiter");
});

Deno.test("a queue's options have their bounds", () => {
  const document = (options: object) => ({ queues: { q: options } });
  const good: object[] = [
    { maxWait: 1 },
    { maxWait: 2 ** 31 - 1 },
    { maxWait: "10s" },
    { timeout: 1 },
    { timeout: 2 ** 31 - 1 },
    { timeout: "576h" },
    { concurrency: 1 },
    { concurrency: 1e6 },
    { maxRetries: 0 },
    { maxRetries: 1e6 },
  ];
  for (const options of good) loadConfig(document(options));
  const bad: object[] = [
    ...[0, 0.5, -1, NaN, Infinity, 2 ** 31, "0s", "-1s", "1d", null, true].flatMap((
      value,
    ) => [{ maxWait: value }, { timeout: value }]),
    ...[0, 1.5, -1, NaN, Infinity, "4", null].map((concurrency) => ({ concurrency })),
    ...[1.5, -1, NaN, Infinity, "4", null].map((maxRetries) => ({ maxRetries })),
  ];
  for (const options of bad) {
    assertEquals(pathsOf(() => loadConfig(document(options))), [`/queues/q/${Object.keys(options)[0]}`]);
  }
});

Deno.test("rule 10: a circle of references is reported, each once, with the names in it", () => {
  const wait = (limiter: string) => ({ type: "max-wait", maxDelay: 1, limiter });
  const circle = (path: string, names: string) => ({
    path,
    message: `limiters must not refer to each other in a circle: ${names}`,
  });
  const cases: [limiters: object, issues: ReturnType<typeof circle>[]][] = [
    [{ a: "a" }, [circle("/limiters/a", `"a" → "a"`)]],
    [{ a: wait("a") }, [circle("/limiters/a/limiter", `"a" → "a"`)]],
    [{ a: "b", b: "a" }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ a: "b", b: wait("c"), c: "a" }, [circle("/limiters/a", `"a" → "b" → "c" → "a"`)]],
    // two circles
    [{ a: "b", b: "a", c: "d", d: "c" }, [
      circle("/limiters/a", `"a" → "b" → "a"`),
      circle("/limiters/c", `"c" → "d" → "c"`),
    ]],
    // names that lead into a circle, before and after it
    [{ in: "a", a: "b", b: "a" }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ a: "b", b: "a", in: "a", further: wait("in") }, [circle("/limiters/a", `"a" → "b" → "a"`)]],
    [{ x: "y", y: "z", z: "z", w: "y" }, [circle("/limiters/z", `"z" → "z"`)]],
    // a circle beside names that are fine, through one of several references
    [
      {
        leaf: EXPONENTIAL,
        a: { type: "max-of", limiters: ["leaf", "b"] },
        b: { type: "max-of", limiters: ["leaf", wait("a")] },
      },
      [circle("/limiters/a/limiters/1", `"a" → "b" → "a"`)],
    ],
  ];
  for (const [limiters, issues] of cases) assertEquals(issuesOf(() => loadConfig({ limiters })), issues);
});

Deno.test("rule 10: names that lead out of a circle are no part of it, and names used twice are no circle", () => {
  const leaf = { ...EXPONENTIAL };
  const all = { type: "max-of", limiters: ["b", "c", "b"] };
  assertEquals(loadConfig({ limiters: { a: all, b: "d", c: "d", d: leaf } }).limiter("a").when("x"), 4);
  const issues = issuesOf(() => loadConfig({ limiters: { a: { type: "max-of", limiters: ["leaf", "a"] }, leaf } }));
  assertEquals(issues.map(({ path }) => path), ["/limiters/a/limiters/1"]);
});

Deno.test("rule 10: a chain of ten thousand names is fine, and a circle of as many is reported", () => {
  const count = 10_000;
  for (const indexes of [[...Array(count).keys()], [...Array(count).keys()].reverse()]) {
    const limiters: Record<string, unknown> = Object.fromEntries(indexes.map((i) => [`n${i}`, `n${i + 1}`]));
    const config = loadConfig({ limiters: { ...limiters, [`n${count}`]: EXPONENTIAL } });
    assertEquals(config.limiter("n0").when("a"), 1);
    assertStrictEquals(config.limiter("n0"), config.limiter(`n${count}`));
    const [issue, ...others] = issuesOf(() => loadConfig({ limiters: { ...limiters, [`n${count}`]: "n0" } }));
    assertEquals(others, []);
    assertStringIncludes(issue!.message, "circle");
  }
});

Deno.test("the order of building holds for references of any shape, and finds a circle in any that has one", () => {
  const random = randomNumbers(7);
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, i) => `n${i}`);
    const pick = () => names[Math.floor(random() * names.length)]!;
    const references = new Map<string, Reference[]>(names.map((name) => [name, []]));
    const count = Math.floor(random() * names.length * 1.3);
    for (let i = 0; i < count; i++) references.get(pick())!.push({ to: pick(), path: String(i) });

    const { order, circles } = buildOrder(references);
    assertEquals(new Set(order).size, order.length);
    for (const [i, name] of order.entries()) {
      for (const { to } of references.get(name)!) {
        assert(order.slice(0, i).includes(to), "it comes after all it refers to");
      }
    }
    assertEquals(order.length === names.length, circles.length === 0);
    const inCircles = circles.flatMap((circle) => circle.map(({ to }) => to));
    assertEquals(new Set(inCircles).size, inCircles.length, "the circles found share no name");
    for (const circle of circles) {
      for (const [i, { to }] of circle.entries()) {
        assert(references.get(to)!.includes(circle[(i + 1) % circle.length]!), "each refers to the next");
      }
    }
  }
});

// Hostile documents

const NO_OBJECTS: [value: unknown, received: string][] = [
  [null, "null"],
  [[], "an array"],
  [[{}], "an array"],
  [Object.setPrototypeOf([], null), "an array"],
  [5, "5"],
  [NaN, "NaN"],
  [true, "true"],
  [10n, "10n"],
  [Symbol("s"), "a symbol"],
  [() => ({}), "a function"],
  [class {}, "a function"],
  [new Map(), "an object"],
  [new Date(0), "an object"],
  [new (class Limiters {})(), "an object"],
  [Promise.resolve({}), "an object"],
  [Object.create({ limiters: {} }), "an object"],
];

Deno.test("rule 10: what is no plain object is refused wherever one belongs", () => {
  const places: [document: (value: unknown) => unknown, path: string, rule: string][] = [
    [(value) => value, "", "'config' must be an object"],
    [(value) => ({ limiters: value }), "/limiters", "'limiters' must be an object"],
    [(value) => ({ queues: value }), "/queues", "'queues' must be an object"],
    [(value) => ({ limiters: { a: value } }), "/limiters/a", "'a' must be a limiter or the name of one"],
    [(value) => ({ queues: { q: value } }), "/queues/q", "'q' must be an object"],
    [
      (value) => ({ queues: { q: { limiter: value } } }),
      "/queues/q/limiter",
      "'limiter' must be a limiter or the name of one",
    ],
  ];
  for (const [document, path, rule] of places) {
    for (const [value, received] of NO_OBJECTS) {
      assertEquals(issuesOf(() => loadConfig(document(value) as object)), [{
        path,
        message: `${rule}: received ${received}`,
      }]);
    }
  }
  assertEquals(issuesOf(() => loadConfig('"text"')), [{
    path: "",
    message: `'config' must be an object: received "text"`,
  }]);
  assertEquals(issuesOf(() => loadConfig({ queues: { q: "name" } })), [
    { path: "/queues/q", message: `'q' must be an object: received "name"` },
  ]);
});

Deno.test("rule 10: a type or a name that is no string is refused", () => {
  for (const [type, received] of NO_OBJECTS) {
    assertEquals(issuesOf(() => loadConfig({ limiters: { a: { type } } })), [
      { path: "/limiters/a/type", message: `'type' must be a string: received ${received}` },
    ]);
    const document = { limiters: { a: { type: "max-of", limiters: [type] } } };
    assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/a/limiters/0"]);
  }
});

/** What `Object.prototype` has now. */
function prototypeNow(): unknown[][] {
  return Reflect.ownKeys(Object.prototype).map((key) => {
    const { value, get, set } = Object.getOwnPropertyDescriptor(Object.prototype, key)!;
    return [key, value, get, set];
  });
}

Deno.test("rule 10: keys that mean something to objects reach no prototype, as text or as objects", () => {
  const before = prototypeNow();
  const keys = ["__proto__", "constructor", "prototype"];
  const part = JSON.stringify({ ...EXPONENTIAL, polluted: true });
  const inner = `{ "polluted": true, "type": "bucket", "rate": 1, "burst": 1 }`;
  for (const key of keys) {
    const cases: [text: string, paths: string[]][] = [
      [`{ "${key}": ${inner} }`, [`/${key}`]],
      [`{ "limiters": { "${key}": ${inner} } }`, [`/limiters/${key}`]],
      [`{ "queues": { "${key}": { "concurrency": 1 } } }`, [`/queues/${key}`]],
      [`{ "limiters": { "a": { "type": "bucket", "rate": 1, "burst": 1, "${key}": ${inner} } } }`, [
        `/limiters/a/${key}`,
      ]],
      [`{ "limiters": { "a": { "${key}": ${part} } } }`, ["/limiters/a/type"]],
      [`{ "limiters": { "a": { "type": "${key}" } } }`, ["/limiters/a/type"]],
      [`{ "limiters": { "a": "${key}" } }`, ["/limiters/a"]],
      [`{ "queues": { "q": { "${key}": ${inner} } } }`, [`/queues/q/${key}`]],
      [`{ "queues": { "q": { "limiter": "${key}" } } }`, ["/queues/q/limiter"]],
    ];
    for (const [text, paths] of cases) {
      assertEquals(pathsOf(() => loadConfig(text)), paths, text);
      assertEquals(pathsOf(() => loadConfig(JSON.parse(text))), paths, text);
    }
  }
  assertEquals(prototypeNow(), before);
  assertEquals(({} as { polluted?: boolean }).polluted, undefined);
});

Deno.test("rule 10: names that mean something to objects, and the empty name, are refused as such", () => {
  for (const name of ["", "__proto__", "constructor", "prototype"]) {
    const text = `{ "limiters": { "${name}": "x" }, "queues": { "${name}": 5 } }`;
    assertEquals(issuesOf(() => loadConfig(text)), [
      { path: `/limiters/${name}`, message: `"${name}" must not be used as a name` },
      { path: `/queues/${name}`, message: `"${name}" must not be used as a name` },
    ]);
  }
});

Deno.test("rule 10: what other code put on Object.prototype is no part of a document", () => {
  const pollution = {
    limiters: { evil: "evil" },
    queues: { evil: {} },
    limiter: "evil",
    concurrency: 0,
    evil: 1,
    $schema: 5,
  };
  const config = whilePolluted(pollution, () => loadConfig({ queues: { q: {} } }));
  assertEquals([config.limiterNames, config.queueNames], [[], ["q"]]);
  assertEquals(Object.keys(config.workers("q")), []);
});

Deno.test("rule 10: a getter or a proxy that throws stops the load, and nothing is built", () => {
  const trap = () => {
    throw new Error("trapped");
  };
  const getter = (key: string) => Object.defineProperty({}, key, { get: trap, enumerable: true });
  const proxy = new Proxy({}, {
    ownKeys: trap,
    get: trap,
    getPrototypeOf: trap,
    has: trap,
    getOwnPropertyDescriptor: trap,
  });
  const before = prototypeNow();
  for (const hostile of [getter("type"), getter("rate"), getter("queues"), getter("limiters"), proxy]) {
    const { created, registry } = countingRegistry();
    const fine = { a: { type: "count" } };
    const documents = [
      hostile,
      { limiters: { ...fine, b: hostile } },
      { limiters: { ...fine, b: { type: "max-of", limiters: [hostile] } } },
      { limiters: fine, queues: { q: hostile } },
      { limiters: fine, queues: { q: { limiter: hostile } } },
    ];
    for (const document of documents) assertThrows(() => loadConfig(document, { limiters: registry }));
    assertEquals(created, []);
  }
  assertEquals(prototypeNow(), before);
});

Deno.test("rule 10: a value's own code is not run: no toString, valueOf, toJSON, nor the like", () => {
  let runs = 0;
  const run = () => String(++runs);
  const trap = {
    toString: run,
    valueOf: run,
    toJSON: run,
    [Symbol.toPrimitive]: run,
  };
  const documents: object[] = [
    {
      limiters: {
        a: trap,
        b: { type: trap },
        c: { type: "bucket", rate: trap, burst: trap },
        d: { type: "max-of", limiters: [trap] },
      },
    },
    {
      limiters: { a: { type: "exponential", baseDelay: trap, maxDelay: trap }, b: { type: "max-of", limiters: trap } },
    },
    { queues: { q: { limiter: trap, concurrency: trap, timeout: trap, maxRetries: trap }, r: trap } },
    { $schema: "x", limiters: trap, queues: trap },
    trap,
  ];
  for (const document of documents) assertThrows(() => loadConfig(document), ConfigError);
  assertEquals(runs, 0);
});

Deno.test("rule 10: a value is read once, so that it cannot change between check and use", () => {
  let reads = 0;
  const document = {
    limiters: {
      a: Object.defineProperty({ type: "exponential", maxDelay: 100 }, "baseDelay", {
        enumerable: true,
        get: () => reads++ === 0 ? 5 : -5,
      }),
    },
  };
  assertEquals(loadConfig(document).limiter("a").when("x"), 5);
  assertEquals(reads, 1);
});

Deno.test("rule 10: a document nested ten thousand deep is refused in no time, as text and as object", () => {
  const depth = 10_000;
  const nested = (open: string, close: string, leaf = "") => open.repeat(depth) + leaf + close.repeat(depth);
  const leaf = JSON.stringify(EXPONENTIAL);
  const texts: [text: string, path: string][] = [
    [nested("[", "]"), ""],
    [`{ "limiters": ${nested("[", "]")} }`, "/limiters"],
    [`{ "limiters": { "a": ${nested("[", "]")} } }`, "/limiters/a"],
    [`{ "limiters": { "a": { "type": "max-of", "limiters": ${nested("[", "]")} } } }`, "/limiters/a/limiters/0"],
    [
      `{ "limiters": { "a": ${nested(`{ "type": "max-wait", "maxDelay": 1, "limiter": `, "}", leaf)} } }`,
      "/limiters/a/limiter/limiter",
    ],
    [
      `{ "limiters": { "a": ${nested(`{ "type": "max-of", "limiters": [`, "] }", leaf)} } }`,
      "/limiters/a/limiters/0/limiters/0",
    ],
    [
      `{ "queues": { "q": { "limiter": ${nested(`{ "type": "max-of", "limiters": [`, "] }", leaf)} } } }`,
      "/queues/q/limiter/limiters/0",
    ],
    [
      `{ "limiters": { "a": { "type": "bucket", "rate": ${nested(`{ "x": `, "}", "1")}, "burst": 1 } } }`,
      "/limiters/a/rate",
    ],
  ];
  for (const [text, path] of texts) {
    for (const source of [text, JSON.parse(text) as object]) {
      const [issue, ...others] = issuesOf(() => loadConfig(source));
      assert(issue!.path.startsWith(path), issue!.path);
      assertEquals(others, []);
    }
  }
  const [issue] = issuesOf(() => loadConfig(nested("[", "]") + "]"));
  assertStringIncludes(issue!.message, `line 1, column ${2 * depth + 1}`);
});

Deno.test("rule 10: an object that contains itself is refused", () => {
  const self: Record<string, unknown> = { type: "max-wait", maxDelay: 1 };
  self.limiter = self;
  const [issue, ...others] = issuesOf(() => loadConfig({ limiters: { self } }));
  assertStringIncludes(issue!.message, "must not be nested in more than 32 other limiters");
  assertEquals(others, []);
  const list: unknown[] = [];
  list.push(list);
  assertEquals(pathsOf(() => loadConfig({ limiters: { a: { type: "max-of", limiters: list } } })), [
    "/limiters/a/limiters/0",
  ]);
  const document: Record<string, unknown> = {};
  document.limiters = document;
  assertEquals(pathsOf(() => loadConfig(document)), ["/limiters/limiters/type"]);
});

/** A limiter config that gives up the test when it is read so often that the reading never ends. */
function readOften(): { type: string; limiters: unknown[] } {
  let reads = 0;
  return {
    get type() {
      if (++reads > 20_000) throw new Error("the same objects are read again and again");
      return "max-of";
    },
    limiters: [],
  };
}

Deno.test("rule 10: objects that contain themselves twice do not double the work at each depth", () => {
  const self = readOften();
  self.limiters.push(self, self);
  assertThrows(() => loadConfig({ limiters: { self } }), ConfigError);
});

Deno.test("rule 10: an object in several places does not double the work at each depth", () => {
  // as the anchors of YAML make them
  let shared: unknown = EXPONENTIAL;
  for (let depth = 0; depth < 25; depth++) {
    const outer = readOften();
    outer.limiters.push(shared, shared);
    shared = outer;
  }
  try {
    loadConfig({ limiters: { shared } });
  } catch (error) {
    assert(error instanceof ConfigError, String(error)); // refusing it is as good
  }
});

Deno.test("rule 10: limiters that ask each other by name ask a bounded number in all", () => {
  const doubling: Record<string, object> = { a0: EXPONENTIAL };
  for (let i = 1; i < 40; i++) doubling[`a${i}`] = { type: "max-of", limiters: [`a${i - 1}`, `a${i - 1}`] };
  assertEquals(issuesOf(() => loadConfig({ limiters: doubling }))[0], {
    path: "/limiters/a12",
    message: '"a12" asks more than 5000 limiters in all',
  });

  const chain: Record<string, object> = { b0: EXPONENTIAL };
  for (let i = 1; i < 20_000; i++) chain[`b${i}`] = { type: "max-wait", maxDelay: 1, limiter: `b${i - 1}` };
  assertEquals(pathsOf(() => loadConfig({ limiters: chain }))[0], "/limiters/b5000");
  const allowed = Object.fromEntries(Object.entries(chain).slice(0, 5000));
  assertEquals(loadConfig({ limiters: allowed }).limiter("b4999").when("x"), 1, "and the longest chain can be asked");
});

Deno.test("rule 10: five thousand limiters may be nested in one, and one more is refused, once", () => {
  const document = (count: number) => {
    const inner: unknown[] = [];
    for (let left = count - 1; left > 0; left -= 1000) { // a list holds a thousand, and is one itself
      inner.push({ type: "max-of", limiters: new Array(Math.min(left, 1000) - 1).fill(EXPONENTIAL) });
    }
    return { limiters: { all: { type: "max-of", limiters: inner } } };
  };
  assert(loadConfig(document(5000)).limiter<string>("all").when("a") >= 0);
  for (const count of [5001, 5002, 5900]) {
    const messages = issuesOf(() => loadConfig(document(count))).map(({ message }) => message);
    assertEquals(messages.length, 1);
    assertMatch(messages[0]!, /is one of more than 5000 in one limiter$/);
  }
});

Deno.test("values in messages are as they were received: texts up to 60 characters, and the sign of zero", () => {
  const message = (options: object) => issuesOf(() => loadConfig({ queues: { q: options } }))[0]!.message;
  const sixty = "x".repeat(60);
  assert(message({ concurrency: sixty }).endsWith(`received "${sixty}"`));
  assert(message({ concurrency: sixty + "y" }).endsWith(`received "${sixty}…"`));
  assert(message({ concurrency: 'a"\n' }).endsWith(String.raw`received "a\"\n"`));
  assert(message({ concurrency: -0 }).endsWith("received -0"));
  assert(message({ concurrency: 0 }).endsWith("received 0"));
});

Deno.test("rule 10: huge texts are cut in messages", () => {
  const huge = "x".repeat(1_000_000);
  const documents: object[] = [
    { [huge]: 5 },
    { limiters: { [huge]: 5 } },
    { limiters: { a: huge } },
    { limiters: { a: { type: huge } } },
    { limiters: { a: { type: "bucket", rate: huge, burst: 1 } } },
    { limiters: { a: { type: "bucket", rate: 1, burst: 1, [huge]: 1 } } },
    { limiters: { a: { type: "exponential", baseDelay: huge, maxDelay: 1 } } },
    { limiters: { [huge]: huge } },
    { limiters: { [huge]: { type: "max-of", limiters: [huge] } } },
    { queues: { [huge]: { concurrency: 0, limiter: huge } } },
  ];
  for (const document of documents) {
    const { message, issues } = assertThrows(() => loadConfig(document), ConfigError);
    assert(message.length < 2000, `${message.length} characters: ${message.slice(0, 100)}`);
    for (const issue of issues) assert(issue.message.length < 1000, issue.message.slice(0, 100));
  }
});

// Text that is not JSON

/** Where a text that is not JSON goes wrong, by the error it is refused with. */
function placeOf(text: string): { line: number; column: number; message: string } {
  const [issue, ...others] = issuesOf(() => loadConfig(text));
  assertEquals([issue?.path, others], ["", []]);
  const found = issue!.message.match(/^the text is not JSON: expected (.+) at line (\d+), column (\d+)$/);
  assert(found !== null, issue!.message);
  return { message: found[1]!, line: Number(found[2]), column: Number(found[3]) };
}

Deno.test("text that is not JSON is refused, with the line, the column and what was expected there", () => {
  const cases: [text: string, line: number, column: number, expected: string][] = [
    ["", 1, 1, "a value"],
    [" \n ", 2, 2, "a value"],
    ["hello", 1, 1, "a value"],
    ["'a'", 1, 1, "a value"],
    ["{} {}", 1, 4, "the end"],
    ["{}\n\n}", 3, 1, "the end"],
    ["null,", 1, 5, "the end"],
    ["[1 2]", 1, 4, "',' or ']'"],
    ["[1}", 1, 3, "',' or ']'"],
    ["[1,]", 1, 4, "a value"],
    ["[,1]", 1, 2, "a value"],
    ["[1,,2]", 1, 4, "a value"],
    ["[1", 1, 3, "',' or ']'"],
    ["[[]", 1, 4, "',' or ']'"],
    ["{a: 1}", 1, 2, "a key in double quotes"],
    ["{'a': 1}", 1, 2, "a key in double quotes"],
    ["{1: 1}", 1, 2, "a key in double quotes"],
    [`{"a" 1}`, 1, 6, "':'"],
    [`{"a"}`, 1, 5, "':'"],
    [`{"a":}`, 1, 6, "a value"],
    [`{"a": 1,}`, 1, 9, "a key in double quotes"],
    [`{"a": 1 "b": 2}`, 1, 9, "',' or '}'"],
    [`{"a": 1]`, 1, 8, "',' or '}'"],
    [`{"a": {"b": []`, 1, 15, "',' or '}'"],
    [`{\n  "a": 1,\n  // why\n  "b": 2\n}`, 3, 3, "a key in double quotes"],
    [`{\r\n  "a": [\r\n    1,\r\n    undefined\r\n  ]\r\n}`, 4, 5, "a value"],
    [`{"a": True}`, 1, 7, "a value"],
    [`{"a": NaN}`, 1, 7, "a value"],
    [`{"a": +1}`, 1, 7, "a value"],
    [`{"a": .5}`, 1, 7, "a value"],
    ["[01]", 1, 3, "',' or ']'"],
    ["\uFEFF{}", 1, 1, "a value"],
    ["[1\u00a0]", 1, 3, "',' or ']'"],
    [`["ü😀", x]`, 1, 9, "a value"], // in UTF-16 code units
  ];
  for (const [text, line, column, message] of cases) assertEquals(placeOf(text), { line, column, message }, text);
});

Deno.test("a broken string, number or word is placed in the line and within what is broken", () => {
  const cases: [before: string, broken: string, after: string][] = [
    ["", '"a', ""],
    ["[", '"a\n', '"]'],
    ["[", '"a\t', '"]'],
    ["[1, ", '"\\x', '41"]'],
    ["[1, ", '"\\u12', 'g4"]'],
    ["[1, ", '"\\', ""],
    ['{\n "a": 1,\n "b', "", ""],
    ["[", "-", "]"],
    ["[", "1.", "]"],
    ["[", "1e", "]"],
    ["[", "1e+", "]"],
    ["[", "tru", "]"],
    ["[", "truex", "]"],
    ["[", "nul", ""],
    ["[", "0x", "10]"],
    ["[", "--", "1]"],
    ["[1,\n2, ", "1.", "e5]"],
  ];
  for (const [before, broken, after] of cases) {
    const { line, column } = placeOf(before + broken + after);
    const lines = before.split("\n");
    const start = lines.at(-1)!.length + 1;
    assertEquals(line, lines.length, before + broken);
    assert(
      column >= (broken === "" ? 1 : start) && column <= start + broken.length,
      `column ${column} of ${before}${broken}`,
    );
  }
});

/** A JSON text of random shape, as its tokens. */
function randomTokens(random: () => number, depth = 0): string[] {
  const pick = <V>(values: V[]) => values[Math.floor(random() * values.length)]!;
  const kind = depth > 4 ? "scalar" : pick(["scalar", "array", "object"]);
  if (kind === "scalar") {
    return [pick(["0", "-1.5e+3", "12E4", "true", "false", "null", '""', '"a b"', '"\\u00e9\\n\\\\\\""', '"ü{[,:"'])];
  }
  const items = Array.from({ length: Math.floor(random() * 4) }, () => {
    const value = randomTokens(random, depth + 1);
    return kind === "object" ? [pick(['"a"', '"\\t"', '""']), ":", ...value] : value;
  });
  const inner = items.flatMap((item, i) => i === 0 ? item : [",", ...item]);
  return kind === "object" ? ["{", ...inner, "}"] : ["[", ...inner, "]"];
}

Deno.test("a text broken anywhere is placed exactly there, and every valid text parses", () => {
  const random = randomNumbers(11);
  const spaces = ["", "", " ", "\n", "\r\n", "\t", " \n\n  "];
  const space = () => spaces[Math.floor(random() * spaces.length)]!;
  for (let round = 0; round < 300; round++) {
    const tokens = randomTokens(random);
    const spaced = tokens.map((token) => space() + token);
    const text = spaced.join("") + space();
    const parsed = parseJson(text);
    assert("value" in parsed);
    assertEquals(parsed.value, JSON.parse(text));
    for (let i = 0; i <= tokens.length; i++) {
      const before = spaced.slice(0, i).join("") + space();
      const lines = before.split("\n");
      const place = { line: lines.length, column: lines.at(-1)!.length + 1 };
      // something that is no JSON at all
      const strange = parseJson(before + "@" + spaced.slice(i).join(""));
      assert("error" in strange);
      assertEquals({ line: strange.error.line, column: strange.error.column }, place);
      // the rest is missing
      if (i === tokens.length) continue;
      const cut = parseJson(before);
      assert("error" in cut);
      assertEquals({ line: cut.error.line, column: cut.error.column }, place);
    }
  }
});

Deno.test("every valid JSON text parses", () => {
  const texts = [
    ...[
      "0",
      "-0",
      "1.5",
      "1e5",
      "1E-5",
      "-12.5e+10",
      "1e999",
      "true",
      "false",
      "null",
      '""',
      "[]",
      "{}",
      " [ ] ",
      "\t{\r\n}\n",
    ],
    ...[
      '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00"',
      '"\u2028\u2029\u007f"',
      '"\\u0000"',
      '{"a":{"a":1},"b":[{"a":2},{"a":3}]}',
      "[[[[]]],{}]",
    ],
    ...['{"__proto__":1}', '{"":""}', "[1,[2,{}],null]"],
  ];
  for (const text of texts) assertEquals(parseJson(text), { value: JSON.parse(text), duplicates: [] }, text);
});

Deno.test("a broken text with millions of escape sequences is placed like any other", () => {
  const long = String.raw`\n\"\u00e9\\`.repeat(1_500_000);
  const cases: [text: string, line: number, column: number, expected: string][] = [
    [`["${long}" 1]`, 1, long.length + 5, "',' or ']'"],
    [`{\n  "a": "${long}",\n  "${long}" 1 }`, 3, long.length + 6, "':'"],
    [`[\n"${long}\\x"]`, 2, 1, "a value"],
    [`[${String.raw`"\t",`.repeat(3_000_000)}]`, 1, 15_000_002, "a value"],
    [`[${"1".repeat(20_000_000)} 2]`, 1, 20_000_003, "',' or ']'"],
    [`[${" ".repeat(20_000_000)}}`, 1, 20_000_002, "a value"],
  ];
  for (const [text, line, column, message] of cases) {
    assertEquals(placeOf(text), { line, column, message }, text.slice(0, 20));
  }
});

Deno.test("a name that an object of JSON text has twice is refused, with where it stands the second time", () => {
  const text = `{
  "limiters": {
    "api": { "type": "bucket", "rate": 1, "burst": 1 },
    "a/b": { "type": "max-of", "limiters": ["api", { "type": "bucket", "rate": 1, "rate": 2, "burst": 1 }] },
    "\\u0061pi": { "type": "bucket", "rate": 2, "burst": -1 }
  },
  "queues": { "q": { "limiter": "api" } }, "queues": { "r": { "limiter": "a/b" } }
}`;
  const twice = (name: string, line: number, column: number) =>
    `"${name}" is given twice in one object, again at line ${line}, column ${column}`;
  assertEquals(issuesOf(() => loadConfig(text)), [
    { path: "/limiters/a~1b/limiters/1/rate", message: twice("rate", 4, 83) },
    { path: "/limiters/api", message: twice("api", 5, 5) },
    { path: "/queues", message: twice("queues", 7, 44) },
    { path: "/limiters/api/burst", message: "'burst' must be a non-negative integer: received -1" },
  ]);
});

Deno.test("the same name in several objects is no duplicate, and one that is odd to JavaScript may be one", () => {
  for (
    const text of [`{"queues":{"a":{},"b":{}},"limiters":{"a":{"type":"bucket","rate":1,"burst":1}}}`, `{"queues":{}}`]
  ) {
    loadConfig(text);
  }
  const cases: [text: string, paths: string[]][] = [
    [`{"__proto__":1,"__proto__":2}`, ["/__proto__"]],
    [`{"":1,"":2}`, ["/"]],
    [`{"a":{"a":{"b":1}},"b":[{"a":1},{"a":2,"c":{},"a":[]}]}`, ["/b/1/a"]],
    [`[[],[1,{"x":1,"x":2}]]`, ["/1/1/x"]],
    [`{"toString":1,"a":2,"toString":3,"toString":4}`, ["/toString", "/toString"]],
    [`{"a":"a","b":"a"}`, []],
  ];
  for (const [text, paths] of cases) {
    const parsed = parseJson(text);
    assert("value" in parsed);
    assertEquals(parsed.duplicates.map(({ path }) => path), paths, text);
    assertEquals(parsed.value, JSON.parse(text));
  }
});

Deno.test("of very many duplicates in a deep document, the first ones are reported", () => {
  const depth = 50_000;
  const text = `{"a":0,"a":`.repeat(depth) + "0" + "}".repeat(depth);
  const issues = issuesOf(() => loadConfig(text));
  const twice = issues.filter(({ message }) => message.includes("twice"));
  assertEquals(twice.length, 20);
  assertEquals(twice.map(({ path }) => path), Array.from({ length: 20 }, (_, i) => "/a".repeat(i + 1)));
});

Deno.test("a broken text with a very long string in it is placed like any other", () => {
  const text = `["${"x".repeat(20_000_000)}" 1]`;
  assertEquals(placeOf(text), { line: 1, column: text.length - 1, message: "',' or ']'" });
});

// Its description

Deno.test("the JSON Schema of a config agrees with loadConfig", () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(configSchema());
  const good: object[] = [
    {},
    { $schema: "x" },
    {
      limiters: {
        a: EXPONENTIAL,
        b: "a",
        c: { type: "max-of", limiters: ["a", { type: "bucket", rate: 1, burst: 1 }] },
      },
    },
    { queues: { q: {}, r: { limiter: EXPONENTIAL, maxWait: "1s", concurrency: 3, maxRetries: 0, timeout: 100 } } },
  ];
  for (const document of good) {
    assert(validate(document), JSON.stringify(document));
    loadConfig(document);
  }
  const bad: object[] = [
    { queue: {} },
    { limiters: [] },
    { limiters: { a: 5 } },
    { limiters: { a: { type: "exponental", baseDelay: 1, maxDelay: 1 } } },
    { limiters: { "": EXPONENTIAL } },
    { limiters: { constructor: EXPONENTIAL } },
    { limiters: JSON.parse(`{ "__proto__": { "type": "bucket", "rate": 1, "burst": 1 } }`) },
    { queues: { prototype: {} } },
    { queues: { q: "a" } },
    { queues: { q: { concurrency: 0 } } },
    { queues: { q: { concurrency: 1.5 } } },
    { queues: { q: { maxRetries: -1 } } },
    { queues: { q: { timeout: 0 } } },
    { queues: { q: { timeout: 2 ** 31 } } },
    { queues: { q: { maxWait: "soon" } } },
    { queues: { q: { limiter: {} } } },
    { queues: { q: { retries: 3 } } },
  ];
  for (const document of bad) {
    assertFalse(validate(document), JSON.stringify(document));
    assertThrows(() => loadConfig(document), ConfigError, undefined, JSON.stringify(document));
  }
});

Deno.test("the JSON Schema describes all that editors show, in sentences", () => {
  const { title, properties, $defs } = configSchema() as {
    title: string;
    properties: Record<string, { description?: string }>;
    $defs: { limiter: Options & { allOf: { then: Options }[] }; queue: Options };
  };
  type Described = { description?: string };
  type Options = Described & { properties: Record<string, Described & { anyOf?: Described[] }> };
  const { limiter, queue } = $defs;
  const variants = limiter.allOf.map(({ then }) => then);
  const options = variants.flatMap(({ properties: { type: _, ...options } }) => Object.values(options));
  const described = [
    ...Object.values(properties),
    limiter.properties.type!,
    ...limiter.properties.type!.anyOf!,
    ...variants,
    ...options,
    ...Object.values(queue.properties),
  ];
  assertMatch(title, /^[A-Z].{10,}$/);
  assert(described.length > 20);
  for (const { description } of described) assertMatch(description ?? "", /^[A-Z].{10,}\.$/);
});

Deno.test("$schema is a string, as the JSON Schema says", () => {
  assertEquals(pathsOf(() => loadConfig({ $schema: 5 })), ["/$schema"]);
});

Deno.test("the JSON Schema of a config has the types of its registry", () => {
  const { registry } = countingRegistry();
  const document = { limiters: { a: { type: "count", name: "x" } } };
  assert(new Ajv2020({ allowUnionTypes: true }).compile(configSchema({ limiters: registry }))(document));
  assertFalse(new Ajv2020({ allowUnionTypes: true }).compile(configSchema())(document));
  assertEquals(JSON.parse(JSON.stringify(configSchema())), configSchema());
});

Deno.test("types: what a config gives is typed by the one who asks", () => {
  const config = loadConfig({ limiters: { a: EXPONENTIAL }, queues: { q: {} } });
  const limiter: RateLimiter<number> = config.limiter<number>("a");
  const queue = config.queue<{ id: number }>("q", { keyOf: ({ id }) => id });
  // @ts-expect-error: an item has an id
  queue.add({ name: "x" });
  queue.add({ id: 1 });
  assertEquals([limiter.when(1), takeAll(queue).length], [1, 2]);
});

Deno.test("an unknown type is reported with all that are known", () => {
  assertEquals(issuesOf(() => loadConfig({ limiters: { a: { type: "buket" } } })), [
    { path: "/limiters/a/type", message: `'type' must be one of ${TYPES}: received "buket"; did you mean "bucket"?` },
  ]);
});
