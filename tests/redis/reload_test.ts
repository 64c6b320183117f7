/** Tests of reloading the document of queues that are in use, on a real server. */

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  ConfigError,
  defineLimiter,
  type LimiterRegistry,
  limiters,
  loadConfig,
  type WorkQueueConfig,
} from "@workqueue/core";
import { createRedisQueue, type RedisLease, type RedisQueue, redisQueues } from "@workqueue/redis";
import { issuesOf } from "../helpers.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

/** Discipline that can't work on Redis. */
const NESTED = { type: "fair", separator: "/", within: { type: "fair", separator: ":" } } as const;
const MINUTE = { type: "exponential", baseDelay: "1m", maxDelay: "1h" } as const;

/** Document with one queue, the queue opened from it, and a function that reloads the document with other settings. */
interface Opened {
  readonly name: string;
  readonly config: WorkQueueConfig;
  readonly queue: RedisQueue;
  reload(terms: object, rest?: { limiters?: object; queues?: object }): void;
  /** Returns the remaining delays of the delayed items, in minutes, rounded up. */
  waits(): Promise<Record<string, number>>;
}

function reloadTest(
  name: string,
  { terms = {}, registry = limiters }: { terms?: object; registry?: LimiterRegistry },
  run: (opened: Opened, server: SharedServer) => Promise<void>,
): void {
  redisTest(`reload: ${name}`, async (server) => {
    const name = uniqueName("reload");
    const documentOf: Opened["reload"] extends (...args: infer A) => void ? (...args: A) => object : never = (
      terms,
      { limiters = {}, queues = {} } = {},
    ) => ({ limiters, queues: { [name]: terms, ...queues } });
    const config = loadConfig(documentOf(terms), { limiters: registry });
    await using queue = redisQueues(config, { url: server.url }).queue(name);
    await run({
      name,
      config,
      queue,
      reload: (...args) => void config.reload(documentOf(...args)),
      waits: async () => {
        const { delayedItems } = await queue.snapshot();
        return Object.fromEntries(delayedItems.map(({ item, dueInMs }) => [item, Math.ceil(dueInMs / 60_000)]));
      },
    }, server);
  });
}

async function take(queue: RedisQueue): Promise<RedisLease> {
  const lease = await queue.get();
  assertFalse(lease.shutdown);
  return lease as RedisLease;
}

reloadTest("the next failures are delayed by the new document, and counts continue", {
  terms: { limiter: MINUTE },
}, async ({ queue, reload, waits }) => {
  await queue.addRateLimited("a");
  reload({ limiter: { ...MINUTE, baseDelay: "2m" } });
  await queue.addRateLimited("b");
  assertEquals(await waits(), { a: 1, b: 2 }, "delayed items stay as they are");
  await queue.cancelDelayed("a");
  await queue.addRateLimited("a");
  reload({ limiter: { type: "fast-slow", fastDelay: "3m", slowDelay: "5m", maxFastAttempts: 2 } });
  await queue.addRateLimited("c");
  assertEquals(await waits(), { a: 4, b: 2, c: 3 }, "the second failure of a");
  await queue.cancelDelayed("a");
  await queue.addRateLimited("a");
  assertEquals((await waits())["a"], 5, "a limiter of another type goes on from the failures of the key");
  assertEquals(await queue.numRequeues("a"), 3);
});

reloadTest("a failure already being reported keeps the delay computed for it", {
  terms: { limiter: MINUTE },
}, async ({ queue, reload, waits }) => {
  await queue.addAll(["a", "b", "c", "d"]);
  const leases: RedisLease[] = [];
  for (let i = 0; i < 4; i++) leases.push(await take(queue));
  const retry = { requeue: true } as const;
  const jitter = { type: "jitter", spread: 1e-9, limiter: { type: "exponential", baseDelay: "3m", maxDelay: "1h" } };
  const answers = [leases[0]!.finish(retry)];
  reload({ limiter: jitter });
  answers.push(leases[1]!.finish(retry), leases[2]!.finish());
  reload({ limiter: { ...MINUTE, baseDelay: "7m" } });
  answers.push(leases[3]!.finish(retry));
  assertEquals(await Promise.all(answers), [true, true, true, true]);
  assertEquals(await waits(), { a: 1, b: 3, d: 7 });
});

reloadTest("a throttle that becomes free, is added or is removed takes effect at once, and keeps its name", {
  terms: { throttle: { rate: 1e-9, burst: 1 }, concurrency: 2 },
}, async ({ name, config, queue, reload }, { call }) => {
  let onStart = (_item: string) => {};
  const started = (item: string) => new Promise<void>((resolve) => onStart = (each) => each === item && resolve());
  const pool = config.runWorkers(name, queue, (item) => onStart(item));
  const buckets = async () => (await call("HKEYS", `workqueue:{${name}}:buckets`) as string[]).sort();

  const first = started("a");
  queue.add("a");
  await first; // the next token arrives in thirty years
  const second = started("b");
  queue.add("b");
  reload({ throttle: { rate: 1000, burst: 1 }, concurrency: 2 });
  await second;
  assertEquals(await buckets(), ["throttle"]);

  const third = started("c");
  reload({ throttle: "own" }, { limiters: { own: { type: "bucket", rate: 1e-9, burst: 1 } } });
  queue.add("c");
  await third;
  assert((await buckets()).includes("/limiters/own"));

  const fourth = started("d");
  queue.add("d");
  reload({});
  await fourth;
  await pool.stop();
});

reloadTest("pools follow reloads while items flow, and no item is lost or processed twice at once", {
  terms: { limiter: { type: "exponential", baseDelay: 1, maxDelay: 5 }, concurrency: 2 },
}, async ({ name, config, queue, reload }) => {
  const COUNT = 600;
  const running = new Set<string>();
  const done = new Set<string>();
  let most = 0;
  const pool = config.runWorkers(name, queue, async (item, { attempt }) => {
    assertFalse(running.has(item));
    running.add(item);
    most = Math.max(most, running.size);
    await Promise.resolve();
    running.delete(item);
    if (attempt < 2 && Number(item) % 7 === 0) throw new Error("not yet");
    done.add(item);
    if (done.size % 20 === 0) step();
  }, { onError: () => {} });
  const documents = [
    {
      limiter: { type: "jitter", spread: 1, limiter: { type: "exponential", baseDelay: 1, maxDelay: 9 } },
      concurrency: 9,
    },
    { limiter: { type: "bucket", rate: 5000, burst: 10 }, throttle: { rate: 5000, burst: 20 }, concurrency: 5 },
    {
      limiter: { type: "fast-slow", fastDelay: 1, slowDelay: 2, maxFastAttempts: 3 },
      throttle: { rate: 1e6, burst: 9 },
    },
    {
      limiter: { type: "per-group", separator: "1", limiter: { type: "bucket", rate: 900, burst: 2 } },
      concurrency: 20,
    },
  ];
  let steps = 0;
  const step = () => reload(documents[steps++ % documents.length]!);
  await queue.addAll(Array.from({ length: COUNT }, (_, i) => `${i}`));
  await queue.whenIdle();
  assertEquals(done.size, COUNT);
  assert(steps >= COUNT / 20);
  assert(most > 2 && most <= 20, `${most} at once`);
  reload({ concurrency: 3, maxRetries: 1 });
  assertEquals(pool.concurrency, 3);
});

const own = (next?: (failures: number) => number) =>
  defineLimiter({
    type: next === undefined ? "no-delays" : "delays",
    description: "",
    options: {},
    create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0, ...next && { next } }),
  });

reloadTest("a document that can't work on Redis is rejected with the place of each problem, and changes nothing", {
  terms: { limiter: MINUTE, concurrency: 2 },
  registry: limiters.extend().register(own()).register(own((failures) => failures * 120_000)),
}, async ({ name, config, queue, reload, waits }) => {
  const pool = config.runWorkers(name, queue, () => {});
  pool.pause();
  const both = {
    limiters: { shared: { type: "bucket", rate: 1, burst: 1 } },
    queues: { other: { throttle: "shared" } },
  };
  for (const wrong of [{ limiter: "shared" }, { throttle: "shared" }]) {
    const error = assertThrows(() => reload({ ...wrong, concurrency: 9 }, both), ConfigError, "share a bucket");
    assertEquals(error.issues.map(({ path }) => path), ["/limiters/shared"]);
  }
  const error = assertThrows(() => reload({ limiter: { type: "no-delays" }, concurrency: 9 }), ConfigError);
  assertEquals(issuesOf(() => reload({ limiter: { type: "no-delays" } })).map(({ path }) => path), [
    `/queues/${name}/limiter`,
  ]);
  assert(error.message.includes("must have 'next'"), error.message);
  const discipline = issuesOf(() => reload({ discipline: NESTED, concurrency: 9 }));
  assertEquals(discipline.map(({ path }) => path), [`/queues/${name}/discipline/within`]);
  assert(discipline[0]!.message.includes("for queues in memory"));
  assertEquals(pool.concurrency, 2);
  await queue.addRateLimited("a");
  reload({ limiter: { type: "delays" } });
  await queue.addRateLimited("b");
  assertEquals(await waits(), { a: 1, b: 2 });
});

reloadTest("a retry budget that is added or changed takes effect at once, for all processes", {
  terms: { limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 } },
}, async ({ name, queue, reload }, { url }) => {
  await using other = createRedisQueue({ name, url });
  await queue.counts(); // connects
  const blocked = async (count: number) => {
    while ((await other.counts()).blocked !== count);
  };
  reload({ retryBudget: { ratio: 0, minRate: 0 } });
  for (const item of ["a", "b"]) await other.addRateLimited(item);
  await blocked(2);
  assertEquals((await other.snapshot()).blockedRetries, 2);
  const lease = take(queue);
  reload({ retryBudget: { ratio: 0, minRate: 0.001 } });
  assertEquals((await lease).item, "a");
  await (await lease).finish();
  await blocked(1);
  reload({});
  await blocked(1);
});

reloadTest("a queue removed from the document keeps its settings, and follows again when its name is back", {
  terms: { limiter: MINUTE },
}, async ({ config, queue, reload, waits }) => {
  config.reload({ queues: { other: { discipline: NESTED } } });
  await queue.addRateLimited("a");
  reload({ limiter: { ...MINUTE, baseDelay: "2m" } });
  await queue.addRateLimited("b");
  assertEquals(await waits(), { a: 1, b: 2 });
});

reloadTest(
  "a queue that was shut down no longer follows, and refuses nothing",
  {},
  ({ config, queue, reload, name }) => {
    queue.shutDown();
    reload({ discipline: NESTED });
    assertThrows(() => redisQueues(config, {}).queue(name), ConfigError, "for queues in memory");
    return Promise.resolve();
  },
);
