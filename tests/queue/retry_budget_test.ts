/** Tests of `retryBudget`. `tests/model/retry_budget_test.ts` tests the bound of rule 18 under random loads. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  createWorkQueue,
  InMemoryMetrics,
  type QueueDiscipline,
  type RateLimitingQueueOptions,
  type ReadyEntry,
  RetryAfterError,
  runWorkers,
} from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import "@workqueue/core/inspect";
import { recordTimes } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { flush, Lifo, sourceOf, takeAll } from "../queue_helpers.ts";

const limiter = (baseDelay = 10) => createExponentialLimiter<string>({ baseDelay, maxDelay: baseDelay });

/** Creates a queue with blocked retries of these keys. The retry of another key has just used the rate. */
async function blocked(keys: string[], options: RateLimitingQueueOptions<string> = {}) {
  const clock = new HandClock();
  const retryBudget = createRetryBudget({ ratio: 0.5, minRate: 0.001 });
  const dropped: string[] = [];
  const onDrop = (key: string) => void dropped.push(key);
  const queue = createRateLimitingQueue<string>(limiter(), { clock, retryBudget, onDrop, ...options });
  queue.addRateLimited("reserve");
  for (const key of keys) queue.addRateLimited(key);
  await clock.advance(10);
  assertEquals(takeAll(queue), ["reserve"]);
  const counts = () => [queue.length, queue.snapshot().blocked, queue.delayed];
  return { clock, queue, dropped, counts };
}

Deno.test("rule 18: retries without budget are blocked, in order, until first attempts begin or time has passed", async () => {
  const { clock, queue, counts } = await blocked(["a", "b", "c"]);
  assertEquals(counts(), [0, 3, 0]);
  for (const key of ["1", "2"]) queue.add(key);
  assertEquals(takeAll(queue), ["1", "2", "a"]);
  assertEquals(counts(), [0, 2, 0]);
  await clock.advance(1_000_000);
  assertEquals(counts(), [1, 1, 0]);
  assertEquals(takeAll(queue), ["b"]);
  queue.add("3");
  await clock.advance(9999);
  queue.add("4");
  assertEquals(takeAll(queue), ["3", "4", "c"]);
  assertEquals(clock.timers, 0);
  queue.shutDown();
});

Deno.test("rule 18: the credit of a first attempt expires after ten seconds", async () => {
  const { clock, queue } = await blocked(["a"]);
  queue.add("1");
  assertEquals(takeAll(queue), ["1"]);
  await clock.advance(10_000);
  queue.add("2");
  assertEquals(takeAll(queue), ["2"]);
  queue.add("3");
  assertEquals(takeAll(queue), ["3", "a"]);
  queue.shutDown();
});

Deno.test("rule 18: a retry that becomes ready goes to a waiting get, and to a pool, without polling", async () => {
  const { clock, queue } = await blocked(["a", "b"]);
  const got = queue.get();
  assertEquals(clock.timers, 1);
  await clock.advance(1_000_000);
  using lease = await got;
  assertEquals(lease.item, "a");
  const attempts: string[] = [];
  const pool = runWorkers(queue, (key) => void attempts.push(key), { clock });
  await clock.advance(1_000_000);
  assertEquals(attempts, ["b"]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("rule 18: an add makes a blocked retry ready at once, as a first attempt", async () => {
  for (const addWhileDelayed of ["keep", "replace"] as const) {
    const { clock, queue, counts } = await blocked(["a", "b"], { addWhileDelayed });
    queue.add("a");
    assertEquals(counts(), [1, 1, 0]);
    assertEquals(takeAll(queue), ["a"]);
    queue.addAfter("c", 10); // with a, two first attempts: budget for one retry
    await clock.advance(10);
    assertEquals(takeAll(queue), ["c", "b"]);
    queue.shutDown();
    assertEquals(clock.timers, 0);
  }
});

Deno.test("rule 18: a blocked retry that is due again stays blocked", async () => {
  for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
    const { clock, queue, counts } = await blocked(["a"], { addWhileDelayed });
    queue.addRateLimited("a");
    await clock.advance(10);
    assertEquals(counts(), [0, 1, 0]);
    queue.shutDown();
  }
});

Deno.test("rule 18: an add with an earlier deadline makes a delayed retry a first attempt, and a later one does not", async () => {
  const { clock, queue, counts } = await blocked([]);
  for (const key of ["a", "b"]) queue.addRateLimited(key);
  queue.addAfter("a", 5);
  queue.addAfter("b", 15);
  await clock.advance(10);
  assertEquals(counts(), [1, 1, 0]);
  assertEquals(takeAll(queue), ["a"]);
  queue.shutDown();
});

Deno.test("rule 18: a retry without a delay needs budget, also if its item is still processing", async () => {
  const clock = new HandClock();
  const none = { when: () => 0, forget() {}, numRequeues: () => 0 };
  const queue = createRateLimitingQueue<string>(none, {
    clock,
    retryBudget: createRetryBudget({ ratio: 0, minRate: 1 }),
  });
  let attempts = 0;
  const pool = runWorkers(queue, () => {
    attempts++;
    throw new Error("down");
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  assertEquals([attempts, queue.snapshot().blocked], [2, 1]);
  await clock.advance(5000);
  assertEquals(attempts, 7);
  queue.shutDown();
  await pool.stop();
});

Deno.test("rule 18: an attempt after a hand-back is not another first attempt, and needs no budget", async () => {
  const { queue, clock, counts } = await blocked(["a"]);
  const attempts: string[] = [];
  const pool = runWorkers(queue, (key) => {
    attempts.push(key);
    if (attempts.length === 1) throw new RetryAfterError(1000, "", { scope: "queue" });
  }, { clock });
  queue.add("1");
  await flush();
  await clock.advance(1000);
  assertEquals([attempts, counts()], [["1", "1"], [0, 1, 0]]);
  queue.add("2");
  await flush();
  assertEquals(attempts, ["1", "1", "2", "a"]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("rule 18: drains wait for blocked retries, flush makes them ready, and cancelDelayed leaves them", async () => {
  const canceled = await blocked(["a"]);
  assertEquals([canceled.queue.cancelDelayed("a"), ...canceled.counts()], [false, 0, 1, 0]);
  canceled.queue.addRateLimited("b");
  canceled.queue.shutDown();
  assertEquals([canceled.dropped, canceled.counts()], [["b"], [0, 1, 0]]);
  await canceled.clock.advance(1_000_000);
  assertEquals([takeAll(canceled.queue), canceled.clock.timers], [["a"], 0]);

  for (const delayed of ["drop", "wait"] as const) {
    const { queue, clock, counts } = await blocked(["a"]);
    const drained = queue.shutDownWithDrain({ delayed });
    assertEquals(counts(), [0, 1, 0]);
    await clock.advance(1_000_000);
    assertEquals(takeAll(queue), ["a"]);
    await drained;
    assertEquals(clock.timers, 0);
  }

  const flushed = await blocked(["a", "b"]);
  flushed.queue.addRateLimited("c");
  const drained = flushed.queue.shutDownWithDrain({ delayed: "flush" });
  assertEquals(flushed.counts(), [3, 0, 0]);
  assertEquals(takeAll(flushed.queue), ["a", "b", "c"]);
  await drained;
  assertEquals(flushed.clock.timers, 0);
});

Deno.test("rule 18: after a shutdown, a pool gets blocked retries as there is budget, and then ends", async () => {
  const { queue, clock } = await blocked(["a", "b"]);
  const attempts: string[] = [];
  const pool = runWorkers(queue, (key) => void attempts.push(key), { clock });
  await flush();
  queue.shutDown();
  queue.addRateLimited("c"); // ignored
  await clock.advance(1_000_000);
  assertEquals(attempts, ["a"]);
  await clock.advance(1_000_000);
  await pool.finished;
  assertEquals([attempts, clock.timers], [["a", "b"], 0]);
});

Deno.test("rule 6: a drain that waits ignores addRateLimited of an item that is not processing", async () => {
  const { queue, clock, counts } = await blocked(["a"]);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  queue.addRateLimited("c");
  assertEquals(counts(), [0, 1, 0]);
  await clock.advance(1_000_000);
  takeAll(queue);
  await drained;
});

for (const how of ["shutDown", "shutDownWithDrain"] as const) {
  Deno.test(`rules 6 and 18: after ${how}, blocked retries have a timer only while somebody waits for them`, async () => {
    const retryBudget = createRetryBudget({ ratio: 0.5, minRate: 0.001 });
    const { clock, queue, counts } = await blocked(["a", "b", "c", "d"], { retryBudget });
    assertEquals(clock.timers, 1);
    let hasEnded = false;
    void Promise.resolve(queue[how]()).then(() => hasEnded = true);
    assertEquals([counts(), clock.timers], [[0, 4, 0], 0]);
    await clock.advance(999_999);
    assertEquals([queue.tryGet(), queue.length], [undefined, 0]);
    await clock.advance(1);
    assertEquals(counts(), [1, 3, 0], "a retry is let through when somebody looks");
    assertEquals([takeAll(queue), counts(), clock.timers], [["a"], [0, 3, 0], 0]);

    const wait = new AbortController();
    const aborted = queue.get({ signal: wait.signal }).catch(() => "aborted");
    assertEquals(clock.timers, 1);
    wait.abort();
    assertEquals([await aborted, clock.timers], ["aborted", 0]);

    const got = queue.get();
    await clock.advance(1_000_000);
    assertEquals([(await got).item, clock.timers], ["b", 0]);
    queue.done("b");
    const next = queue.get();
    retryBudget.update({ ratio: 0.5, minRate: 1 });
    await clock.advance(1000);
    assertEquals([(await next).item, clock.timers], ["c", 0]);
    queue.done("c");
    const stop = sourceOf(queue).watch!(() => {});
    assertEquals(clock.timers, 1);
    stop();
    assertEquals(clock.timers, 0);
    const last = queue.get();
    await clock.advance(1000);
    assertEquals((await last).item, "d");
    queue.done("d");
    await flush();
    assertEquals([(await queue.get()).shutdown, counts(), clock.timers], [true, [0, 0, 0], 0]);
    assertEquals(hasEnded, true);
  });
}

Deno.test("rules 6 and 18: a drain after a shutdown needs no timer for blocked retries", async () => {
  const { clock, queue, counts } = await blocked(["a"], {
    retryBudget: createRetryBudget({ ratio: 0, minRate: 0.001 }),
  });
  queue.shutDown();
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  assertEquals([counts(), clock.timers], [[0, 1, 0], 0]);
  await clock.advance(1_000_000);
  assertEquals(takeAll(queue), ["a"]);
  await drained;
});

Deno.test("rule 18: with fold, an add leaves a blocked retry blocked", async () => {
  const clock = new HandClock();
  const options = {
    clock,
    addWhileDelayed: "fold",
    retryBudget: createRetryBudget({ ratio: 0, minRate: 0.001 }),
  } as const;
  const queue = createRateLimitingQueue<string>(limiter(), options);
  let attempts = 0;
  const pool = runWorkers(queue, () => {
    attempts++;
    throw new Error("down");
  }, { clock, onError() {}, onGiveUp() {} });
  queue.add("a");
  await flush();
  await clock.advance(20);
  await clock.advance(20);
  const counts = () => [attempts, queue.length, queue.snapshot().blocked, queue.delayed];
  assertEquals(counts(), [2, 0, 1, 0]);
  queue.add("a");
  await flush();
  assertEquals(counts(), [2, 0, 1, 0]);
  const drained = queue.shutDownWithDrain();
  await clock.advance(1_000_000);
  await drained;
  assertEquals([...counts(), clock.timers], [3, 0, 0, 0, 0]);
  await pool.stop();
});

Deno.test("rule 18: with fold, an add during an attempt that fails without a delay needs budget", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<{ key: string; n: number }>(createBucketLimiter({ rate: 1000, burst: 1000 }), {
    clock,
    keyOf: ({ key }) => key,
    addWhileDelayed: "fold",
    retryBudget: createRetryBudget({ ratio: 0, minRate: 0.001 }),
  });
  queue.addRateLimited({ key: "reserve", n: 0 });
  queue.done(queue.tryGet()!.item!);
  const attempts: unknown[] = [];
  const pool = runWorkers(queue, ({ n }, { attempt, priority }) => {
    attempts.push([n, attempt, priority]);
    if (attempts.length > 1) return;
    queue.add({ key: "a", n: 2 }, { priority: 3 });
    throw new Error("down");
  }, { clock, onError() {} });
  queue.add({ key: "a", n: 1 });
  await flush();
  assertEquals([attempts, queue.snapshot().blocked], [[[1, 1, 0]], 1]);
  await clock.advance(1_000_000);
  await flush();
  assertEquals(attempts, [[1, 1, 0], [2, 2, 3]]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("rule 18: with fold, a retry that was due during a failed attempt leaves no trace", async () => {
  const { clock, queue, counts } = await blocked([], { addWhileDelayed: "fold" });
  let fail!: (error: Error) => void;
  const pool = runWorkers(queue, () => new Promise<void>((_, reject) => fail = reject), { clock, onError() {} });
  queue.add("a");
  await flush();
  queue.addRateLimited("a");
  await clock.advance(10);
  fail(new Error("down"));
  await flush();
  assertEquals(counts(), [0, 0, 1]);
  queue.cancelDelayed("a");
  pool.pause();
  queue.add("a");
  assertEquals(counts(), [1, 0, 0], "a first attempt");
  queue.shutDown();
  takeAll(queue);
  await pool.stop();
});

Deno.test("rule 18: with fold, a drain that drops makes a retry that was added ready, as a first attempt", async () => {
  const clock = new HandClock();
  const options = { clock, addWhileDelayed: "fold", retryBudget: createRetryBudget({ ratio: 0, minRate: 0 }) } as const;
  const queue = createRateLimitingQueue<string>(limiter(), options);
  const attempts: string[] = [];
  const pool = runWorkers(queue, (key) => {
    attempts.push(key);
    throw new Error("down");
  }, { clock, onError() {}, onGiveUp() {} });
  for (const key of ["a", "b"]) queue.add(key);
  await flush();
  queue.add("a");
  await queue.shutDownWithDrain();
  assertEquals(attempts, ["a", "b", "a"]);
  await pool.finished;
});

Deno.test("rule 18: a discipline orders the items that are ready, and pauses its groups", async () => {
  const order = (discipline: QueueDiscipline<unknown>) => blocked(["a", "b"], { discipline });
  const byPriority = await order(createPriorityDiscipline({ maxHeadStart: "1h" } as never));
  byPriority.queue.add("x", { priority: 1 });
  byPriority.queue.add("y", { priority: 2 });
  assertEquals(takeAll(byPriority.queue), ["y", "x", "a"]);
  byPriority.queue.shutDown();

  const fair = await order(createFairDiscipline({ groupOf: (key) => key as string }));
  fair.queue.pauseGroup("a", 2000);
  for (const key of ["1", "2"]) fair.queue.add(key);
  assertEquals(takeAll(fair.queue), ["1", "2"]); // a has budget, but its group is paused
  assertEquals(fair.counts(), [0, 2, 0]);
  const got = fair.queue.get();
  await fair.clock.advance(2000);
  using lease = await got;
  assertEquals(lease.item, "a");
  fair.queue.shutDown();
});

Deno.test("rule 18: a retry that the discipline refuses stays blocked, and the error is reported", async () => {
  class Strict extends Lifo<string> {
    isFull = false;
    override push(entry: ReadyEntry<string>): void {
      if (this.isFull) throw new Error("full");
      super.push(entry);
    }
  }
  const discipline = new Strict();
  const { clock, queue, counts } = await blocked(["a"], { discipline });
  discipline.isFull = true;
  const { error } = console;
  const errors: string[] = [];
  console.error = (text) => errors.push(text);
  try {
    await clock.advance(1_000_000);
  } finally {
    console.error = error;
  }
  assertEquals(errors, ['Cannot make retry ready: "Error: full"']);
  assertEquals(counts(), [0, 1, 0]);
  discipline.isFull = false;
  await clock.advance(1_000_000);
  assertEquals(takeAll(queue), ["a"]);
  queue.shutDown();
});

Deno.test("rule 18: items with a key keep their newest item and their priority while they are blocked", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<{ key: string; n: number }>(
    { when: () => 10, forget() {}, numRequeues: () => 0 },
    {
      clock,
      keyOf: ({ key }) => key,
      retryBudget: createRetryBudget({ ratio: 0, minRate: 0.001 }),
      addWhileDelayed: "fold",
    },
  );
  queue.addRateLimited({ key: "reserve", n: 0 });
  queue.addRateLimited({ key: "a", n: 1 }, { priority: 3 });
  await clock.advance(10);
  queue.add({ key: "a", n: 2 }, { priority: 5 });
  await clock.advance(1_000_000);
  queue.tryGet();
  const { item, priority } = queue.tryGet()!;
  assertEquals([item!.n, priority], [2, 5]);
  queue.shutDown();
});

Deno.test("rule 18: metrics, the age of the oldest item and waits count blocked retries", async () => {
  const metrics = new InMemoryMetrics();
  const { queue, clock } = await blocked(["a", "b"], { name: "q", metrics });
  const value = (name: string) => metrics.value(`workqueue_${name}`, "q");
  const times = recordTimes(queue, { waited() {}, worked() {} })!;
  await clock.advance(5000);
  assertEquals([value("depth"), value("blocked"), value("delayed")], [2, 2, 0]);
  assertEquals(Math.round(value("oldest_ready_seconds") ?? NaN), 5);
  assertEquals(times.oldestReadyMs, 5000);
  let isBelow = false;
  void queue.whenBelow(2).then(() => isBelow = true);
  await flush();
  assert(!isBelow);
  queue.add("a");
  takeAll(queue);
  await flush();
  assert(isBelow);
  queue.shutDown();
});

Deno.test("rule 18: a budget must be two numbers, and belongs to the queue that has the delays", () => {
  const rule = "must be an object of the non-negative numbers 'ratio' and 'minRate'";
  const wrong = [{}, { ratio: -1, minRate: 1 }, { ratio: 1, minRate: NaN }, { ratio: Infinity, minRate: 1 }, 5, null];
  for (const options of [...wrong, { ratio: 1, minRate: 1, max: 3 }]) {
    assertThrows(() => createRetryBudget(options as never), Error, rule);
    assertThrows(() => createRetryBudget({ ratio: 1, minRate: 1 }).update(options as never), Error, rule);
  }
  for (const options of [{ ratio: 1, minRate: 1 }, {}, 5, null]) {
    const create = () => createRateLimitingQueue(limiter(), { retryBudget: options as never });
    assertThrows(create, Error, "'retryBudget' must be made by createRetryBudget()");
  }
  const retryBudget = createRetryBudget({ ratio: 0.1, minRate: 1 });
  assertThrows(() => createWorkQueue({ retryBudget } as never), TypeError, '"retryBudget" is not an option here');
  createDelayingQueue<string>({ retryBudget }).shutDown();
});

Deno.test("rule 18: an update of a budget applies to all its queues, and each queue has its own credit", async () => {
  const retryBudget = createRetryBudget({ ratio: 1, minRate: 0 });
  const clock = new HandClock();
  const [one, other] = [1, 2].map(() => createRateLimitingQueue<string>(limiter(), { clock, retryBudget }));
  one!.add("first");
  assertEquals(takeAll(one!), ["first"]);
  for (const queue of [one!, other!]) queue.addRateLimited("retry");
  await clock.advance(10);
  assertEquals([one!.length, other!.length], [1, 0]);
  retryBudget.update({ ratio: 0, minRate: 1 });
  assertEquals([retryBudget.ratio, retryBudget.minRate], [0, 1]);
  await clock.advance(1);
  assertEquals([one!.length, other!.length], [1, 1]);
});

Deno.test("rule 18: a blocked retry that is made ready by a display is a first attempt, also with fold", async () => {
  for (const addWhileDelayed of ["keep", "fold"] as const) {
    const { queue, counts, clock } = await blocked(["a", "b"], { addWhileDelayed });
    const retries = () => inspectionOf<string>(queue)!.blockedRetries!;
    const makeReady = (entry: ReadyEntry<string>) => retries().makeReady(entry);
    const entries = Array.from(retries().retries.keys());
    assertEquals([retries().retries.length, entries.map(({ key }) => key).sort()], [2, ["a", "b"]]);
    const entry = entries.find(({ key }) => key === "b")!;
    const got = queue.get();
    assertEquals([makeReady(entry), makeReady(entry)], [true, false]);
    using lease = await got;
    assertEquals([lease.item, counts()], ["b", [0, 1, 0]]);
    queue.add("1");
    assertEquals(takeAll(queue), ["1", "a"]); // with b, two first attempts: budget for one retry
    queue.shutDown();
    assertEquals(clock.timers, 0);
  }
});

Deno.test("rule 18: a first attempt counts from its own time if the clock has moved since the previous one", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), {
    clock,
    retryBudget: createRetryBudget({ ratio: 1, minRate: 0 }),
  });
  for (const key of ["1", "2", "3"]) queue.add(key);
  for (const _ of "12") queue.done(queue.tryGet()!.item);
  clock.time = 10_000;
  assertEquals(takeAll(queue), ["3"]);
  for (const key of ["a", "b"]) queue.addRateLimited(key);
  await clock.advance(10);
  assertEquals([takeAll(queue), queue.snapshot().blocked], [["a"], 1]);
  queue.shutDown();
});

Deno.test("rule 18: each first attempt counts, even if many begin within a millisecond of the system clock", async () => {
  for (const discipline of [undefined, createPriorityDiscipline(), createFairDiscipline({ groupOf: () => "all" })]) {
    const retryBudget = createRetryBudget({ ratio: 1, minRate: 0 });
    using queue = createRateLimitingQueue<string>(limiter(1), { retryBudget, discipline });
    const items = Array.from({ length: 40 }, (_, i) => `${10 + i}`);
    for (const item of items) queue.add(item);
    takeAll(queue);
    for (const item of items) queue.addRateLimited(item);
    const taken: unknown[] = [];
    while (taken.length < items.length) taken.push((await queue.get()).item);
    assertEquals(taken.toSorted(), items);
  }
});

Deno.test("consoles show how many blocked items wait for the retry budget", async () => {
  const { queue } = await blocked(["a", "b"]);
  assertEquals(String(queue), "RateLimitingQueue: 0 ready, 2 blocked (2 by the retry budget), 0 delayed, 0 processing");
  queue.shutDown();
});

Deno.test("rule 18: an item that is due when a retry gets budget may go first, if the order of the queue says so", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
    clock,
    discipline: createPriorityDiscipline({ maxHeadStart: "unlimited" }),
    retryBudget: createRetryBudget({ ratio: 0, minRate: 25 }),
  });
  for (const key of ["a", "b"]) queue.addRateLimited(key);
  await clock.advance(10);
  assertEquals([queue.tryGet()?.item, queue.snapshot().blocked], ["a", 1]); // budget for "b" comes 40 ms later
  const next = queue.get();
  await clock.advance(20);
  queue.addAfter("urgent", 20, { priority: 1 });
  await clock.advance(20);
  assertEquals([(await next).item, queue.tryGet()?.item], ["urgent", "b"]);
});
