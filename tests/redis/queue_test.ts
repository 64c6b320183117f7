/** Tests of the queue on Redis from a user's point of view, with one process and a real server. */

import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import {
  ConfigError,
  createExponentialLimiter,
  createPriorityDiscipline,
  defineLimiter,
  InMemoryMetrics,
  limiters,
  loadConfig,
  type Outcome,
  runWorkers,
  TerminalError,
  TokenBucket,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import {
  createRedisQueue,
  type RedisLease,
  type RedisQueue,
  type RedisQueueOptions,
  redisQueues,
} from "@workqueue/redis";
import { codeOf, HandClock } from "../helpers.ts";
import { countsOf } from "../contracts/counts.ts";
import { until } from "./faults/faults.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

/** Queue for a test, and all errors reported to its `onQueueError`. */
interface Opened<T> {
  readonly queue: RedisQueue<T>;
  readonly errors: string[];
  readonly name: string;
}

const SLOW = { type: "exponential", baseDelay: "1m", maxDelay: "1h" } as const;
const QUICK = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;

function queueTest<T = string>(
  name: string,
  options: Partial<RedisQueueOptions<T>>,
  run: (opened: Opened<T>, server: SharedServer) => Promise<void>,
): void {
  redisTest(`queue: ${name}`, async (server) => {
    const errors: string[] = [];
    const name = uniqueName("queue");
    const onQueueError = (error: unknown) => void errors.push(String(error));
    await using queue = createRedisQueue<T>(
      { name, url: server.url, onQueueError, ...options } as RedisQueueOptions<T>,
    );
    await run({ queue, errors, name }, server);
  });
}

async function take<T>(queue: RedisQueue<T>): Promise<RedisLease<T>> {
  const lease = await queue.get();
  assertFalse(lease.shutdown);
  return lease as RedisLease<T>;
}

queueTest("adds are folded, and items come in the order of their first adds", {}, async ({ queue }) => {
  queue.add("a");
  queue.add("b");
  await queue.add("a");
  assertEquals(await countsOf(queue), { ready: 2, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 });
  const first = await take(queue);
  const second = await take(queue);
  assertEquals([first.item, second.item], ["a", "b"]);
  assert(first.token < second.token);
  assert(await first.finish());
  assert(await second.finish());
  await queue.whenIdle();
});

queueTest("an item that is added while processing comes again, after the others", {}, async ({ queue }) => {
  await queue.add("a");
  const lease = await take(queue);
  await queue.addAll(["a", "b"]);
  assertEquals((await queue.snapshot()).processingItems, [{ item: "a", priority: 0, addedAgain: true }]);
  await lease.finish();
  const items: string[] = [];
  for await (const item of queue) {
    items.push(item);
    if (items.length === 2) break;
  }
  assertEquals(items, ["b", "a"]);
  assertEquals((await queue.counts()).processing, 0);
});

queueTest("a lease that is disposed is done, and its failures stay", { limiter: SLOW }, async ({ queue }) => {
  await queue.addRateLimited("a");
  await queue.add("a");
  {
    await using lease = await take(queue);
    assertEquals(lease.attempt, 2);
  }
  assertEquals(await queue.numRequeues("a"), 1);
  await queue.forget("a");
  assertEquals(await queue.numRequeues("a"), 0);
});

queueTest("each outcome has its effect", { limiter: SLOW }, async ({ queue }) => {
  const outcomes = [
    undefined,
    { requeue: false },
    { requeueAfter: 0 },
    { requeue: true },
    { requeue: true, requeueAfter: "-1s" },
    { requeueAfter: "2m" },
    { giveUp: "bad" },
    { giveUp: undefined },
  ] as const;
  const found: unknown[] = [];
  for (const outcome of outcomes) {
    await queue.addRateLimited("a");
    await queue.cancelDelayed("a");
    await queue.add("a");
    assert(await (await take(queue)).finish(outcome));
    const { delayed, failing, givenUp } = await queue.counts();
    const { delayedItems: [first] } = await queue.snapshot();
    found.push([delayed, failing, givenUp, first && Math.round(first.dueInMs / 60_000)]);
    await queue.cancelDelayed("a");
    await queue.forget("a");
  }
  assertEquals(found, [
    [0, 0, 0, undefined],
    [0, 0, 0, undefined],
    [0, 0, 0, undefined],
    [1, 1, 0, 2],
    [1, 1, 0, 2],
    [1, 0, 0, 2],
    [0, 0, 1, undefined],
    [0, 0, 1, undefined],
  ]);
  await queue.add("a");
  assertEquals((await queue.counts()).givenUp, 0);
});

queueTest("a lease is finished once, and later calls get the first answer", { limiter: SLOW }, async ({ queue }) => {
  await queue.add("a");
  const lease = await take(queue);
  assertEquals(await Promise.all([lease.finish({ requeue: true }), lease.finish()]), [true, true]);
  await lease[Symbol.asyncDispose]();
  assertEquals((await queue.counts()).failing, 1);
});

queueTest("an invalid outcome is refused, and the lease continues", {}, async ({ queue, errors }) => {
  await queue.add("a");
  const lease = await take(queue);
  await assertRejects(() => lease.finish({ requeu: true } as never), TypeError, 'did you mean "requeue"?');
  await assertRejects(() => lease.finish({ requeue: true, priority: "high" as never }), TypeError, "'priority'");
  await assertRejects(() => lease.finish({ requeueAfter: "soon" }), TypeError, "requeueAfter");
  for (const other of [{ requeueAfter: "1h" }, { requeue: true }]) {
    const message = "Cannot finish item: 'giveUp' can't be combined with 'requeue', 'requeueAfter' or 'priority'";
    const error = await assertRejects(() => lease.finish({ giveUp: "bad", ...other }), TypeError, message);
    assertEquals(codeOf(error), "WQ_ARGUMENT");
  }
  assertEquals(errors.length, 5);
  assert(await lease.finish());
});

queueTest("the earlier deadline of a delay counts, and a delay can be cancelled", {}, async ({ queue }) => {
  await queue.addAfter("a", "1h");
  await queue.addAfter("a", "1m");
  await queue.addAfter("a", "2h");
  const { delayedItems } = await queue.snapshot();
  assertEquals(delayedItems.map(({ item, dueInMs }) => [item, Math.ceil(dueInMs / 60_000)]), [["a", 1]]);
  assertEquals(await queue.cancelDelayed("a"), true);
  assertEquals(await queue.cancelDelayed("a"), false);
  await queue.addAfter("now", -5);
  assertEquals((await queue.counts()).ready, 1);
});

queueTest("a delayed item comes twice if it is added as well", {}, async ({ queue }) => {
  await queue.addAfter("a", "1h");
  await queue.add("a");
  const { ready, delayed } = await queue.counts();
  assertEquals([ready, delayed], [1, 1]);
});

queueTest("with 'replace', the item comes once", { addWhileDelayed: "replace" }, async ({ queue }) => {
  await queue.addAfter("a", "1h");
  await queue.add("a");
  await queue.addAfter("a", "1h");
  const { ready, delayed } = await queue.counts();
  assertEquals([ready, delayed], [1, 0]);
});

queueTest(
  "with 'fold', an item that failed in a pool comes once, when its retry is due",
  { addWhileDelayed: "fold", limiter: SLOW },
  async ({ queue }) => {
    const [begun, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const pool = runWorkers(queue, async () => {
      if (++attempts > 1) return;
      begun.resolve();
      await failed.promise;
      throw new Error("down");
    }, { onError() {} });
    const counts = async () => {
      const { ready, delayed, processing } = await queue.counts();
      return [ready, delayed, processing];
    };
    await queue.add("a");
    await begun.promise;
    await queue.add("a"); // an event during the attempt
    failed.resolve();
    await until(async () => (await queue.counts()).processing === 0);
    await queue.add("a"); // and one after it
    assertEquals([await counts(), attempts], [[0, 1, 0], 1]);
    await queue.forget("a");
    await queue.add("a");
    await until(() => attempts === 2);
    await until(async () => (await queue.counts()).processing === 0);
    assertEquals(await counts(), [0, 0, 0]);
    await queue.addAfter("a", "1h");
    await queue.add("a");
    await until(() => attempts === 3);
    await pool.stop();
  },
);

queueTest("a waiting get is served when an item is added, and when an item is due", {}, async ({ queue }) => {
  const first = take(queue);
  const second = take(queue);
  await queue.addAfter("later", 500);
  await queue.add("now");
  assertEquals([(await first).item, (await second).item], ["now", "later"]);
  await (await first).finish();
  await (await second).finish();
});

interface Page {
  url: string;
  etag: number;
}

queueTest<Page>(
  "items with a key travel as JSON, the newest of them",
  { keyOf: ({ url }) => url, limiter: SLOW }, // slow, so that the retry is not due before the handler ends
  async ({ queue }) => {
    await queue.add({ url: "/", etag: 1 });
    await queue.add({ url: "/", etag: 2 });
    const lease = await take(queue);
    assertEquals(lease.item, { url: "/", etag: 2 });
    await queue.addAfter({ url: "/", etag: 3 }, "1h");
    await queue.addRateLimited(lease.item);
    await lease.finish({ requeueAfter: "1h" });
    assertEquals((await queue.snapshot()).delayedItems.map(({ item }) => item), [{ url: "/", etag: 3 }]);
  },
);

queueTest<Page>("nothing of an item is left when it is done", { keyOf: ({ url }) => url }, async (opened, { call }) => {
  const { queue, name } = opened;
  await queue.add({ url: "/", etag: 1 });
  await (await take(queue)).finish();
  await queue.addAfter({ url: "/", etag: 1 }, "1h");
  await queue.cancelDelayed({ url: "/", etag: 1 });
  await queue.shutDownWithDrain();
  assertEquals(await call("KEYS", `workqueue:{${name}}:*`), [`workqueue:{${name}}:meta`]);
});

queueTest("a signal can end a wait, and no item is lost", {}, async ({ queue, errors }) => {
  const aborting = new AbortController();
  const lease = queue.get({ signal: aborting.signal });
  const other = take(queue);
  aborting.abort(new Error("enough"));
  await assertRejects(() => lease, Error, "enough");
  await queue.add("a");
  assertEquals((await other).item, "a");
  await (await other).finish();
  await assertRejects(() => queue.get({ signal: aborting.signal }), Error, "enough");
  assertEquals(errors, []);
});

queueTest(
  "after shutdown, the queue hands out and adds nothing, but held items can be finished",
  {},
  async ({ queue, errors, name }, server) => {
    await queue.addAll(["a", "b"]);
    const lease = await take(queue);
    const waiting = queue.get().then(async (got) => got.shutdown || await got.finish({ requeue: true }));
    await waiting;
    const last = queue.get();
    queue.shutDown();
    assert((await last).shutdown);
    assert((await queue.get()).shutdown);
    await assertRejects(() => queue.add("c"), Error, "Cannot add item: this queue object was shut down");
    const message = "Cannot wait for idle queue: this queue object was shut down";
    await assertRejects(() => queue.whenIdle(), Error, message);
    assertEquals(errors.length, 2);
    const drained = queue.shutDownWithDrain();
    assert(await lease.finish());
    await drained;
    await using other = createRedisQueue({ name, url: server.url });
    const { ready, delayed: later, processing } = await other.counts();
    assertEquals([ready + later, processing], [1, 0]);
  },
);

queueTest(
  "requeue and requeueAfter in a drain of one process leave the item to the others",
  {},
  async (parts, server) => {
    const { queue, name } = parts;
    const begun = Promise.withResolvers<void>();
    const drains = Promise.withResolvers<void>();
    let count = 0;
    const pool = runWorkers(queue, async (item): Promise<Outcome> => {
      if (++count === 2) begun.resolve();
      await drains.promise;
      return item === "again" ? { requeue: true } : { requeueAfter: "1h" };
    }, { concurrency: 2 });
    await queue.addAll(["again", "later"]);
    await begun.promise;
    const drained = queue.shutDownWithDrain();
    drains.resolve();
    await Promise.all([drained, pool.finished]);
    await using other = createRedisQueue({ name, url: server.url });
    const { ready, delayed, processing } = await other.counts();
    assertEquals([ready + delayed, processing], [2, 0], "a resync goes on after a deploy");
  },
);

queueTest("a signal can end a drain", {}, async ({ queue }) => {
  await queue.add("a");
  const lease = await take(queue);
  await assertRejects(() => queue.shutDownWithDrain({ signal: AbortSignal.abort(new Error("now")) }), Error, "now");
  await lease.finish();
});

queueTest("an invalid item is reported, whether the call is awaited or not", {}, async ({ queue, errors }) => {
  queue.add({} as never);
  await assertRejects(() => queue.addAfter("a", "soon"), TypeError, "Cannot add item: 'delay'");
  await assertRejects(() => queue.addAfter("a", NaN), RangeError);
  await assertRejects(
    () => queue.add("a", { priority: NaN }),
    RangeError,
    "Cannot add item: 'priority' must be a finite number, got NaN",
  );
  await assertRejects(() => queue.snapshot({ limit: 1001 }), RangeError, "from 0 to 1000");
  assertStringIncludes(errors[0]!, "the item must be a string where there is no 'keyOf'");
  assertEquals(errors.length, 5);
});

redisTest("queue: wrong options are refused", ({ url }) => {
  const create = (options: object) => () => createRedisQueue({ name: "a", url, ...options } as never);
  assertThrows(create({ name: "" }), TypeError, "'name' must be a non-empty string without braces");
  assertThrows(create({ name: "a{b}" }), TypeError, "without braces");
  assertThrows(create({ name: undefined }), TypeError, "'name'");
  assertThrows(create({ leaseDuration: 99 }), RangeError, "'leaseDuration' must be a duration from 100 ms to a day");
  assertThrows(create({ leaseDuration: "long" }), TypeError, "'leaseDuration'");
  assertThrows(create({ callTimeout: -1 }), RangeError, "'callTimeout'");
  assertThrows(create({ callTimeout: 2 ** 31 }), RangeError, "'callTimeout'");
  assertThrows(create({ maxStalls: 0 }), RangeError, "'maxStalls'");
  assertThrows(create({ addWhileDelayed: "drop" }), TypeError, "'addWhileDelayed'");
  assertThrows(create({ maxStall: 3 }), TypeError, 'did you mean "maxStalls"?');
  assertThrows(create({ limiter: { type: "exponental" } }), Error, 'did you mean "exponential"?');
  assertThrows(create({ url: "http://localhost" }), TypeError, "url");
  return Promise.resolve();
});

queueTest(
  "workers retry, give up and requeue items, and get the number of the attempt and the token",
  { limiter: QUICK },
  async ({ queue, errors }) => {
    const seen: string[] = [];
    const givenUp: string[] = [];
    const tokens: bigint[] = [];
    await queue.addAll(["fails", "bad", "again", "fine"]);
    await using pool = runWorkers(queue, (item, { attempt, token }) => {
      seen.push(`${item} ${attempt}`);
      tokens.push(token!);
      if (item === "fails") throw new Error("no");
      if (item === "bad") throw new TerminalError("never");
      if (item === "again" && attempt === 1) return { requeue: true };
    }, {
      concurrency: 3,
      maxRetries: 2,
      onError() {},
      onGiveUp: (_, item, attempts) => givenUp.push(`${item} ${attempts}`),
    });
    await queue.whenIdle();
    assertEquals(seen.toSorted(), ["again 1", "again 2", "bad 1", "fails 1", "fails 2", "fails 3", "fine 1"]);
    assertEquals(givenUp.toSorted(), ["bad 1", "fails 3"]);
    assertEquals(new Set(tokens).size, 7);
    assertEquals(await countsOf(queue), { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 2 });
    assertEquals(errors, []);
    assertEquals(pool.snapshot().runningItems, []);
  },
);

queueTest("a paused pool gives back the items that were fetched for it", {}, async ({ queue }) => {
  await queue.addAll(Array.from({ length: 20 }, (_, i) => `${i}`));
  const begun: string[] = [];
  const pool = runWorkers(queue, async (item) => {
    begun.push(item);
    pool.pause();
    await Promise.resolve();
  }, { concurrency: 10 });
  while (begun.length === 0 || pool.active > 0) await queue.counts();
  while ((await queue.counts()).processing > 0);
  assertEquals((await queue.counts()).ready, 20 - begun.length);
  pool.resume();
  while (begun.length < 20) {
    await queue.counts();
    pool.resume();
  }
  assertEquals(begun.toSorted(), Array.from({ length: 20 }, (_, i) => `${i}`).toSorted());
  await pool.stop();
});

queueTest("'throttle' is shared by all queues that name it", {}, async ({ queue, name }, { url }) => {
  await using other = createRedisQueue({ name, url });
  await queue.addAll(Array.from({ length: 20 }, (_, i) => `${i}`));
  const begun: string[] = [];
  const pools = [queue, other].map((queue) =>
    runWorkers(queue, (item) => void begun.push(item), { concurrency: 10, throttle: new TokenBucket(0, 7) })
  );
  while ((await queue.counts()).ready > 13 || (await queue.counts()).processing > 0);
  assertEquals(begun.length, 7);
  await Promise.all(pools.map((pool) => pool.stop()));
  assertEquals(begun.length, 7);
});

queueTest("after a bucket changes, by hand or by a document, it is asked again at once", {}, async ({ queue }) => {
  const throttle = new TokenBucket(0, 1);
  const config = loadConfig({ queues: { q: { throttle: { rate: 0, burst: 1 } } } });
  // Without a notification, the queue checks again only after five seconds.
  const soon = () => ({ signal: AbortSignal.timeout(4000) });
  for (
    const [pool, open] of [
      [() => runWorkers(queue, () => {}, { throttle }), () => throttle.setRate(1000)],
      [
        () => config.runWorkers("q", queue, () => {}),
        () => void config.reload({ queues: { q: { throttle: { rate: 1000, burst: 1 } } } }),
      ],
    ] as const
  ) {
    await queue.addAll(["a", "b"]);
    await using _pool = pool();
    while ((await queue.counts()).processing > 0 || (await queue.counts()).ready > 1);
    for (let i = 0; i < 20; i++) await queue.counts(); // meanwhile, the pool asks for "b" and doesn't receive it
    open();
    await queue.whenIdle(soon());
  }
});

queueTest("while a bucket is paused, no attempt begins in this process", {}, async ({ queue }) => {
  const throttle = new TokenBucket(Infinity, 1);
  throttle.pauseFor("1h");
  await queue.add("a");
  await using pool = runWorkers(queue, () => {}, { throttle });
  await queue.add("b");
  assertEquals([(await queue.counts()).ready, pool.active], [2, 0]);
  throttle.resume();
  await queue.whenIdle({ signal: AbortSignal.timeout(4000) });
});

queueTest(
  "a drain lets workers end, and writes their outcomes",
  { limiter: SLOW },
  async ({ queue, name }, { url }) => {
    await queue.addAll(["fails", "works"]);
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let active = 0;
    const pool = runWorkers(queue, async (item) => {
      if (++active === 2) begun.resolve();
      await go.promise;
      if (item === "fails") throw new Error("no");
    }, { concurrency: 5, onError() {} });
    await begun.promise;
    const drained = queue.shutDownWithDrain();
    go.resolve();
    await drained;
    await pool.finished;
    await using other = createRedisQueue({ name, url });
    assertEquals(await countsOf(other), { ready: 0, blocked: 0, delayed: 1, processing: 0, failing: 1, givenUp: 0 });
  },
);

queueTest("a waiting process is woken when an item is due, whichever process waited before", {}, async ({ queue }) => {
  await queue.addAfter("a", 500);
  for (let i = 0; i < 3; i++) {
    await assertRejects(() => queue.get({ signal: AbortSignal.timeout(100) }));
  }
  const lease = await take(queue);
  assertEquals(lease.item, "a");
  await lease.finish();
});

queueTest(
  "workers are woken by due items while they are busy, and after a pause",
  {},
  async ({ queue }) => {
    await queue.addAll(["a"]);
    await queue.addAfter("b", 200);
    await queue.addAfter("c", 600);
    const done = Promise.withResolvers<void>();
    const begun: string[] = [];
    const pool = runWorkers(queue, async (item) => {
      begun.push(item);
      if (item === "b") {
        pool.pause();
        pool.resume();
      }
      if (item === "c") done.resolve();
      await done.promise;
    }, { concurrency: 5 });
    await done.promise;
    assertEquals(begun, ["a", "b", "c"]);
    await pool.stop();
  },
);

queueTest("a pool without tokens doesn't keep other pools from working", {}, async ({ queue, errors }) => {
  const slow: string[] = [];
  const throttle = new TokenBucket(0.001, 1);
  const scarce = runWorkers(queue, (item) => void slow.push(item), { throttle });
  await queue.add("first");
  await queue.whenIdle();
  const quick: string[] = [];
  const pool = runWorkers(queue, (item) => void quick.push(item), { concurrency: 3 });
  const items = Array.from({ length: 100 }, (_, i) => `item ${i}`);
  await queue.addAll(items);
  await queue.whenIdle();
  await Promise.all([scarce.stop(), pool.stop()]);
  assertEquals([slow, errors], [["first"], []]);
  assertEquals(quick.slice(0, 100), items);
});

queueTest("a bucket with a long pause doesn't create a timer that fires at once", {}, async ({ queue }) => {
  const throttle = new TokenBucket(1, 1);
  throttle.pauseFor("1000h");
  let asked = 0;
  const reserve = throttle.reserve.bind(throttle);
  throttle.reserve = (...args) => {
    asked++;
    return reserve(...args);
  };
  const pool = runWorkers(queue, () => {}, { throttle });
  await queue.add("a");
  await assertRejects(() => queue.whenIdle({ signal: AbortSignal.timeout(300) }));
  assert(asked < 20, `asked ${asked} times`);
  await pool.stop();
});

redisTest(
  "queue: an item whose finish failed is given back, even if this process wants nothing more",
  async (server) => {
    const { url, call } = server;
    const name = uniqueName("queue");
    const errors: string[] = [];
    await using queue = createRedisQueue({ name, url, onQueueError: (error) => void errors.push(String(error)) });
    await using other = createRedisQueue({ name, url });
    await queue.addAll(["a", "b"]);
    const [processing, lease] = [await take(queue), await take(queue)];
    await call("SET", `workqueue:{${name}}:failures`, "no hash");
    await assertRejects(() => lease.finish(), Error, "WRONGTYPE");
    await call("DEL", `workqueue:{${name}}:failures`);
    const again = await take(other);
    assertEquals([again.item, errors.length], ["b", 1]);
    assert(await again.finish());
    assert(await processing.finish());
  },
);

interface Photo {
  id: string;
}

const photoOptions = { keyOf: (photo: Photo) => photo.id.toLowerCase(), limiter: QUICK };

queueTest<Photo>("what a process cannot read keeps nobody from the rest, and is retried", photoOptions, async (
  { queue, errors, name },
  { url, call },
) => {
  const common = { name, url, limiter: QUICK, onQueueError() {} };
  await using older = createRedisQueue<unknown>({ ...common, keyOf: (item) => JSON.stringify(item) });
  await using oldest = createRedisQueue(common);
  await older.add({ photo: "another form" });
  await oldest.add("no item");
  await queue.add({ id: "broken" });
  await call("HSET", `workqueue:{${name}}:items`, "broken", "{");
  await queue.add({ id: "good" });
  const done: string[] = [];
  const pool = runWorkers(queue, ({ id }) => void done.push(id));
  while (done.length === 0 || errors.length < 4) await queue.counts();
  await queue.add({ id: "broken" });
  const left = async () => {
    const { ready, delayed, processing } = await queue.counts();
    return ready + delayed + processing;
  };
  while (await left() > 2 || done.length < 2) {
    // "broken" runs twice if it was processing when it was added for the second time.
  }
  await pool.stop();
  assertEquals([...new Set(done)], ["good", "broken"]);
  assertStringIncludes(errors.join(), "Cannot take \"no item\": TypeError: it was added by a process without 'keyOf'");
  assertEquals((await queue.counts()).givenUp, 0);
  for (const [each, item] of [[older, { photo: "another form" }], [oldest, "no item"]] as const) {
    const others: unknown[] = [];
    const other = runWorkers(each as RedisQueue<unknown>, (item) => void others.push(item));
    while (others.length === 0) await each.counts();
    await other.stop();
    assertEquals(others, [item]); // each pool takes only items of the form that its queue expects
  }
});

queueTest<Photo>("a process without keyOf does not consume an item with a payload", photoOptions, async (
  { queue, errors, name },
  { url },
) => {
  const reported: string[] = [];
  await using plain = createRedisQueue({
    name,
    url,
    limiter: QUICK,
    onQueueError: (error) => reported.push(String(error)),
  });
  await queue.addAll([{ id: "now" }]);
  await queue.addRateLimited({ id: "failed" });
  await queue.addAfter({ id: "later" }, 1);
  await plain.add("plain");
  const handled: string[] = [];
  const pool = runWorkers(plain, (item) => void handled.push(item));
  while (new Set(reported).size < 3 || handled.length < 1) await plain.counts();
  await pool.stop();
  assertEquals(handled, ["plain"]);
  for (const key of ["now", "failed", "later"]) {
    assert(
      reported.includes(`Error: Cannot take "${key}": TypeError: it was added by a process with 'keyOf'`),
      reported.join(),
    );
  }
  const found = new Set<string>();
  const right = runWorkers(queue, ({ id }, { attempt }) => void (attempt > 1 && found.add(id)));
  while (found.size < 3) await queue.counts();
  await right.stop();
  assertEquals([(await queue.counts()).givenUp, errors], [0, []]);
});

queueTest(
  "a call of get waits while the only item has a payload that this process can't read",
  { limiter: QUICK },
  async (
    { queue, errors, name },
    { url },
  ) => {
    await using producer = createRedisQueue<Photo>({ name, url, keyOf: ({ id }) => id });
    await producer.add({ id: "a" });
    const waiting = queue.get();
    while (errors.length === 0) await queue.counts();
    assertStringIncludes(errors[0]!, "it was added by a process with 'keyOf'");
    await queue.add("mine");
    const lease = await waiting as RedisLease;
    assertEquals([lease.item, await lease.finish()], ["mine", true]);
    const { readyItems, delayedItems } = await producer.snapshot();
    assertEquals([...readyItems, ...delayedItems].map(({ item }) => item), [{ id: "a" }]);
  },
);

queueTest(
  "a key that is not a string is refused, because it would be the key of other items",
  {},
  async ({ queue }) => {
    await assertRejects(() => queue.add("\ud800"), TypeError, "unpaired surrogate");
    await queue.add("\ud83d\ude00");
    assertEquals((await queue.counts()).ready, 1);
  },
);

const squares = defineLimiter({
  type: "squares",
  description: "Waits the square of the failures, in minutes.",
  options: {},
  create: () => ({
    when: () => 0,
    forget() {},
    numRequeues: () => 0,
    next: (failures) => failures ** 2 * 60_000,
  }),
});

redisTest("queue: a custom limiter computes delays from the failures that the server has", async ({ url }) => {
  const registry = limiters.extend().register(squares);
  const options = { name: uniqueName("queue"), url, limiter: { type: "squares" } as never, limiters: registry };
  await using queue = createRedisQueue(options);
  await using other = createRedisQueue(options);
  await queue.addRateLimited("a");
  await other.addRateLimited("a");
  await queue.cancelDelayed("a");
  await queue.add("a");
  const lease = await take(queue);
  await other.addRateLimited("b");
  await other.addRateLimited("a");
  await other.cancelDelayed("a");
  assert(await lease.finish({ requeue: true }));
  const { delayedItems } = await queue.snapshot();
  assertEquals(delayedItems.map(({ item, dueInMs }) => [item, Math.ceil(dueInMs / 60_000)]), [["b", 1], ["a", 16]]);
});

/** Creates a registry with a limiter that throws if there are more than `after()` failures. */
function registryThatThrows(after: () => number) {
  return limiters.extend().register(defineLimiter({
    type: "broken",
    description: "Throws.",
    options: {},
    create: () => ({
      when: () => 0,
      forget() {},
      numRequeues: () => 0,
      next(failures) {
        if (failures > after()) throw new Error("broken");
        return 60_000;
      },
    }),
  }));
}

redisTest(
  "rule 11: if the limiter throws for an item, the pool gives the item up once the server has returned the failures",
  async ({ url }) => {
    for (const outcome of ["fails", "requeue"] as const) {
      const name = uniqueName("queue");
      const metrics = new InMemoryMetrics();
      const limiter = { type: "broken" } as never;
      await using queue = createRedisQueue({ name, url, limiter, limiters: registryThatThrows(() => 1), metrics });
      const log: string[] = [];
      const pool = runWorkers(queue, async () => {
        await queue.addRateLimited("a"); // increases the failure count on the server
        await queue.cancelDelayed("a");
        if (outcome === "requeue") return { requeue: true };
        throw new Error("work");
      }, {
        onError: (error, item, attempt) => log.push(`${item} ${attempt}: ${error}`),
        onGiveUp: (error, item, attempts, reason) =>
          log.push(`gave up ${item} after ${attempts} as ${reason}: ${error}`),
      });
      await queue.add("a");
      while ((await queue.counts()).givenUp === 0);
      await pool.stop();
      const failures = outcome === "fails" ? ["a 1: Error: work"] : [];
      assertEquals(log, [...failures, "a 1: Error: broken", "gave up a after 1 as limiter: Error: broken"]);
      assertEquals(totalsOf(pool)?.givenUpFor?.limiter, 1);
      assertEquals(metrics.value("workqueue_given_up_total", name, "limiter"), 1);
      assertEquals(pool.snapshot().failingItems, []);
      assertEquals(await countsOf(queue), { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 1 });
    }
  },
);

redisTest("queue: if a custom limiter throws, the item is given up", async ({ url }) => {
  let failuresThatThrow = 0;
  const registry = registryThatThrows(() => failuresThatThrow);
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(String(error));
  const options = { url, limiter: { type: "broken" } as never, limiters: registry, onQueueError: onError };
  await using queue = createRedisQueue({ ...options, name: uniqueName("queue") });
  const givenUp = Promise.withResolvers<string>();
  const pool = runWorkers(queue, () => Promise.reject(new Error("work")), {
    onError,
    onGiveUp: (error, item) => givenUp.resolve(`${item}: ${error}`),
  });
  await queue.add("a");
  assertEquals(await givenUp.promise, "a: Error: broken");
  await pool.stop();
  assertEquals(errors, ["Error: work", "Error: broken"]);
  assertEquals(await countsOf(queue), { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 1 });

  await queue.add("a");
  const lease = await take(queue);
  await assertRejects(() => lease.finish({ requeue: true }), Error, "broken");
  assert(await lease.finish());

  failuresThatThrow = 1;
  await queue.add("a");
  const other = await take(queue);
  await queue.addRateLimited("a"); // increases the failure count on the server
  await queue.cancelDelayed("a");
  await assertRejects(() => other.finish({ requeue: true }), Error, "broken");
  await assertRejects(() => other.finish(), Error, "broken", "the first call counts");
  assertEquals((await queue.counts()).processing, 0);
});

redisTest("queue: a document describes queues on Redis the same way as queues in memory", async ({ url }) => {
  const name = uniqueName("images");
  const config = loadConfig({
    limiters: { slow: SLOW },
    queues: {
      [name]: {
        limiter: "slow",
        concurrency: 2,
        maxRetries: 1,
        addWhileDelayed: "replace",
        maxSleep: "1s", // has no effect
        throttle: { rate: 0, burst: 3 },
      },
    },
  });
  const open = redisQueues(config, { url });
  await using queue = open.queue(name);
  await queue.addAll(["a", "b", "c", "d"]);
  const begun: string[] = [];
  const pool = runWorkers(queue, (item) => {
    begun.push(item);
    throw new Error("no");
  }, { ...config.workers(name), onError() {} });
  while ((await queue.counts()).delayed < 3);
  await pool.stop();
  assertEquals(begun, ["a", "b", "c"]);
  assertThrows(() => open.queue("imags"), RangeError);
});

redisTest("queue: a bucket named by two queues of a document is refused", ({ url }) => {
  const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
  const config = loadConfig({ limiters: { bucket }, queues: { a: { limiter: "bucket" }, b: { throttle: "bucket" } } });
  assertThrows(() => redisQueues(config, { url }), Error, "queues that processes share cannot share a bucket");
  const backoff = { type: "exponential", baseDelay: 1, maxDelay: 10 } as const;
  for (
    const shared of [
      { type: "max-of", limiters: [backoff, bucket] },
      { type: "per-group", separator: "/", limiter: bucket },
    ] as const
  ) {
    const within = loadConfig({ limiters: { shared }, queues: { a: { limiter: "shared" }, b: { limiter: "shared" } } });
    assertThrows(() => redisQueues(within, { url }), ConfigError, "(at /limiters/shared/limiter");
  }
  const shared = loadConfig({
    limiters: { backoff },
    queues: { a: { limiter: "backoff" }, b: { limiter: "backoff" } },
  });
  redisQueues(shared, { url }); // allowed, because each queue counts its own failures
  return Promise.resolve();
});

redisTest("queue: a handler that throws after its signal has aborted has not failed", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const options = { name: uniqueName("queue"), leaseDuration: 300, limiter: QUICK, onQueueError() {} };
  await using queue = createRedisQueue({ ...options, url: proxy.url });
  await using other = createRedisQueue({ ...options, url });
  await queue.add("a");
  const attempts: number[] = [];
  const errors: string[] = [];
  const pool = runWorkers(queue, async (_, { attempt, signal }) => {
    attempts.push(attempt);
    if (attempts.length > 1) return;
    proxy.hold();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    proxy.hold(false);
    throw new Error("stopped");
  }, { maxRetries: 0, onError: (error) => void errors.push(String(error)), onGiveUp: () => errors.push("given up") });
  await other.whenIdle();
  await pool.stop();
  assertEquals(attempts, [1, 1]);
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0]!, "The lease of the item was lost");
});

redisTest(
  "queue: an operation that Redis can't do is refused with the reason, whether it is awaited or not",
  async ({ url }) => {
    const name = uniqueName("queue");
    const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }) as never;
    assertThrows(
      () => createRedisQueue({ name, url, limiter }),
      TypeError,
      "must be a limiter as in a config document",
    );
    assertThrows(
      () => redisQueues({} as never, { url }),
      TypeError,
      "'config' must be a config returned by loadConfig",
    );
    await using queue = createRedisQueue({ name, url, onQueueError() {} });
    const drain = queue.shutDownWithDrain as (options: object) => Promise<void>;
    drain.call(queue, { delayed: "wait" });
    await assertRejects(
      () => drain.call(queue, { delayed: "wait" }),
      TypeError,
      "delayed items stay for other processes",
    );
    assertFalse(queue.shuttingDown);
  },
);

Deno.test("queue: options of queues in memory are refused on Redis with the reason, in each way to open a queue", () => {
  const name = "q";
  const config = loadConfig({ queues: { [name]: {} } });
  const options = {
    clock: new HandClock(),
    maxSleep: "1s",
    onDrop() {},
    priorityLevels: { high: 5 },
  };
  for (const [option, value] of Object.entries(options)) {
    const given = { [option]: value } as object;
    const messages = [
      () => createRedisQueue({ name, ...given }),
      () => redisQueues(config, given),
      () => redisQueues(config, {}).queue(name, given),
    ].map((open) => assertThrows(open, TypeError).message);
    const [creating, opening] = ["create", "open"].map((verb) => `Cannot ${verb} Redis queue: '${option}' is for`);
    assertEquals(messages.map((message) => message.split(" queues in memory: on Redis, ")[0]), [
      creating,
      opening,
      opening,
    ]);
  }
  const discipline = createPriorityDiscipline({ maxHeadStart: "1h" });
  assertThrows(
    () => createRedisQueue({ name, discipline } as never),
    TypeError,
    "'discipline' must be a discipline as in a config document",
  );
});
