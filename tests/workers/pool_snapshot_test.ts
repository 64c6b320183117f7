/** Snapshots of a pool. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type PoolSnapshot,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
  type WorkerPool,
} from "@workqueue/core";
import { watchFailures } from "@workqueue/core/metrics";
import { test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, nextTurn } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 100, maxDelay: 100_000 });

function newQueue<T = string>(clock: HandClock, options: RateLimitingQueueOptions<T> = {}) {
  return createRateLimitingQueue<T>(limiter(), { clock, ...options });
}

test("a snapshot shows the handlers that are running, the oldest first, and for how long", async ({ runWorkers }) => {
  const clock = new HandClock(1000);
  const queue = newQueue(clock);
  const ends = new Map<string, () => void>();
  const pool = runWorkers(queue, (item) => new Promise((resolve) => ends.set(item, resolve)), { concurrency: 2 });
  assertEquals(pool.snapshot(), {
    active: 0,
    abandoned: 0,
    concurrency: 2,
    paused: false,
    failing: 0,
    runningItems: [],
    failingItems: [],
  });
  queue.add("a");
  await flush();
  await clock.advance(500);
  for (const item of ["b", "c"]) queue.add(item);
  await flush();
  await clock.advance(50);
  assertEquals(pool.snapshot().runningItems, [
    { item: "a", attempt: 1, runningMs: 550 },
    { item: "b", attempt: 1, runningMs: 50 },
  ]);
  ends.get("a")!();
  await flush();
  pool.concurrency = 3;
  pool.pause();
  const { runningItems, ...counts } = pool.snapshot();
  assertEquals(runningItems.map(({ item, runningMs }) => [item, runningMs]), [["b", 50], ["c", 0]]);
  assertEquals(counts, { active: 2, abandoned: 0, concurrency: 3, paused: true, failing: 0, failingItems: [] });
  for (const item of ["b", "c"]) ends.get(item)!();
  await pool.stop();
  assertEquals(pool.snapshot().runningItems, []);
});

test("a retry that is overdue, for example after a suspend, is due in 0 ms", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const pool = runWorkers(queue, () => Promise.reject(new Error("no")), { onError() {} });
  queue.add("a");
  await flush();
  clock.time += 100.5; // no timer has fired
  assertEquals(pool.snapshot().failingItems.map(({ dueInMs }) => dueInMs), [0]);
  await pool.stop();
  queue.shutDown();
});

test("a handler sees itself in a snapshot, whether it is asynchronous or not", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: unknown[] = [];
  let pool: WorkerPool<string> | undefined = undefined;
  pool = runWorkers(queue, (item) => {
    seen.push(pool!.snapshot().runningItems);
    if (item === "b") return Promise.resolve();
  });
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  assertEquals(seen, [[{ item: "a", attempt: 1, runningMs: 0 }], [{ item: "b", attempt: 1, runningMs: 0 }]]);
  await pool.stop();
});

test("a handler that timed out is abandoned and still running, and its item is failing", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const end = Promise.withResolvers<void>();
  const pool = runWorkers(queue, () => end.promise, { timeout: 50, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(60);
  const error = "TimeoutError: The handler did not end within 50 ms";
  const { active, abandoned, failing, runningItems, failingItems } = pool.snapshot();
  assertEquals([active, abandoned, failing], [1, 1, 1]);
  assertEquals(failingItems, [{ item: "a", attempts: 1, error, failedAgoMs: 10 }]);
  assertEquals(runningItems, [{ item: "a", attempt: 1, runningMs: 60, abandonedMs: 10 }]);
  end.resolve();
  await flush();
  assertEquals([pool.snapshot().abandoned, pool.snapshot().failing], [0, 1]);
  assertEquals(pool.snapshot().failingItems, [{ item: "a", attempts: 1, error, failedAgoMs: 0, dueInMs: 100 }]);
  await pool.stop();
  queue.shutDown();
});

test("an abandoned item is failing until its handler ends and the item is given up", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const end = Promise.withResolvers<void>();
  const pool = runWorkers(queue, () => end.promise, { timeout: 50, maxRetries: 0, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(50);
  assertEquals([pool.snapshot().failing, pool.snapshot().failingItems.length], [1, 1]);
  end.resolve();
  await flush();
  assertEquals([pool.snapshot().failing, pool.snapshot().failingItems.length], [0, 0]);
  await pool.stop();
  queue.shutDown();
});

test("the number of failing items is exact for any number of items and any end of a failure", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue<number>(clock);
  const endings: ((item: number) => unknown)[] = [];
  const pool = runWorkers(queue, (item, { attempt }) => {
    if (attempt === 1) throw new Error("no");
    return endings[item % 4]!(item) as void;
  }, { onError() {} });
  endings.push(() => undefined, () => ({ requeueAfter: 1000 }), () => ({ requeue: true }), () => {
    throw new TerminalError("no");
  });
  for (let i = 0; i < 3000; i++) queue.add(i);
  await flush();
  assertEquals([pool.snapshot().failing, pool.snapshot({ limit: 5000 }).failingItems.length], [3000, 1000]);
  for (let i = 0; i < 500; i++) queue.forget(i);
  for (let i = 0; i < 10; i++) queue.forget(i); // forgetting twice counts once
  assertEquals(pool.snapshot().failing, 2500);
  for (let i = 0; i < 500; i++) queue.cancelDelayed(i);
  await clock.advance(100);
  assertEquals(pool.snapshot().failing, 0);
  queue.shutDown();
  await pool.stop();
});

test("failures that the queue forgets after a time are no longer counted", async ({ runWorkers }) => {
  const clock = new HandClock();
  const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 100 });
  const queue = createRateLimitingQueue<string>(limiter, { clock, forgetAfter: 1000 });
  const pool = runWorkers(queue, () => Promise.reject(new Error("no")), { onError() {} });
  queue.add("a");
  await flush();
  queue.cancelDelayed("a");
  clock.time += 1099;
  assertEquals([pool.snapshot().failingItems.length, pool.snapshot().failing], [1, 1]);
  clock.time += 1;
  assertEquals([pool.snapshot().failingItems, pool.snapshot().failing], [[], 0]);
  await pool.stop();
  queue.shutDown();
});

test("watchers of failures are called at once for every failure and for every end", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const held = Promise.withResolvers<void>();
  const pool = runWorkers(queue, (item, { attempt }) => {
    if (item === "slow") return held.promise;
    if (attempt === 1) throw new Error(`${item}\nfails`);
  }, { timeout: 50, onError() {}, concurrency: 2 });
  const seen: string[] = [];
  const end = watchFailures<string>(pool, {
    failed: ({ item, key, attempts, error }) => seen.push(`${item} ${key} ${attempts} ${error}`),
    ended: (key) => seen.push(`${key} ended`),
  })!;
  const endThrowing = watchFailures(pool, {
    failed() {
      throw new Error("watcher");
    },
    ended() {
      throw new Error("watcher");
    },
  })!;
  for (const item of ["a", "b", "slow"]) queue.add(item);
  await flush();
  await clock.advance(50);
  assertEquals(seen.splice(0), [
    "a a 1 Error: a fails",
    "b b 1 Error: b fails",
    "slow slow 1 TimeoutError: The handler did not end within 50 ms",
  ]);
  queue.forget("b");
  assertEquals(seen.splice(0), ["b ended"]);
  await clock.advance(100);
  assertEquals(new Set(seen.splice(0)), new Set(["a ended", "b b 1 Error: b fails"])); // "b" begins anew
  end();
  endThrowing();
  const other: string[] = [];
  watchFailures<string>(pool, { failed: ({ key }) => other.push(`${key}`), ended() {} });
  end(); // again, which must not end another watch
  held.resolve();
  queue.add("c");
  await flush();
  assertEquals([seen, other], [[], ["c"]]);
  await pool.stop();
  queue.shutDown();
});

test("a third-party pool has no watchers of failures", ({ runWorkers }) => {
  assertEquals(watchFailures({}, { failed() {}, ended() {} }), undefined);
  return runWorkers(newQueue(new HandClock()), () => {}).stop();
});

test("a snapshot shows failing items, latest failure first: number, error, time since, and time until the retry", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const pool = runWorkers(queue, (item, { attempt }) => {
    throw new TypeError(`${item}\n${attempt}`);
  }, { onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(30);
  queue.add("b");
  await flush();
  await clock.advance(10);
  assertEquals(pool.snapshot().failingItems, [
    { item: "b", attempts: 1, error: "TypeError: b 1", failedAgoMs: 10, dueInMs: 90 },
    { item: "a", attempts: 1, error: "TypeError: a 1", failedAgoMs: 40, dueInMs: 60 },
  ]);
  await clock.advance(60);
  assertEquals(pool.snapshot().failingItems, [
    { item: "a", attempts: 2, error: "TypeError: a 2", failedAgoMs: 0, dueInMs: 200 },
    { item: "b", attempts: 1, error: "TypeError: b 1", failedAgoMs: 70, dueInMs: 30 },
  ]);
  assertEquals(pool.snapshot({ limit: 1 }).failingItems.map(({ item }) => item), ["a"]);
  await pool.stop();
  queue.shutDown();
  assertEquals(pool.snapshot().failingItems, [
    { item: "a", attempts: 2, error: "TypeError: a 2", failedAgoMs: 0 },
    { item: "b", attempts: 1, error: "TypeError: b 1", failedAgoMs: 70 },
  ], "nothing is delayed any more");
});

test("a key is no longer failing once it succeeds, is given up, asks for another attempt, or is forgotten", async ({ runWorkers }) => {
  const ways: [way: string, end: (queue: { forget(item: string): void }) => unknown][] = [
    ["succeeds", () => undefined],
    ["asks for requeue", () => ({ requeue: true })],
    ["asks for requeueAfter", () => ({ requeueAfter: 1000 })],
    ["is given up", () => {
      throw new TerminalError("no");
    }],
    ["is forgotten", (queue) => {
      queue.forget("a");
      return new Promise(() => {});
    }],
  ];
  for (const [way, end] of ways) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const pool = runWorkers(queue, (_item, { attempt }) => {
      if (attempt === 1) throw new Error("no");
      return end(queue) as never;
    }, { onError() {} });
    queue.add("a");
    await flush();
    assertEquals(pool.snapshot().failingItems.length, 1, way);
    await clock.advance(100);
    assertEquals(pool.snapshot().failingItems, [], way);
    queue.shutDown();
    pool.stop();
  }
});

test("a key that another pool of the queue processed is no longer failing here", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const first = runWorkers(queue, () => {
    throw new Error("no");
  }, { onError() {} });
  queue.add("a");
  await flush();
  first.pause();
  const second = runWorkers(queue, () => {});
  await clock.advance(100);
  assertEquals(first.snapshot().failingItems, []);
  await Promise.all([first.stop(), second.stop()]);
});

test("keys are distinguished by keyOf, and the item is the one that failed last", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue<{ id: number; version: number }>(clock, { keyOf: ({ id }) => id });
  const pool = runWorkers(queue, () => {
    throw new Error("no");
  }, { onError() {} });
  queue.add({ id: 1, version: 1 });
  await flush();
  queue.add({ id: 1, version: 2 });
  await flush();
  assertEquals(pool.snapshot().failingItems, [
    { item: { id: 1, version: 2 }, attempts: 2, error: "Error: no", failedAgoMs: 0, dueInMs: 100 },
  ]);
  await pool.stop();
  queue.shutDown();
});

test("a pool remembers the latest 1,000 failing keys, and lists 100 by default", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue<number>(clock);
  const pool = runWorkers(queue, () => {
    throw new Error("no");
  }, { onError() {} });
  for (let i = 0; i < 1010; i++) queue.add(i);
  await flush();
  const itemsOf = ({ failingItems }: PoolSnapshot<number>) => failingItems.map(({ item }) => item);
  const all = itemsOf(pool.snapshot({ limit: 5000 }));
  assertEquals([all.length, all[0], all.at(-1), pool.snapshot().failing], [1000, 1009, 10, 1010]);
  assertEquals(itemsOf(pool.snapshot()), all.slice(0, 100));
  assertEquals(itemsOf(pool.snapshot({ limit: undefined })), all.slice(0, 100));
  assertEquals(itemsOf(pool.snapshot({ limit: 0 })), []);
  assertEquals(pool.snapshot({ limit: 0 }).runningItems, []);
  await pool.stop();
  queue.shutDown();
});

test("the limit of a snapshot sets the length of its lists", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue<number>(clock);
  const pool = runWorkers(queue, () => new Promise<never>(() => {}), { concurrency: 200 });
  for (let i = 0; i < 150; i++) queue.add(i);
  await flush();
  assertEquals(pool.snapshot().runningItems.length, 100);
  assertEquals(pool.snapshot({ limit: 2 }).runningItems.map(({ item }) => item), [0, 1]);
  assertEquals(pool.snapshot({ limit: 1000 }).runningItems.length, 150);
});

test("an item that was interrupted has not failed", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const controller = new AbortController();
  const pool = runWorkers(queue, (_item, { signal }) => {
    return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { signal: controller.signal });
  queue.add("a");
  await flush();
  controller.abort();
  await pool.finished;
  assertEquals(pool.snapshot().failingItems, []);
});

test("any thrown value is one line of text in a snapshot, which can be sent as JSON", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue<number>(clock);
  const broken = new Error("no");
  Object.defineProperty(broken, "message", {
    get() {
      throw new Error("get");
    },
  });
  const thrown = [
    undefined,
    "no",
    { status: 500 },
    broken,
    new Error("x".repeat(10_000)),
    new Error("a\r\u001b[31mb"),
  ];
  const pool = runWorkers(queue, (item) => {
    throw thrown[item];
  }, { onError() {} });
  thrown.forEach((_, i) => queue.add(i));
  await flush();
  const snapshot = pool.snapshot();
  assertEquals(JSON.parse(JSON.stringify(snapshot)), snapshot);
  const errors = snapshot.failingItems.map(({ error }) => error).reverse();
  assertEquals(errors.slice(0, 4), ["undefined", `"no"`, "an object", "an object"]);
  assert(errors[4]!.length <= 300);
  assertEquals(errors[5], "Error: a [31mb");
  await pool.stop();
  queue.shutDown();
});

Deno.test("rule 9: under fake timers, the times of a snapshot come from them, also while no other code runs", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(limiter());
  const pool = runWorkers(queue, () => new Promise<never>(() => {}), { concurrency: 2 });
  queue.add("a");
  await Promise.resolve().then(() => {});
  time.tick(5000);
  queue.add("b");
  await Promise.resolve().then(() => {}).then(() => {});
  time.tick(20);
  assertEquals(pool.snapshot().runningItems.map(({ item, runningMs }) => [item, runningMs]), [["a", 5020], ["b", 20]]);
});

test("with the system's clock, attempts that began one after the other have almost the same age", async ({ runWorkers }) => {
  const queue = createRateLimitingQueue<string>(limiter());
  const pool = runWorkers(queue, () => new Promise<never>(() => {}), { concurrency: 2 });
  await nextTurn();
  for (const item of ["a", "b"]) queue.add(item);
  while (pool.active < 2) await nextTurn();
  const [a, b] = pool.snapshot().runningItems;
  assert(a!.runningMs >= b!.runningMs && b!.runningMs >= 0);
});

test("invalid options of a snapshot are refused", async ({ runWorkers }) => {
  const pool = runWorkers(newQueue(new HandClock()), () => {});
  for (const limit of [-1, 1.5, NaN, Infinity]) {
    assertThrows(
      () => pool.snapshot({ limit }),
      RangeError,
      `Cannot make snapshot: 'limit' must be a non-negative integer, got ${limit}`,
    );
  }
  assertThrows(() => pool.snapshot({ limit: "5" as never }), TypeError, "'limit' must be a non-negative integer");
  assertThrows(
    () => pool.snapshot({ limits: 5 } as never),
    TypeError,
    `Cannot make snapshot: "limits" is not an option here; did you mean "limit"?`,
  );
  assertThrows(() => pool.snapshot(5 as never), TypeError, "Cannot make snapshot: 'options' must be an object");
  await pool.stop();
});

Deno.test("in a snapshot, a handler is running from its first await on", async () => {
  const clock = new HandClock(1000);
  const queue = newQueue(clock);
  const pool = runWorkers(queue, () => {
    clock.time += 5; // work before the first `await`
    return new Promise<void>(() => {});
  });
  queue.add("a");
  await flush();
  assertEquals(pool.snapshot().runningItems, [{ item: "a", attempt: 1, runningMs: 0 }]);
  queue.shutDown();
});
