/**
 * Tests of servers that lose the data of a queue while the connections of its processes stay open, as after FLUSHALL,
 * when keys are removed by hand, or when the server evicts keys.
 */

import { assert, assertEquals } from "@std/assert";
import { loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue, type RedisQueue, type RedisQueueOptions, redisQueues } from "@workqueue/redis";
import { elsewhere, open, QUICK, take, until } from "./faults/faults.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

/** Ways in which the server loses a queue. The last one loses only the key with the definition. */
const LOSSES: Record<string, (server: SharedServer, name: string) => Promise<unknown>> = {
  "FLUSHALL": ({ call }) => call("FLUSHALL"),
  "keys that are removed": async ({ call }, name) => {
    for (const key of await keysOf(call, name)) await call("UNLINK", key);
  },
  "the loss of meta": async ({ call }, name) => {
    for (const key of await keysOf(call, name)) if (key.endsWith(":meta")) await call("DEL", key);
  },
};

/** Returns the keys of a queue and of its partitions. */
async function keysOf(call: SharedServer["call"], name: string): Promise<string[]> {
  const keys = [...await call("KEYS", `workqueue:{${name}}*`) as string[]];
  return [...keys, ...await call("KEYS", `workqueue:{${name}#*`) as string[]].toSorted();
}

const DEFINITION = {
  discipline: { type: "fair", separator: "/", maxPerGroup: 1, weights: { a: 2 } },
  retryBudget: { ratio: 0, minRate: 0 },
  keepGivenUp: 2,
  limiter: QUICK,
} as const satisfies Partial<RedisQueueOptions>;

/** Opens a queue, and lets the server lose it once it is in use. */
async function lose(
  server: SharedServer,
  how: string,
  options: Partial<RedisQueueOptions>,
  run: (queue: RedisQueue, errors: unknown[], name: string) => Promise<void>,
): Promise<void> {
  const name = uniqueName("lost");
  await using opened = open(server.url, name, { ...DEFINITION, ...options });
  for (const history of opened.histories) history.ignore();
  await opened.queue.add("before/1");
  await (await take(opened.queue)).finish();
  await opened.queue.counts(); // each partition is in use
  await LOSSES[how]!(server, name);
  await run(opened.queue, opened.errors, name);
}

const codesOf = (errors: unknown[]) => errors.map((error) => (error as { code?: string }).code);

for (const how of Object.keys(LOSSES)) {
  for (const partitions of [1, 3]) {
    const test = (what: string, run: (queue: RedisQueue, errors: unknown[], name: string) => Promise<void>) => {
      redisTest(`lost data: after ${how}, with ${partitions} partition(s), ${what}`, async (server) => {
        await lose(server, how, { partitions }, run);
      });
    };

    test("the first call of any kind puts the discipline in force", async (queue) => {
      await queue.addAll(["a/1", "a/2"]);
      const lease = await take(queue);
      const { ready, blocked } = await queue.counts();
      assertEquals([ready, blocked], [0, 1], "no more than maxPerGroup");
      await lease.finish();
    });

    test("the retry budget is in force for the first retry", async (queue) => {
      await queue.addRateLimited("a/1");
      await until(async () => (await queue.counts()).delayed === 0);
      assertEquals((await queue.snapshot()).blockedRetries, 1);
    });

    test("at most keepGivenUp items are kept", async (queue) => {
      for (let i = 0; i < 3 * partitions + 3; i++) {
        await queue.add(`a/${i}`);
        await (await take(queue)).finish({ giveUp: new TerminalError("bad") });
      }
      assertEquals((await queue.givenUp()).total, Math.ceil(2 / partitions));
    });

    test("a call that waits for work continues", async (queue) => {
      const done: string[] = [];
      const pool = runWorkers(queue, (item) => void done.push(item), { concurrency: 2 });
      await queue.addAll(["a/1", "b/1", "a/2"]);
      await queue.whenIdle();
      assertEquals(done.toSorted(), ["a/1", "a/2", "b/1"]);
      await pool.stop();
    });

    test("onQueueError is called once, or at most once for each partition", async (queue, errors, name) => {
      await queue.counts();
      await queue.counts();
      assertEquals(new Set(codesOf(errors)), new Set(["WQ_DATA_LOST"]));
      assert(errors.length <= partitions, `${errors.length} reports`);
      assert(String(errors[0]).includes(`has lost the queue "${name}`), String(errors[0]));
    });
  }
}

redisTest("lost data: a reconnect without a loss leaves the definition of others in force", async (server) => {
  const name = uniqueName("lost");
  await using proxy = await RedisProxy.start(server.url);
  await using first = open(proxy.url, name, { keepGivenUp: 5 });
  await first.queue.counts();
  await using second = open(server.url, name, { keepGivenUp: 2 });
  await second.queue.counts();
  proxy.dropAll();
  await first.queue.counts();
  assertEquals(await server.call("HGET", `workqueue:{${name}}:meta`, "keep"), "2");
});

redisTest("lost data: a process without a definition finds the queue as the others define it", async (server) => {
  const name = uniqueName("lost");
  await using producer = open(elsewhere(server.url), name);
  await using worker = open(server.url, name, DEFINITION);
  for (const { history } of [producer, worker]) history.ignore();
  await producer.queue.add("a/0");
  await (await take(worker.queue)).finish();
  await server.call("FLUSHALL");
  await producer.queue.addAll(["a/1", "a/2"]); // creates the queue again, without its definition
  const lease = await take(worker.queue);
  const { ready, blocked } = await producer.queue.counts();
  assertEquals([ready, blocked], [0, 1]);
  await lease.finish();
  assertEquals([codesOf(producer.errors), codesOf(worker.errors)], [["WQ_DATA_LOST"], ["WQ_DATA_LOST"]]);
});

redisTest("lost data: items that were processing are lost, and their signals abort", async (server) => {
  const name = uniqueName("lost");
  await using opened = open(server.url, name, { ...DEFINITION, leaseDuration: 300 });
  opened.history.ignore();
  await opened.queue.add("a/1");
  const lease = await take(opened.queue);
  await server.call("FLUSHALL");
  await until(() => lease.signal.aborted);
  assertEquals(await lease.finish(), false);
});

redisTest(
  "lost data: the others continue after a process was lost together with the key of its leases",
  async (server) => {
    const name = uniqueName("lost");
    await using proxy = await RedisProxy.start(server.url);
    await using gone = open(proxy.url, name, { leaseDuration: 300 });
    await using other = open(server.url, name, { leaseDuration: 300 });
    for (const { history } of [gone, other]) history.ignore();
    await gone.queue.add("a");
    const lost = await take(gone.queue);
    proxy.hold();
    await server.call("DEL", `workqueue:{${name}}:holders`);
    const next = take(other.queue);
    await until(async () => await server.call("EXISTS", `workqueue:{${name}}:owners`) === 0); // the lease has expired
    await other.queue.add("b");
    const lease = await next;
    assertEquals([lease.item, await lease.finish(), other.errors], ["b", true, []]);
    proxy.hold(false);
    assertEquals(await lost.finish(), false);
  },
);

redisTest("lost data: the number of partitions is in force again before another number can be set", async (server) => {
  const name = uniqueName("lost");
  await using opened = open(server.url, name, { partitions: 3 });
  for (const history of opened.histories) history.ignore();
  await opened.queue.add("a");
  await server.call("FLUSHALL");
  await opened.queue.add("b");
  const other = createRedisQueue({ name, url: server.url, partitions: 2, onQueueError() {} });
  const refusal = await other.counts().catch(String);
  assert(String(refusal).includes("it has 3 partitions"), String(refusal));
  await other.shutDownWithDrain();
});

redisTest(
  "lost data: a shared limit counts running attempts again, and a waiting process gets its turn",
  async (server) => {
    const [api, name] = [uniqueName("api"), uniqueName("lost")];
    const document = {
      throttles: { [api]: { type: "concurrency", limit: 2 } },
      queues: { [name]: { throttle: api, concurrency: 5 } },
    };
    let [running, done] = [0, 0];
    const ends: (() => void)[] = [];
    const start = (url: string) => {
      const config = loadConfig(document as never);
      const queue = redisQueues(config, { url, leaseDuration: 600, onQueueError() {} }).queue(name);
      const pool = config.runWorkers(name, queue, async () => {
        running++;
        await new Promise<void>((resolve) => ends.push(resolve));
        running--;
        done++;
      }, { onError() {} });
      return { queue, pool };
    };
    const processes = [start(server.url), start(elsewhere(server.url))];
    await processes[0]!.queue.addAll(["a", "b", "c", "d"]);
    await until(() => running === 2);
    const permits = `workqueue:{throttle:${api}}`;
    await server.call("UNLINK", ...["state", "permits", "leases", "line", "called"].map((key) => `${permits}:${key}`));
    await until(async () => Number(await server.call("HGET", `${permits}:state`, "used")) >= 2);
    await until(() => {
      for (const end of ends.splice(0)) end();
      return done >= 4;
    });
    for (const { queue, pool } of processes) {
      await queue.shutDownWithDrain();
      await pool.finished;
    }
  },
);

const FAIR = { type: "fair", separator: "/", maxPerGroup: 1, weights: { a: 3 }, within: { type: "priority" } } as const;

for (
  const [lost, discipline] of [
    ["holders", FAIR],
    ["groups", FAIR],
    ["turns", FAIR],
    ["blocked", FAIR],
    ["line:a", FAIR],
    ["line", { type: "priority" }],
    ["line", { type: "priority", maxHeadStart: "unlimited" }],
    ["raised", { type: "priority", maxHeadStart: "unlimited" }],
  ] as const
) {
  const what = JSON.stringify(discipline);
  redisTest(`lost data: all items are handed out after the loss of the key ${lost}, with ${what}`, async (server) => {
    const name = uniqueName("lost");
    await using opened = open(server.url, name, { discipline, leaseDuration: 600 });
    const { queue, history, errors } = opened;
    history.ignore();
    const items = ["a", "b"].flatMap((group) => Array.from({ length: 6 }, (_, i) => `${group}/${i}`));
    await queue.addAll(items, { priority: (item) => Number(item.slice(2)) });
    await queue.add("a/1", { priority: 50 });
    const taken = [await take(queue), await take(queue)];
    for (const key of await keysOf(server.call, name)) {
      if (key.endsWith(`:${lost}`)) await server.call("DEL", key);
    }
    const done = new Set(taken.map(({ item }) => item));
    for (const lease of taken) await lease.finish();
    await queue.add("b/7");
    const most = { a: 0, b: 0 };
    const running = { a: 0, b: 0 };
    const pool = runWorkers(queue, async (item) => {
      const group = item.slice(0, 1) as "a" | "b";
      most[group] = Math.max(most[group], ++running[group]);
      await queue.counts();
      running[group]--;
      done.add(item);
    }, { concurrency: 8, onError() {} });
    await until(() => done.size === 13);
    await queue.whenIdle();
    if (discipline === FAIR) assertEquals(most, { a: 1, b: 1 });
    if (lost !== "holders") assertEquals(errors, []); // otherwise, leases were lost
    await pool.stop();
  });
}

for (const lost of ["state", "permits", "leases"]) {
  redisTest(
    `lost data: after the loss of the key ${lost}, a shared limit is in force, and all items run`,
    async (server) => {
      const [api, name] = [uniqueName("api"), uniqueName("lost")];
      const names = [`${name}-1`, `${name}-2`];
      const document = {
        throttles: { [api]: { type: "concurrency", limit: 2 } },
        queues: Object.fromEntries(names.map((name) => [name, { throttle: api, concurrency: 2 }])),
      };
      const state = `workqueue:{throttle:${api}}:state`;
      let [running, most, ended] = [0, 0, 0];
      const ends: (() => void)[] = [];
      const queues = [server.url, elsewhere(server.url)].map((url, i) => {
        const config = loadConfig(document as never);
        const queue = redisQueues(config, { url, leaseDuration: 600, onQueueError() {} }).queue(names[i]!);
        config.runWorkers(names[i]!, queue, async () => {
          most = Math.max(most, ++running);
          await new Promise<void>((resolve) => ends.push(resolve));
          running--;
          ended++;
        });
        return queue;
      });
      for (const [i, queue] of queues.entries()) {
        await queue.add("a");
        await until(() => running === i + 1); // one attempt in each process
      }
      await server.call("DEL", `workqueue:{throttle:${api}}:${lost}`);
      const renewed = (Number((await server.call("TIME") as string[])[0]) + 2) * 1e6;
      for (const queue of queues) await queue.addAll(["b", "c"]);
      await until(async () => Number(await server.call("HGET", state, "last")) > renewed);
      // Processes report lost permits, so more may start until then.
      if (lost !== "permits") assertEquals([running, most], [2, 2]);
      await until(() => {
        for (const end of ends.splice(0)) end();
        return ended === 6;
      });
      for (const queue of queues) await queue.shutDownWithDrain();
      await until(async () => await server.call("HGET", state, "used") === "0");
    },
  );
}

redisTest(
  "lost data: the permits of a lost process come back, even if the key of the leases was lost",
  async (server) => {
    const [api, name] = [uniqueName("api"), uniqueName("lost")];
    const document = {
      throttles: { [api]: { type: "concurrency", limit: 1 } },
      queues: { [`${name}-1`]: { throttle: api }, [`${name}-2`]: { throttle: api } },
    };
    await using proxy = await RedisProxy.start(server.url);
    const started: string[] = [];
    const open = (url: string, number: number) => {
      const config = loadConfig(document as never);
      const queue = redisQueues(config, { url, leaseDuration: 300, callTimeout: 300, onQueueError() {} })
        .queue(`${name}-${number}`);
      config.runWorkers(`${name}-${number}`, queue, (item, { signal }) => {
        started.push(item as string);
        return item === "last"
          ? undefined
          : new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      }, { onError() {} });
      return queue;
    };
    const gone = open(proxy.url, 1);
    await gone.add("first");
    await until(() => started.length === 1);
    proxy.hold();
    await server.call("DEL", `workqueue:{throttle:${api}}:leases`);
    const other = open(server.url, 2);
    await other.add("last");
    await until(() => started.includes("last"));
    await other.shutDownWithDrain();
    proxy.hold(false);
    await gone.shutDownWithDrain();
  },
);
