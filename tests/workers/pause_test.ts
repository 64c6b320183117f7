/** Tests of pools that are paused, resumed or given another concurrency while they run. */

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { createExponentialLimiter, createRateLimitingQueue, type RateLimitingQueue, runWorkers } from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { countListeners, flush, insideOf, isSettled } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });

function newQueue<T = string>(clock = new HandClock()): RateLimitingQueue<T> {
  return createRateLimitingQueue<T>(limiter(), { clock });
}

/** Handlers that end when the test calls `end`. */
class Work {
  readonly began: string[] = [];
  readonly #ends = new Map<string, () => void>();

  readonly handle = (item: string): Promise<void> => {
    this.began.push(item);
    return new Promise((resolve) => this.#ends.set(item, resolve));
  };

  async end(item: string): Promise<void> {
    this.#ends.get(item)!();
    await flush();
  }
}

/** Returns a function that returns the number of pending calls to `take`, with which pools wait. */
function countWaits(queue: RateLimitingQueue<string>): () => number {
  let waits = 0;
  const source = insideOf(queue);
  const take = source.take.bind(source);
  source.take = (request) => {
    waits++;
    return take(request).finally(() => waits--);
  };
  return () => waits;
}

Deno.test("a pool counts the calls of pause in its totals, so that a later one can be distinguished from an earlier one", async () => {
  const queue = newQueue();
  const pool = runWorkers(queue, () => {});
  assertEquals(totalsOf(pool).pauses, undefined);
  pool.pause();
  assertEquals(totalsOf(pool).pauses, 1);
  pool.pause(); // paused already
  pool.resume();
  assertEquals(totalsOf(pool).pauses, 2);
  await pool.stop();
});

Deno.test("while a pool is paused, no handler begins, and running handlers continue", async () => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { concurrency: 2 });
  for (const item of ["a", "b", "c", "d"]) queue.add(item);
  await flush();
  pool.pause();
  pool.pause();
  await work.end("a");
  assertEquals([work.began, pool.active, queue.length], [["a", "b"], 1, 2]);
  await work.end("b");
  queue.add("e");
  await flush();
  assertEquals([work.began, pool.active, queue.length], [["a", "b"], 0, 3]);
  pool.resume();
  assertEquals(work.began, ["a", "b", "c", "d"]);
  pool.resume();
  await work.end("c");
  assertEquals(work.began, ["a", "b", "c", "d", "e"]);
  for (const item of ["d", "e"]) await work.end(item);
  queue.shutDown();
  await pool.finished;
});

test("a pool that is paused before it began begins when it is resumed", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  pool.pause();
  queue.add("a");
  await flush();
  assertEquals(work.began, []);
  pool.resume();
  await flush();
  assertEquals(work.began, ["a"]);
  await work.end("a");
  await pool.stop();
});

test("rule 11: pause withdraws a waiting get, so that an item goes to another pool or stays", async ({ runWorkers }) => {
  const queue = newQueue();
  const waits = countWaits(queue);
  const [first, second] = [new Work(), new Work()];
  const pool = runWorkers(queue, first.handle);
  const other = runWorkers(queue, second.handle);
  await flush();
  assertEquals(waits(), 2);
  pool.pause();
  await flush();
  assertEquals(waits(), 1);
  queue.add("a");
  await flush();
  assertEquals([first.began, second.began], [[], ["a"]]);
  other.pause();
  queue.add("b");
  await flush();
  assertEquals([first.began, second.began, queue.length, waits()], [[], ["a"], 1, 0]);
  pool.resume();
  await flush();
  assertEquals(first.began, ["b"]);
  await first.end("b");
  await second.end("a");
  await Promise.all([pool.stop(), other.stop()]);
});

test("rule 3: an item that arrives while a pool is being paused stays in the queue", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  await flush();
  queue.add("a"); // "a" goes to the pending `get`
  pool.pause();
  await flush();
  assertEquals([work.began, queue.length, pool.active], [[], 1, 0]);
  pool.resume();
  await flush();
  assertEquals([work.began, queue.length], [["a"], 0]);
  await work.end("a");
  await pool.stop();
});

test("an item that arrives while a pool is paused and resumed is processed", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  await flush();
  queue.add("a");
  pool.pause();
  pool.resume();
  await flush();
  assertEquals(work.began, ["a"]);
  await work.end("a");
  queue.add("b");
  await flush();
  assertEquals(work.began, ["a", "b"], "the pool waits again");
  await work.end("b");
  await pool.stop();
});

test("a pool that is paused and resumed while it waits continues to wait", async ({ runWorkers }) => {
  const queue = newQueue();
  const waits = countWaits(queue);
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  await flush();
  for (let i = 0; i < 3; i++) {
    pool.pause();
    pool.resume();
  }
  await flush();
  assertEquals(waits(), 1);
  queue.add("a");
  await flush();
  assertEquals(work.began, ["a"]);
  await work.end("a");
  await pool.stop();
});

test("an item that arrives as a pool is paused and the queue shuts down is processed, because the queue refuses it", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  await flush();
  queue.add("a");
  pool.pause();
  queue.shutDown();
  await flush();
  assertEquals(work.began, ["a"]);
  await work.end("a");
  await pool.stop();
});

Deno.test("rule 6: a paused pool delays a drain until it is resumed", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: string[] = [];
  const pool = runWorkers(queue, (item, { attempt }) => {
    seen.push(`${item} ${attempt}`);
    if (attempt === 1) throw new Error("no");
  }, { onError() {} });
  pool.pause();
  for (const item of ["a", "b"]) queue.add(item);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  assertFalse(await isSettled(Promise.race([drained, pool.finished])));
  pool.resume();
  await clock.advance(10);
  await drained;
  await pool.finished;
  assertEquals(seen, ["a 1", "b 1", "a 2", "b 2"]);
});

test("rule 6: a paused pool with nothing left to do finishes when it is resumed or stopped", async ({ runWorkers }) => {
  for (const end of ["resume", "stop"] as const) {
    const queue = newQueue();
    const pool = runWorkers(queue, () => {});
    await flush();
    pool.pause();
    queue.shutDown();
    assertFalse(await isSettled(pool.finished));
    pool[end]();
    await pool.finished;
  }
});

Deno.test("an item added again while processing is not left behind by a pool that is paused as its queue shuts down", async () => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { concurrency: 2 });
  queue.add("a");
  await flush();
  queue.add("a");
  queue.shutDown();
  await flush();
  pool.pause(); // the pool already knows that the queue was shut down
  await work.end("a");
  assertEquals(queue.length, 1);
  assertFalse(await isSettled(pool.finished));
  pool.resume();
  await work.end("a");
  await pool.finished;
  assertEquals(work.began, ["a", "a"]);
});

test("a paused pool can be stopped, and then pause, resume and concurrency have no effect", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const pool = runWorkers(queue, work.handle, { signal });
  queue.add("a");
  await flush();
  pool.pause();
  const stopped = pool.stop();
  await work.end("a");
  await stopped;
  queue.add("b");
  for (let i = 0; i < 2; i++) {
    pool.resume();
    pool.concurrency = 5;
    pool.pause();
    await flush();
  }
  assertEquals([work.began, queue.length, pool.active, pool.concurrency, listeners()], [["a"], 1, 0, 5, 0]);
});

test("a signal that aborts ends a paused pool", async ({ runWorkers }) => {
  const controller = new AbortController();
  const pool = runWorkers(newQueue(), () => {}, { signal: controller.signal });
  pool.pause();
  controller.abort();
  await pool.finished;
});

Deno.test("a paused pool does not refill the slot of an abandoned handler", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { timeout: 5, onError() {} });
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  pool.pause();
  await clock.advance(5);
  assertEquals([work.began, pool.active], [["a"], 1]);
  pool.resume();
  assertEquals([work.began, pool.active], [["a", "b"], 2]);
  for (const item of ["a", "b"]) await work.end(item);
  await pool.stop();
});

Deno.test("a higher concurrency starts handlers at once", async () => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  for (const item of ["a", "b", "c", "d"]) queue.add(item);
  await flush();
  pool.concurrency = 3;
  assertEquals([work.began, pool.concurrency, pool.active], [["a", "b", "c"], 3, 3]);
  for (const item of ["a", "b", "c", "d"]) await work.end(item);
  await pool.stop();
});

test("a pool whose handlers are all busy waits for an item again after its concurrency is raised", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  queue.add("a");
  await flush();
  pool.concurrency = 2;
  await flush();
  queue.add("b");
  await flush();
  assertEquals(work.began, ["a", "b"]);
  for (const item of ["a", "b"]) await work.end(item);
  await pool.stop();
});

test("after the concurrency is lowered, running handlers end, and none begins until there is a slot", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { concurrency: 3 });
  for (const item of ["a", "b", "c", "d", "e"]) queue.add(item);
  await flush();
  pool.concurrency = 1;
  assertEquals([pool.active, pool.concurrency], [3, 1]);
  await work.end("a");
  await work.end("b");
  assertEquals(work.began, ["a", "b", "c"]);
  await work.end("c");
  assertEquals(work.began, ["a", "b", "c", "d"]);
  await work.end("d");
  await work.end("e");
  await pool.stop();
});

test("rule 11: lowering the concurrency withdraws a waiting get if there is no slot for its item", async ({ runWorkers }) => {
  const queue = newQueue();
  const waits = countWaits(queue);
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { concurrency: 3 });
  queue.add("a");
  await flush();
  pool.concurrency = 2;
  await flush();
  assertEquals(waits(), 1, "there is a place");
  pool.concurrency = 1;
  await flush();
  assertEquals(waits(), 0);
  queue.add("b");
  await flush();
  assertEquals([work.began, queue.length], [["a"], 1]);
  await work.end("a");
  assertEquals(work.began, ["a", "b"]);
  await work.end("b");
  await pool.stop();
});

test("rule 3: an item that arrives while the concurrency is being lowered stays in the queue", async ({ runWorkers }) => {
  const queue = newQueue();
  const work = new Work();
  const pool = runWorkers(queue, work.handle, { concurrency: 2 });
  queue.add("a");
  await flush();
  queue.add("b");
  pool.concurrency = 1;
  await flush();
  assertEquals([work.began, queue.length, pool.active], [["a"], 1, 1]);
  await work.end("a");
  assertEquals(work.began, ["a", "b"]);
  await work.end("b");
  await pool.stop();
});

Deno.test("maxAbandoned follows the concurrency if it was omitted, and stays if it was set", async () => {
  const cases: [number | undefined, string[]][] = [[undefined, ["a", "b", "c", "d"]], [1, ["a", "b", "c"]]];
  for (const [maxAbandoned, began] of cases) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const work = new Work();
    const pool = runWorkers(queue, work.handle, { timeout: 5, maxAbandoned, onError() {} });
    for (const item of ["a", "b", "c", "d", "e"]) queue.add(item);
    await flush();
    pool.concurrency = 2;
    await clock.advance(5);
    assertEquals(work.began, began);
    pool.pause();
    for (const item of work.began) await work.end(item);
    await pool.stop();
  }
});

Deno.test("an invalid concurrency is refused, and changes nothing", async () => {
  const pool = runWorkers(newQueue(), () => {}, { concurrency: 2 });
  for (const wrong of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(
      () => pool.concurrency = wrong,
      RangeError,
      `Cannot set concurrency: 'concurrency' must be a positive integer, got ${wrong}`,
    );
  }
  assertThrows(
    () => pool.concurrency = "3" as never,
    TypeError,
    `Cannot set concurrency: 'concurrency' must be a positive integer, got "3"`,
  );
  assertEquals(pool.concurrency, 2);
  await pool.stop();
});

Deno.test("a third-party source whose take ignores its signal: the item that it brings is given back", async () => {
  const queue = newQueue();
  insideOf(queue).take = () => insideOf(queue).get();
  const work = new Work();
  const pool = runWorkers(queue, work.handle);
  await flush();
  pool.pause();
  await flush();
  queue.add("a");
  await flush();
  assertEquals([work.began, queue.length], [[], 1]);
  pool.resume();
  await flush();
  assert(work.began.includes("a"));
  await work.end("a");
  queue.shutDown();
  await pool.finished;
});
