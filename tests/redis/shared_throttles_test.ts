/**
 * Tests of throttles that all processes share. Each "process" of these tests has a config and queue objects of its own.
 * `process/shared_throttles_process_test.ts` kills and stops real processes.
 */

import { assert, assertEquals } from "@std/assert";
import {
  loadConfig,
  RetryAfterError,
  type WorkerOptions,
  type WorkerPool,
  type WorkQueueConfig,
} from "@workqueue/core";
import { type RedisQueue, redisQueues, type RedisQueuesOptions } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { elsewhere, until } from "./faults/faults.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, serverTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

/** Attempts of all processes of a test. */
class Attempts {
  running = 0;
  most = 0;
  begun: string[] = [];
  readonly #gates = new Map<string, () => void>();

  /** Handler that ends when the test says so. */
  readonly hold = async (item: string): Promise<void> => {
    this.#begin(item);
    await new Promise<void>((resolve) => this.#gates.set(item, resolve));
    this.running--;
  };

  /** Handler that ends soon. */
  readonly work = async (item: string): Promise<void> => {
    this.#begin(item);
    await delay(2);
    this.running--;
  };

  #begin(item: string): void {
    this.most = Math.max(this.most, ++this.running);
    this.begun.push(item);
  }

  end(count = Infinity): void {
    for (const [item, resolve] of [...this.#gates].slice(0, count)) {
      this.#gates.delete(item);
      resolve();
    }
  }
}

interface Process extends AsyncDisposable {
  readonly config: WorkQueueConfig;
  readonly queues: RedisQueue[];
  readonly pools: WorkerPool<string>[];
}

/** Starts what a process would start: pools on all queues of the document. */
function start(
  url: string,
  document: object,
  handler: (item: string, context: { charge(cost: number): void }) => unknown,
  options: Partial<RedisQueuesOptions> = {},
  poolOptions: WorkerOptions<string> = {},
): Process {
  const config = loadConfig(document as never);
  const open = redisQueues(config, { url, ...options });
  const queues = config.queueNames.map((name) => open.queue(name));
  const pools = queues.map((queue) =>
    config.runWorkers(queue.name, queue, handler as never, { onError() {}, ...poolOptions })
  );
  const close = async () => {
    await Promise.all(queues.map((queue) => queue.shutDownWithDrain()));
    await Promise.all(pools.map((pool) => pool.finished));
  };
  return { config, queues, pools, [Symbol.asyncDispose]: close } as Process;
}

/** Names of a throttle and of two queues that no other test uses. */
const names = () => ({ api: uniqueName("api"), a: uniqueName("a"), b: uniqueName("b") });

function items(count: number, prefix = "item"): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
}

/** Returns the number of permits in use as far as the server knows, for each process that has any. */
async function permitsOf(call: SharedServer["call"], prefix: string): Promise<number[]> {
  const stored = await call("HVALS", `${prefix}:permits`) as string[];
  return stored.map((each) => Number(each.split(" ")[0])).filter((count) => count > 0);
}

redisTest("shared throttles: two queues in six processes share a limit evenly", async ({ url, call }) => {
  const { api, a, b } = names();
  const queue = { throttle: api, concurrency: 5 };
  const document = { throttles: { [api]: { type: "concurrency", limit: 3 } }, queues: { [a]: queue, [b]: queue } };
  const attempts = new Attempts();
  const counts = [0, 0, 0, 0, 0, 0];
  const processes = counts.map((_, i) =>
    start(url, document, async (item) => {
      counts[i]!++;
      await attempts.work(item);
    })
  );
  const [first] = processes;
  for (const name of [a, b]) await until(async () => await call("ZCARD", `workqueue:{${name}}:idle`) === 6);
  assertEquals(await call("EXISTS", `workqueue:{throttle:${api}}:state`), 0, "idle pools ask for no permits");
  await Promise.all(first!.queues.map((queue) => queue.addAll(items(150))));
  for (const queue of first!.queues) await queue.whenIdle();
  assertEquals(attempts.begun.length, 300);
  assertEquals(attempts.most, 3);
  for (const count of counts) assert(count >= 25, `${counts}`);
  assertEquals(await permitsOf(call, `workqueue:{throttle:${api}}`), [], "idle pools hold no permits");
  for (const process of processes) await process[Symbol.asyncDispose]();
  assertEquals(await call("EXISTS", `workqueue:{throttle:${api}}:permits`), 0);
});

redisTest(
  "shared throttles: documents share a throttle by its name, and a throttle without a name belongs to its queue",
  async ({ url }) => {
    const { api, a, b } = names();
    const limit = { type: "concurrency", limit: 2 };
    const attempts = new Attempts();
    await using one = start(
      url,
      { throttles: { [api]: limit }, queues: { [a]: { throttle: api, concurrency: 5 } } },
      attempts.hold,
    );
    await using two = start(
      url,
      { throttles: { [api]: limit }, queues: { [b]: { throttle: api, concurrency: 5 } } },
      attempts.hold,
    );
    await one.queues[0]!.addAll(items(2, "one"));
    await until(() => attempts.running === 2);
    await two.queues[0]!.addAll(items(2, "two"));

    const own = new Attempts();
    const inline = (name: string) => ({ queues: { [name]: { throttle: limit, concurrency: 5 } } });
    const [c, d] = [uniqueName("c"), uniqueName("d")];
    await using _three = start(url, inline(c), own.hold);
    await using four = start(elsewhere(url), inline(c), own.hold);
    await using five = start(url, inline(d), own.hold);
    await four.queues[0]!.addAll(items(5, "c"));
    await five.queues[0]!.addAll(items(5, "d"));
    await until(() => own.running === 4);
    assertEquals(own.begun.map((item) => item[0]).sort(), ["c", "c", "d", "d"]);

    assertEquals(attempts.running, 2);
    attempts.end(1);
    await until(() => attempts.begun.includes("two 0"));
    assertEquals(attempts.most, 2);
    while (attempts.begun.length < 4 || own.begun.length < 10 || attempts.running + own.running > 0) {
      attempts.end();
      own.end();
      await delay(5);
    }
    assertEquals([attempts.most, own.most], [2, 4]);
  },
);

redisTest("shared throttles: a process that always has work leaves the others their turn", async ({ url }) => {
  const { api, a, b } = names();
  const document = (name: string) => ({
    throttles: { [api]: { type: "concurrency", limit: 2 } },
    queues: { [name]: { throttle: api, concurrency: 5 } },
  });
  const attempts = new Attempts();
  await using busy = start(url, document(a), attempts.hold);
  await using rare = start(elsewhere(url), document(b), attempts.hold);
  await busy.queues[0]!.addAll(items(100, "busy"));
  await until(() => attempts.running === 2);
  await rare.queues[0]!.addAll(items(3, "rare"));
  for (let i = 0; i < 3; i++) {
    const before = attempts.begun.length;
    await until(async () => (await rare.queues[0]!.counts()).processing > 0); // it waits for a permit
    while (!attempts.begun.includes(`rare ${i}`)) {
      attempts.end(1);
      await until(() => attempts.running === 2);
    }
    assert(attempts.begun.length - before <= 4, `${attempts.begun}`);
  }
  const ending = setInterval(() => attempts.end(), 1);
  await busy.queues[0]!.whenIdle();
  clearInterval(ending);
  assertEquals(attempts.most, 2);
});

redisTest(
  "shared throttles: after the limit is lowered, nothing begins until fewer run; a higher limit applies at once",
  async ({ url, call }) => {
    const { api, a } = names();
    const document = (throttle: object, name: unknown = api) => ({
      throttles: { [api]: throttle },
      queues: { [a]: { throttle: name, concurrency: 10 } },
    });
    const limit = (limit: number) => ({ type: "concurrency", limit });
    const attempts = new Attempts();
    const processes = [url, elsewhere(url)].map((url) => start(url, document(limit(4)), attempts.hold));
    const reload = (next: object) => processes.forEach(({ config }) => config.reload(next as never));
    const [{ queues: [queue] }] = processes as [Process];
    await queue!.addAll(items(40));
    await until(() => attempts.running === 4);
    reload(document(limit(2)));
    attempts.end(2);
    await delay(100);
    assertEquals([attempts.running, attempts.begun.length], [2, 4]);
    attempts.end(1);
    await until(() => attempts.begun.length === 5);
    await delay(30);
    assertEquals(attempts.running, 2);

    attempts.most = 0;
    const start_ = performance.now();
    reload(document(limit(6)));
    await until(() => attempts.running === 6);
    assert(performance.now() - start_ < 4000, "not at the next renewal only");
    assertEquals(attempts.most, 6);

    reload(document({ type: "breaker" })); // a throttle without a limit on attempts
    await until(() => attempts.running === 20);
    reload(document(limit(7))); // counts the attempts that are running
    await until(async () => await call("HGET", `workqueue:{throttle:${api}}:state`, "used") as number >= 20);
    attempts.end(12);
    await delay(100);
    assertEquals(attempts.running, 8);
    attempts.end(2);
    await until(() => attempts.running === 7);
    await delay(30);
    assertEquals(attempts.running, 7);
    while (attempts.begun.length < 40 || attempts.running > 0) {
      assert(attempts.running <= 7);
      attempts.end();
      await delay(2);
    }
    for (const process of processes) await process[Symbol.asyncDispose]();
  },
);

redisTest("shared throttles: a part of an all-of may change its type and change back", async ({ url, call }) => {
  const { a } = names();
  const document = (part: object) => ({
    queues: { [a]: { throttle: { type: "all-of", throttles: [part, { type: "breaker" }] }, concurrency: 10 } },
  });
  const limit = (limit: number) => document({ type: "concurrency", limit });
  const bucket = (burst: number) => document({ type: "bucket", rate: 1e6, burst });
  const attempts = new Attempts();
  await using process = start(url, bucket(10), attempts.hold);
  const reload = (next: object) => process.config.reload(next as never);
  reload(limit(2));
  await process.queues[0]!.addAll(items(40));
  await until(() => attempts.running === 2);
  reload(limit(3));
  await until(() => attempts.running === 3);
  reload(bucket(20));
  reload(bucket(30));
  await until(() => attempts.running === 10);
  reload(limit(4)); // counts all attempts that are running
  const permits = `workqueue:{${a}}:throttle/throttles/0`;
  await until(async () => (await permitsOf(call, permits)).join() === "10");
  attempts.end(6);
  await delay(50);
  assertEquals(attempts.running, 4);
  const ending = setInterval(() => attempts.end(), 1);
  await process.queues[0]!.whenIdle();
  clearInterval(ending);
  await until(async () => (await permitsOf(call, permits)).length === 0);
});

redisTest("shared throttles: a shutdown returns permits at once", async ({ url, call }) => {
  const { api, a } = names();
  const document = {
    throttles: { [api]: { type: "concurrency", limit: 1 } },
    queues: { [a]: { throttle: api, concurrency: 3 } },
  };
  const [gone, stays] = [new Attempts(), new Attempts()];
  const first = start(url, document, gone.hold);
  await first.queues[0]!.addAll(items(2));
  await until(() => gone.running === 1);
  await using _second = start(elsewhere(url), document, stays.hold);
  const closed = first[Symbol.asyncDispose](); // the item that waits for a permit goes back
  gone.end();
  const began = performance.now();
  await until(() => stays.running === 1);
  assert(performance.now() - began < 4000, "a lease is longer");
  await closed;
  assertEquals(await permitsOf(call, `workqueue:{throttle:${api}}`), [1]);
  stays.end();
});

redisTest(
  "shared throttles: if the reply to a request for permits is lost, the permits are given once",
  async ({ url, call }) => {
    const { api, a } = names();
    const document = {
      throttles: { [api]: { type: "concurrency", limit: 2 } },
      queues: { [a]: { throttle: api, concurrency: 5 } },
    };
    await using proxy = await RedisProxy.start(url);
    const attempts = new Attempts();
    await using process = start(proxy.url, document, attempts.work, { onQueueError() {} });
    await using _other = start(url, document, attempts.work);
    const [queue] = process.queues;
    for (let i = 0; i < 5; i++) {
      const lost = proxy.loseReply(`{throttle:${api}}`);
      await queue!.addAll(items(20, `round ${i}`));
      await lost;
      await queue!.whenIdle();
    }
    assertEquals([attempts.begun.length, attempts.most], [100, 2]);
    assertEquals(await permitsOf(call, `workqueue:{throttle:${api}}`), []);
  },
);

serverTest("shared throttles: scripts may be flushed, and the server may restart", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  const { api, a } = names();
  const document = {
    throttles: { [api]: { type: "concurrency", limit: 2 } },
    queues: { [a]: { throttle: api, concurrency: 5 } },
  };
  const attempts = new Attempts();
  const options = { onQueueError() {}, leaseDuration: 2000 };
  const processes = [0, 1].map(() => start(server.url, document, attempts.hold, options));
  const [{ queues: [queue] }] = processes as [Process];
  await queue!.addAll(items(30));
  const used = async () => Number(await server.call("HGET", `workqueue:{throttle:${api}}:state`, "used"));
  for (const disturb of [() => server.call("SCRIPT", "FLUSH"), () => server.restart()]) {
    await until(() => attempts.running === 2);
    await disturb();
    const { length } = attempts.begun;
    attempts.end(1);
    await until(() => attempts.begun.length > length);
  }
  assertEquals(attempts.most, 2);

  await server.call("FLUSHALL"); // the processes tell the server again what is running
  await until(async () => await used() === attempts.running);
  await queue!.addAll(items(10, "later"));
  attempts.end();
  await until(() => attempts.begun.some((item) => item.startsWith("later")));
  attempts.most = 0;
  const ending = setInterval(() => attempts.end(1), 1);
  await queue!.whenIdle();
  assert(attempts.most <= 2, `${attempts.most}`);
  for (const process of processes) await process[Symbol.asyncDispose]();
  clearInterval(ending);
});

serverTest(
  "shared throttles: a server that has lost its data gets the permits again as soon as it is back",
  async () => {
    await using server = await RedisServer.start();
    const { api, a } = names();
    const document = {
      throttles: { [api]: { type: "concurrency", limit: 2 } },
      queues: { [a]: { throttle: api, concurrency: 5 } },
    };
    const attempts = new Attempts();
    await using process = start(server.url, document, attempts.hold, { onQueueError() {} });
    await process.queues[0]!.addAll(items(2));
    await until(() => attempts.running === 2);
    await server.restart();
    const used = () => server.call("HGET", `workqueue:{throttle:${api}}:state`, "used");
    const began = performance.now();
    await until(async () => await used() === "2");
    assert(performance.now() - began < 5000, "sooner than a third of a lease");
    attempts.end();
  },
);

redisTest(
  "shared throttles: a long attempt keeps its permit, and a pool that pauses returns it",
  async ({ url }) => {
    const { api, a, b } = names();
    const document = (name: string) => ({
      throttles: { [api]: { type: "concurrency", limit: 1 } },
      queues: { [name]: { throttle: api, concurrency: 5 } },
    });
    await using proxy = await RedisProxy.start(url);
    const options = { leaseDuration: 300 };
    const attempts = new Attempts();
    await using slow = start(proxy.url, document(a), attempts.hold, options);
    await using other = start(url, document(b), attempts.hold, options);
    await slow.queues[0]!.add("long");
    await until(() => attempts.running === 1);
    await other.queues[0]!.add("other");
    await delay(1000); // longer than three leases
    assertEquals(attempts.begun, ["long"]);
    attempts.end();
    await until(() => attempts.begun.length === 2);
    await slow.queues[0]!.add("late");
    await until(async () => (await slow.queues[0]!.counts()).processing === 1); // it waits for a permit

    proxy.holdReplies();
    slow.pools[0]!.pause();
    attempts.end(); // the permit goes to the pool that has just been paused
    await delay(50);
    proxy.holdReplies(false);
    await other.queues[0]!.add("next");
    await until(() => attempts.begun.includes("next"));
    attempts.end();
    slow.pools[0]!.resume();
    await until(() => attempts.begun.includes("late"));
    attempts.end();
    assertEquals(attempts.most, 1);
  },
);

redisTest("shared throttles: a limit and a rate that are set in code take effect at once", async ({ url }) => {
  const { api, a, b } = names();
  const slow = uniqueName("slow");
  const document = {
    throttles: { [api]: { type: "concurrency", limit: 1 }, [slow]: { rate: 0, burst: 1 } },
    queues: { [a]: { throttle: { type: "all-of", throttles: [api] }, concurrency: 5 }, [b]: { throttle: slow } },
  };
  const attempts = new Attempts();
  await using process = start(url, document, attempts.hold);
  const [limited, paced] = process.queues;
  await limited!.addAll(items(3, "a"));
  await until(() => attempts.running === 1);
  const throttle = process.config.throttle(api) as unknown as { setLimit(limit: number): void };
  throttle.setLimit(3);
  const soon = performance.now() + 4000; // without a message, a gate asks again after a third of a lease
  await until(() => attempts.running === 3);
  await paced!.addAll(items(2, "b"));
  await until(() => attempts.running === 4);
  process.config.bucket(slow).setRate(1000);
  attempts.end();
  await until(() => attempts.begun.length === 5);
  assert(performance.now() < soon);
  attempts.end();
});

redisTest("shared throttles: a named bucket is shared by its queues and their processes", async ({ url }) => {
  const { api, a, b } = names();
  const document = {
    throttles: { [api]: { rate: 0, burst: 7 } },
    queues: { [a]: { throttle: api }, [b]: { throttle: api, concurrency: 4 } },
  };
  const attempts = new Attempts();
  const processes = [url, elsewhere(url)].map((url) => start(url, document, attempts.work));
  const { queues } = processes[0]!;
  for (const queue of queues) await queue.addAll(items(10));
  await until(() => attempts.begun.length === 7);
  await delay(100);
  assertEquals(attempts.begun.length, 7);
  processes[1]!.config.reload({ ...document, throttles: { [api]: { rate: 1000, burst: 7 } } } as never);
  processes[0]!.config.reload({ ...document, throttles: { [api]: { rate: 1000, burst: 7 } } } as never);
  for (const queue of queues) await queue.whenIdle({ signal: AbortSignal.timeout(4000) });
  assertEquals(attempts.begun.length, 20);
  for (const process of processes) await process[Symbol.asyncDispose]();
});

redisTest(
  "shared throttles: attempts cost tokens of a named bucket, and a pause stops only this process",
  async ({ url, call }) => {
    const { api, a } = names();
    const document = { throttles: { [api]: { rate: 1e-9, burst: 100 } }, queues: { [a]: { throttle: api } } };
    const done: string[] = [];
    await using process = start(
      url,
      document,
      (item, { charge }) => {
        charge(-200); // gives back the 40 that are booked
        charge(60);
        done.push(item);
        if (item === "late") throw new RetryAfterError("1h", "later", { scope: "queue" });
      },
      {},
      { cost: () => 40 },
    );
    const [queue] = process.queues;
    const tokens = async () => {
      const stored = await call("HGET", `workqueue:{throttle:${api}}:buckets`, "tokens");
      return Math.round(Number(String(stored).split(" ")[0]));
    };
    await queue!.add("one");
    await until(async () => await tokens() === 40);
    process.config.bucket(api).pauseFor("1h");
    await queue!.add("late");
    await delay(50);
    assertEquals(done, ["one"]);
    process.config.bucket(api).resume();
    await until(() => done.length === 2);
    await until(async () => await tokens() === -20);
    await queue!.add("three");
    await delay(50);
    assertEquals(done, ["one", "late"]);
  },
);

redisTest(
  "shared throttles: the parts of an all-of are shared too, except that each process has its own breaker",
  async ({ url, call }) => {
    const { api, a, b } = names();
    const document = (rate: number) => ({
      throttles: {
        [api]: { type: "concurrency", limit: 3 },
        both: {
          type: "all-of",
          throttles: [api, { type: "bucket", rate, burst: 5 }, { type: "breaker", minAttempts: 2, openFor: "1h" }],
        },
      },
      queues: {
        [a]: { throttle: { type: "all-of", throttles: [api, { rate: 0, burst: 9 }] }, concurrency: 9 },
        [b]: { throttle: api, concurrency: 9 },
      },
    });
    const attempts = new Attempts();
    const processes = [url, elsewhere(url)].map((url) => start(url, document(0), attempts.work));
    for (const queue of processes[0]!.queues) await queue.addAll(items(20, queue.name));
    await until(() => attempts.begun.length === 29);
    await delay(50);
    assertEquals([attempts.begun.length, attempts.begun.filter((item) => item.startsWith(a)).length], [29, 9]);
    assertEquals(attempts.most, 3);
    assertEquals(await permitsOf(call, `workqueue:{throttle:${api}}`), []);
    for (const process of processes) await process[Symbol.asyncDispose]();
  },
);

redisTest(
  "shared throttles: in a process that is cut off, signals abort before others get its permits",
  async ({ url }) => {
    const { api, a } = names();
    const LEASE = 900;
    const document = {
      throttles: { [api]: { type: "concurrency", limit: 1 } },
      queues: { [a]: { throttle: api, concurrency: 1 } },
    };
    await using proxy = await RedisProxy.start(url);
    const signals: AbortSignal[] = [];
    const begun: string[] = [];
    const wrong: string[] = [];
    const handler = async (item: string, { signal }: { signal: AbortSignal }) => {
      if (signals.some(({ aborted }) => !aborted)) wrong.push(item);
      begun.push(item);
      signals.push(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const stop = new AbortController();
    const options = [{ leaseDuration: LEASE, onQueueError() {} }, { signal: stop.signal }] as const;
    const cutOff = start(proxy.url, document, handler as never, ...options);
    await cutOff.queues[0]!.add("one");
    await until(() => begun.length === 1);
    const other = start(elsewhere(url), document, handler as never, ...options);
    await other.queues[0]!.add("two");
    await until(async () => (await other.queues[0]!.counts()).processing === 2);
    await delay(LEASE / 4);
    await other.queues[0]!.add("three");
    const taken = await cutOff.queues[0]!.get(); // renews the leases on the items, and not on the permit
    proxy.hold();
    await until(() => begun.length === 2);
    assertEquals(wrong, []);
    proxy.hold(false);
    stop.abort();
    if (!taken.shutdown) await taken.finish();
    for (const process of [cutOff, other]) await process[Symbol.asyncDispose]();
  },
);
