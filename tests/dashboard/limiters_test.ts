/** Tests of the tree of limiters on the page, and of finding the limiter that decided an item's delay. */

import { assertEquals } from "@std/assert";
import { defineLimiter, limiters, loadConfig, NOT_COUNTED, type TokenBucket } from "@workqueue/core";
import { FakeTime } from "@std/testing/time";
import { limitsOf } from "../../packages/dashboard/watch/limiters.ts";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

const exponential = { type: "exponential", baseDelay: "1s", maxDelay: "1m" };
const bucket = { type: "bucket", rate: 2, burst: 3 };

function limitsFor(limiter: unknown, limiters: object = {}, clock = new HandClock()) {
  const config = loadConfig({ limiters, queues: { images: { limiter } } }, { clock });
  return { config, limits: limitsOf(config, "images")!, clock };
}

Deno.test("limiters: the tree has names, options as text, and the tokens of buckets with names", () => {
  const { config, limits, clock } = limitsFor({ type: "max-of", limiters: [exponential, "api", bucket] }, {
    api: bucket,
  });
  const { limits: steps } = limitsFor({ type: "steps", delays: ["5s", 300_000] });
  assertEquals(steps.tree().options, { delays: "5 s, 5 min" });
  config.bucket("api").take(2);
  config.bucket("api").pauseFor("5s");
  clock.time = 1000;
  assertEquals(limits.tree(), {
    path: "/queues/images/limiter",
    type: "max-of",
    name: null,
    options: {},
    bucket: null,
    inside: [
      {
        path: "/queues/images/limiter/limiters/0",
        type: "exponential",
        name: null,
        options: { baseDelay: "1 s", maxDelay: "1 min" },
        bucket: null,
        inside: [],
      },
      {
        path: "/limiters/api",
        type: "bucket",
        name: "api",
        options: { rate: "2", burst: "3" },
        bucket: { rate: 2, burst: 3, tokens: 1, resumesInMs: 4000 },
        inside: [],
      },
      {
        path: "/queues/images/limiter/limiters/2",
        type: "bucket",
        name: null,
        options: { rate: "2", burst: "3" },
        bucket: { rate: 2, burst: 3, tokens: null, resumesInMs: 0 },
        inside: [],
      },
    ],
  });
});

Deno.test("limiters: a queue that is not in the config has none", () => {
  const { config } = limitsFor(exponential);
  assertEquals([limitsOf(config, "others"), limitsOf(undefined, "images")], [undefined, undefined]);
});

const PATH = "/queues/images/limiter";
const decisions: [
  what: string,
  limiter: unknown,
  attempts: number,
  ago: number | null,
  dueInMs: number | null,
  by: string | null,
][] = [
  ["a backoff", exponential, 3, 1000, 3000, PATH],
  ["an item that is not delayed", exponential, 3, 1000, null, null],
  ["what never failed", exponential, 0, null, 5, null],
  ["longer than the backoff: the handler did", exponential, 3, 1000, 60_000, null],
  ["a bucket", { type: "max-of", limiters: [exponential, bucket] }, 3, 1000, 60_000, `${PATH}/limiters/1`],
  [
    "a backoff beside a bucket",
    { type: "max-of", limiters: [exponential, bucket] },
    3,
    1000,
    3000,
    `${PATH}/limiters/0`,
  ],
  ["nobody knows since when", { type: "max-of", limiters: [exponential, bucket] }, 3, null, 3000, `${PATH}/limiters/0`],
  ["a maximum", { type: "max-wait", limiter: exponential, maxDelay: "10s" }, 9, 1000, 9000, PATH],
  [
    "less than the maximum",
    { type: "max-wait", limiter: exponential, maxDelay: "10s" },
    3,
    1000,
    3000,
    `${PATH}/limiter`,
  ],
  ["jitter", { type: "jitter", limiter: exponential, spread: 0.5 }, 3, 1000, 1500, `${PATH}/limiter`],
  ["groups", { type: "per-group", separator: "/", limiter: exponential }, 3, 1000, 3000, `${PATH}/limiter`],
  ["a bucket alone", bucket, 3, 1000, 60_000, PATH],
  ["many failures", exponential, 1e9, 1000, 59_000, PATH],
  [
    "fast, then slow",
    {
      type: "max-of",
      limiters: [exponential, { type: "fast-slow", fastDelay: 1, slowDelay: "2m", maxFastAttempts: 3 }],
    },
    4,
    1000,
    119_000,
    `${PATH}/limiters/1`,
  ],
  ["steps", { type: "steps", delays: ["1s", "2s", "5s"] }, 3, 1000, 4000, PATH],
  [
    "fast, and a backoff",
    {
      type: "max-of",
      limiters: [exponential, { type: "fast-slow", fastDelay: 1, slowDelay: "2m", maxFastAttempts: 3 }],
    },
    3,
    1000,
    3000,
    `${PATH}/limiters/0`,
  ],
];

for (const [what, limiter, attempts, ago, dueInMs, by] of decisions) {
  Deno.test(`limiters: the limiter that decided: ${what}`, () => {
    assertEquals(limitsFor(limiter).limits.decidedBy(attempts, ago, dueInMs), by);
  });
}

Deno.test("limiters: a bucket in debt counts as the deciding limiter if the start of an item's delay is unknown", () => {
  const { config, limits } = limitsFor({ type: "max-of", limiters: [exponential, "api"] }, { api: bucket });
  config.bucket("api").take(3);
  for (let i = 0; i < 20; i++) config.bucket("api").take();
  assertEquals(limits.decidedBy(1, null, 9000), "/limiters/api");
  assertEquals(limits.decidedBy(5, null, 9000), "/queues/images/limiter/limiters/0");
});

Deno.test("limiters: third-party limiters may describe their delays, fail to be created, or throw", () => {
  const define = (type: string, create: () => object) =>
    defineLimiter({ type, description: "One of the test.", options: {}, create: create as never });
  const limiter = { when: () => 0, forget() {}, numRequeues: () => 0 };
  let isLoaded = false;
  const registry = limiters.extend()
    .register(define("linear", () => ({ ...limiter, next: (failures: number) => failures * 1000 })))
    .register(define("silent", () => limiter))
    .register(define("once", () => {
      if (isLoaded) throw new Error("once only");
      return limiter;
    }))
    .register(define("broken", () => ({
      ...limiter,
      next() {
        throw new Error("broken");
      },
    })))
    .register(define("uncounted", () => ({ ...limiter, next: () => NOT_COUNTED })))
    .register(define("by item", () => ({ ...limiter, next: (_: number, item: { ms: number }) => item.ms })));
  const by = (type: string) => {
    isLoaded = false;
    const config = loadConfig({ queues: { images: { limiter: { type } } } }, { limiters: registry });
    isLoaded = true;
    return limitsOf(config, "images")!.decidedBy(3, 1000, 2000);
  };
  assertEquals(["linear", "silent", "once", "broken", "uncounted", "by item"].map(by), [PATH, ...Array(5).fill(null)]);
});

Deno.test("limiters: a search computes the deciding limiter only for the items that it finds", async () => {
  using time = new FakeTime();
  let asked = 0;
  const next = () => {
    asked++;
    return 60_000;
  };
  const registry = limiters.extend().register(defineLimiter({
    type: "counted",
    description: "One of the test.",
    options: {},
    create: () => ({ when: () => 60_000, forget() {}, numRequeues: () => 1, next }),
  }));
  const config = loadConfig({ queues: { images: { limiter: { type: "counted" } as never } } }, { limiters: registry });
  const queue = config.queue<string>("images");
  const pool = config.runWorkers("images", queue, () => Promise.reject(new Error("no")), { onError() {} });
  using dashboard = new Asked({ queues: { images: { queue, pool } }, config });
  for (let i = 100; i < 150; i++) queue.add(`item-${i}`);
  await flush();
  time.tick(1000);
  await flush();
  const find = async (search: string) => {
    asked = 0;
    const { failingItems } = await dashboard.details("images", `?search=${search}`);
    return [failingItems.length, failingItems[0]?.decidedBy, asked];
  };
  assertEquals(await find("item-13"), [10, PATH, 10]);
  assertEquals(await find("nothing"), [0, undefined, 0]);
  queue.shutDown();
  await pool.stop();
});

Deno.test("limiters: groups are shown as the config defines them", () => {
  const separatorOf = (queue: object) => limitsOf(loadConfig({ queues: { images: queue } }), "images")!.separator;
  assertEquals(separatorOf({}), undefined);
  assertEquals(separatorOf({ discipline: { type: "fair", separator: "#" } }), "#");
  assertEquals(separatorOf({ limiter: { type: "per-group", separator: "@", limiter: exponential } }), "@");
});

Deno.test("limiters: the display follows the config when it is reloaded", async () => {
  using time = new FakeTime();
  const document = (baseDelay: string) => ({ queues: { images: { limiter: { ...exponential, baseDelay } } } });
  const config = loadConfig(document("1s"));
  using asked = new Asked({ queues: { shown: { queue: config.queue<string>("images") } }, config });
  assertEquals((await asked.details("shown")).limiter!.options["baseDelay"], "1 s");
  config.reload(document("2s"));
  time.tick(1000);
  await flush();
  assertEquals((await asked.details("shown")).limiter!.options["baseDelay"], "2 s");
});

Deno.test("limiters: the throttle of a config is shown without a pool, and can be changed", async () => {
  const config = loadConfig({ queues: { images: { throttle: { rate: 1, burst: 2 } } } });
  using asked = new Asked({ queues: { images: { queue: config.queue<string>("images") } }, config });
  assertEquals((await asked.details("images")).throttle, { rate: 1, burst: 2, tokens: 2, resumesInMs: 0 });
  await asked.post("api/queues/images/throttle", { rate: 5 });
  assertEquals((config.workers("images").throttle as TokenBucket).rate, 5);
});
