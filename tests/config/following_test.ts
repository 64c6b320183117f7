/** Tests of rule 16 for pools and other objects that adopt a reloaded document. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  ConfigError,
  loadConfig,
  runWorkers,
  type SourcedQueue,
  TerminalError,
  TokenBucket,
  type WorkerPool,
} from "@workqueue/core";
import { baseSource, SOURCE } from "@workqueue/core/hooks";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

const bucket = (rate: number, burst: number) => ({ type: "bucket", rate, burst });

/** Runs a pool on the config's queue `q`. The pool's handlers end on request. */
async function run(queue: object, options: { concurrency?: number; maxRetries?: number; throttle?: TokenBucket } = {}) {
  const clock = new HandClock();
  const config = loadConfig({ limiters: { shared: bucket(0, 1) }, queues: { q: queue } }, { clock });
  const ends: (() => void)[] = [];
  const events: string[] = [];
  const source = config.queue<string>("q");
  const pool = config.runWorkers("q", source, () => new Promise<void>((resolve) => ends.push(resolve)), {
    onError: (error, item) => events.push(`${item}: ${error}`),
    onGiveUp: (_, item) => events.push(`${item} is given up`),
    ...options,
  });
  for (let i = 0; i < 20; i++) source.add(`item ${i}`);
  await flush();
  const reload = async (queue: object, others: object = {}) => {
    const changes = config.reload({ limiters: { shared: bucket(0, 1) }, queues: { q: queue, ...others } });
    await flush();
    return changes;
  };
  return { clock, config, source, pool, ends, events, reload };
}

/** Ends all running handlers and stops the pool. */
async function end(
  { source, pool, ends }: { source: { shutDown(): void }; pool: WorkerPool<string>; ends: (() => void)[] },
) {
  source.shutDown();
  const stopped = pool.stop();
  for (const end of ends) end();
  await stopped;
}

Deno.test("rule 16: a pool has the concurrency that the document sets, or the default", async () => {
  const running = await run({ concurrency: 2 });
  const { pool, reload } = running;
  const active: number[] = [pool.active];
  for (const queue of [{ concurrency: 5 }, {}, { concurrency: 6 }]) {
    await reload(queue);
    active.push(pool.concurrency, pool.active);
  }
  assertEquals(active, [2, 5, 5, 1, 5, 6, 6]);
  await end(running);
});

Deno.test("rule 16: if documents remove an option and add it again, a queue follows it again", async () => {
  const clock = new HandClock();
  const limiter = { type: "exponential", baseDelay: 10, maxDelay: 10 };
  const document = (options: object) => ({ queues: { q: { limiter, ...options } } });
  const options = (n: number) => ({ retryBudget: { ratio: 0, minRate: n }, keepGivenUp: n, forgetAfter: 100 * n });
  const config = loadConfig(document(options(1)), { clock });
  const queue = config.queue<string>("q", { clock });
  for (const next of [{}, options(2), {}, options(3)]) {
    const changes = config.reload(document(next));
    assertEquals(changes.map(({ inForce }) => inForce), ["nextStart", "nextStart", "nextStart"]);
  }
  const added = config.queue<string>("q", { clock });
  const changes = config.reload(document(options(20)));
  assertEquals(changes.map(({ path, inForce }) => [path, inForce]), [
    ["/queues/q/forgetAfter", "now"],
    ["/queues/q/retryBudget", "now"],
    ["/queues/q/keepGivenUp", "now"],
  ]);
  for (const each of [queue, added]) {
    each.addRateLimited("a");
    each.addRateLimited("b");
    await clock.advance(60);
    assertEquals([each.length, each.snapshot().blocked], [2, 0], "20 retries per second");
    const pool = runWorkers(each, (item) => {
      throw new TerminalError(item);
    }, { clock, onError() {} });
    for (let i = 0; i < 5; i++) each.add(`${i}`);
    await flush();
    await pool.stop();
    assertEquals((await each.givenUp()).total, 7);
    each.addRateLimited("c");
    await clock.advance(10 + 1999);
    assertEquals(each.numRequeues("c"), 1);
    await clock.advance(1);
    assertEquals(each.numRequeues("c"), 0);
    each.shutDown();
  }
});

Deno.test("rule 16: options set in code stay, whatever documents set", async () => {
  const running = await run({ concurrency: 2, maxRetries: 5 }, { concurrency: 3 });
  const { pool, reload } = running;
  await reload({ concurrency: 9, maxRetries: 0 });
  assertEquals([pool.concurrency, pool.active], [3, 3]);
  await reload({});
  assertEquals(pool.concurrency, 3);
  await end(running);
});

Deno.test("rule 16: a value set by hand on a pool stays until its line in the document changes", async () => {
  const running = await run({ concurrency: 2 });
  const { pool, reload } = running;
  pool.concurrency = 7;
  await reload({ concurrency: 2, timeout: "1h" });
  assertEquals(pool.concurrency, 7);
  await reload({ concurrency: 3, timeout: "1h" });
  assertEquals(pool.concurrency, 3);
  await end(running);
});

Deno.test("rule 16: running attempts keep their timeout, and the next attempts have the new one", async () => {
  const running = await run({ timeout: 1000 });
  const { clock, events, reload } = running;
  await reload({ timeout: 10, concurrency: 2 });
  await clock.advance(10);
  assertEquals(events.map((event) => event.slice(0, 7)), ["item 1:"]);
  await reload({ concurrency: 2 });
  await clock.advance(1000);
  assertEquals(events.map((event) => event.slice(0, 7)).slice(-1), ["item 0:"]);
  await end(running);
});

Deno.test("pool options that are not an object are refused", () => {
  const config = loadConfig({ queues: { q: {} } });
  const queue = config.queue<string>("q");
  const error = assertThrows(() => config.runWorkers("q", queue, () => {}, 5 as never), TypeError);
  assertEquals(error.message, "Cannot run workers: 'options' must be an object, got 5");
});

Deno.test("rule 16: retries are limited by the document that is in force when an attempt fails", async () => {
  const clock = new HandClock();
  const limiter = { type: "exponential", baseDelay: 0, maxDelay: 0 };
  const document = (maxRetries?: number) => ({ queues: { q: { limiter, maxRetries } } });
  const config = loadConfig(document(2), { clock });
  const queue = config.queue<string>("q");
  const attempts: number[] = [];
  const givenUp: number[] = [];
  config.runWorkers("q", queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempt === 2) config.reload(document());
    if (attempt === 5) config.reload(document(1));
    throw new Error("no");
  }, { onError() {}, onGiveUp: (_error, _item, attempts) => givenUp.push(attempts) });
  queue.add("a");
  await flush();
  assertEquals([attempts, givenUp], [[1, 2, 3, 4, 5], [5]]);
  queue.shutDown();
});

Deno.test("rule 16: a throttle appears, changes, moves to a shared bucket and disappears", async () => {
  const running = await run({ concurrency: 20 });
  const { clock, config, pool, ends, reload } = running;
  assertEquals(pool.active, 20);
  for (const end of ends.splice(0)) end();
  const { source } = running;
  await flush();
  assertEquals(pool.active, 0);

  await reload({ concurrency: 20, throttle: { rate: 1, burst: 3 } });
  for (let i = 0; i < 20; i++) source.add(`again ${i}`);
  await flush();
  assertEquals(pool.active, 3);
  await reload({ concurrency: 20, throttle: { rate: 1000, burst: 3 } });
  await clock.advance(4);
  assertEquals(pool.active, 7);
  await reload({ concurrency: 20, throttle: "shared" });
  await clock.advance(1000);
  assertEquals([pool.active, config.bucket("shared").tokens], [8, 0]);
  await reload({ concurrency: 20 });
  assertEquals(pool.active, 20);
  await end(running);
});

Deno.test("rule 16: one reload changes all pools, and none begins a handler before the whole reload is in force", async () => {
  const clock = new HandClock();
  const document = (rate: number, concurrency: number) => ({
    limiters: { shared: bucket(rate, 1) },
    queues: { q: { throttle: "shared", concurrency }, r: { concurrency, limiter: "shared" } },
  });
  const config = loadConfig(document(0, 2), { clock });
  const seen: unknown[] = [];
  const queues = ["q", "r"].map((name) => config.queue<string>(name));
  const pools: WorkerPool<string>[] = queues.map((queue, i) =>
    config.runWorkers("qr"[i]!, queue, () => {
      seen.push([
        config.bucket("shared").rate,
        ...pools.map((pool) => pool.concurrency),
        config.workers("q").concurrency,
      ]);
      return new Promise(() => {});
    })
  );
  for (const queue of queues) for (let i = 0; i < 5; i++) queue.add(String(i));
  await flush();
  seen.length = 0;
  config.reload(document(Infinity, 3)); // attempts that are waiting for a token can start now
  assertEquals(seen, seen.map(() => [Infinity, 3, 3, 3]));
  await flush();
  assertEquals(seen, Array(3).fill([Infinity, 3, 3, 3]));
  for (const queue of queues) queue.shutDown();
});

Deno.test("rule 16: a pool whose queue is removed from the document continues, and follows again when the queue is back", async () => {
  const running = await run({ concurrency: 4 });
  const { pool, config, reload } = running;
  config.reload({});
  config.reload({ queues: { other: { concurrency: 9 } } });
  assertEquals(pool.concurrency, 4);
  pool.concurrency = 5;
  await reload({ concurrency: 4 });
  assertEquals(pool.concurrency, 5, "the line is the same as the last time");
  config.reload({});
  await reload({ concurrency: 8 });
  assertEquals([pool.concurrency, pool.active], [8, 8]);
  await end(running);
});

Deno.test("rule 16: a pool that has ended follows no more documents, even if it ended with an error", async () => {
  const document = { queues: { q: {} } };
  const config = loadConfig(document);
  const counting = { on: 0 };
  const source = (failure?: Error): SourcedQueue<string> => ({
    [SOURCE]: () => ({
      ...baseSource,
      name: "q",
      attemptOf: () => 1,
      finish() {},
      tryTake() {
        if (failure !== undefined) throw failure;
        return undefined;
      },
      take: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    }),
  });
  const follow = config.onReload.bind(config);
  config.onReload = (prepare) => {
    const end = follow(prepare);
    counting.on++;
    return () => {
      counting.on--;
      end();
    };
  };
  const pool = config.runWorkers("q", source(), () => {});
  config.runWorkers("q", source(new Error("the queue is broken")), () => {});
  await flush();
  assertEquals(counting.on, 1, "the rejection of the broken one is no unhandled one");
  await pool.stop();
  await flush();
  assertEquals(counting.on, 0);
});

Deno.test("runWorkers of a config refuses unknown names, and refuses options like runWorkers", () => {
  const config = loadConfig({ queues: { images: {} } });
  const queue = config.queue<string>("images");
  assertThrows(() => config.runWorkers("imags", queue, () => {}), RangeError, 'did you mean "images"?');
  assertThrows(() => config.runWorkers("images", queue, () => {}, { concurrency: 0 }), RangeError, "'concurrency'");
  assertThrows(
    () => config.runWorkers("images", queue, () => {}, { maxRetry: 1 } as object),
    TypeError,
    '"maxRetries"',
  );
  assertThrows(
    () => config.runWorkers("images", queue, () => {}, null as never),
    TypeError,
    "'options' must be an object",
  );
  assertThrows(() => config.runWorkers("images", {} as never, () => {}), TypeError, "'queue'");
  queue.shutDown();
});

Deno.test("rule 16: a follower is asked first, with the whole next document, and notified when it is in force", () => {
  const config = loadConfig({ limiters: { a: bucket(1, 1) }, queues: { q: { concurrency: 1 } } });
  const log: unknown[] = [];
  const end = config.onReload((next) => {
    log.push([
      "asked",
      next.limiterNames,
      next.queueNames,
      next.workers("q").concurrency,
      next.describe("q").concurrency,
    ]);
    log.push(["in force", config.limiterNames, config.workers("q").concurrency]);
    assertStrictEquals(next.limiter("a"), config.limiter("a"));
    assertStrictEquals(next.bucket("a"), config.bucket("a"));
    assertEquals([next.limiter("b").when("x"), config.bucket("a").rate], [0, 1]);
    return () => log.push(["notified", config.limiterNames, config.workers("q").concurrency, config.bucket("a").rate]);
  });
  config.onReload(() => void log.push("another"));
  const next = { limiters: { a: bucket(2, 1), b: bucket(1, 1) }, queues: { q: { concurrency: 5 } } };
  config.reload(next);
  assertEquals(log, [
    ["asked", ["a", "b"], ["q"], 5, 5],
    ["in force", ["a"], 1],
    "another",
    ["notified", ["a", "b"], 5, 2],
  ]);
  end();
  end();
  config.reload(next);
  assertEquals(log.slice(4), ["another"]);
});

Deno.test("rule 16: a follower may refuse the document; then nothing changes and no follower is notified", async () => {
  const running = await run({ concurrency: 2 });
  const { config, pool, reload } = running;
  const reported: string[] = [];
  config.onReload(() => () => reported.push("first"));
  const error = new Error("not while the moon is full");
  const end_ = config.onReload(() => {
    throw error;
  });
  const before = structuredClone(config.describe("q"));
  assertStrictEquals(
    assertThrows(() => config.reload({ limiters: { new: bucket(1, 1) }, queues: { q: { concurrency: 9 } } })),
    error,
  );
  await flush();
  assertEquals([pool.concurrency, reported, structuredClone(config.describe("q"))], [2, [], before]);
  assertThrows(() => config.limiter("new"), RangeError);
  end_();
  assertThrows(() => config.reload({ queues: { q: { concurrency: -1 } } }), ConfigError);
  assertEquals(reported, []);
  await reload({ concurrency: 9 });
  assertEquals([pool.concurrency, reported], [9, ["first"]]);
  await end(running);
});

Deno.test("rule 16: an error of a notified follower doesn't keep the document from being in force", () => {
  const config = loadConfig({ queues: { q: { concurrency: 1 } } });
  const reported: string[] = [];
  config.onReload(() => () => {
    throw new Error("too late");
  });
  config.onReload(() => () => reported.push("second"));
  assertThrows(() => config.reload({ queues: { q: { concurrency: 2 } } }), Error, "too late");
  assertEquals([config.workers("q").concurrency, reported], [2, ["second"]]);
  assertThrows(() => config.reload({ queues: {} }), Error, "too late");
  assertEquals(config.queueNames, []);
});

Deno.test("a follower is a function that returns a function or nothing", () => {
  const config = loadConfig({});
  assertThrows(() => config.onReload({} as never), TypeError, "'prepare' must be a function");
  config.onReload((() => Promise.resolve()) as never);
  assertThrows(() => config.reload({ queues: { q: {} } }), TypeError, "'prepare()' must be a function, or nothing");
  assertEquals(config.queueNames, []);
});

Deno.test("rule 16: a pool shows which bucket its tokens come from", async () => {
  const config = loadConfig({ queues: { images: { throttle: { rate: 5, burst: 1 } } } });
  const queue = config.queue<string>("images");
  await using pool = config.runWorkers("images", queue, () => {});
  assertStrictEquals(pool.throttle, config.workers("images").throttle);
  config.reload({ queues: { images: {} } });
  assertEquals(pool.throttle, undefined);

  const throttle = new TokenBucket(1, 1);
  await using other = config.runWorkers("images", queue, () => {}, { throttle });
  assertStrictEquals(other.throttle, throttle);
});
