/** Batches of `runBatches`: which items are in them, how they fail, and how they end. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createBucketThrottle } from "@workqueue/core/throttles";
import {
  adaptDiscipline,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runBatches,
  TerminalError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

function queueWith(options: RateLimitingQueueOptions<string> = {}): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }), {
    clock: new HandClock(),
    ...options,
  });
}

function add(queue: RateLimitingQueue<string>, items: string): void {
  for (const item of items) queue.add(item);
}

Deno.test("batches: a batch takes all ready items, up to its size, and as many batches run as the concurrency", async () => {
  const queue = queueWith();
  const batches: string[] = [];
  const ends: (() => void)[] = [];
  add(queue, "abcdefgh");
  const pool = runBatches(queue, (items) => {
    batches.push(items.join(""));
    return new Promise<void>((end) => ends.push(end));
  }, { size: 3, concurrency: 2 });
  await flush();
  assertEquals(batches, ["abc", "def"]);
  ends[0]!();
  await flush();
  assertEquals([batches, queue.processing], [["abc", "def", "gh"], 5]);
  for (const end of ends) end();
  await flush();
  assertEquals(queue.processing, 0);
  await pool.stop();
});

Deno.test("batches: items that come within the wait of the first are in its batch, and a shutdown ends the wait", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const batches: string[] = [];
  const pool = runBatches(queue, (items) => void batches.push(items.join("")), { size: 3, wait: 100 });
  add(queue, "a");
  await flush();
  await clock.advance(99);
  add(queue, "b");
  await flush();
  assertEquals(batches, []);
  await clock.advance(1);
  await flush();
  assertEquals(batches, ["ab"]);
  add(queue, "cde");
  await flush();
  assertEquals(batches, ["ab", "cde"]);
  add(queue, "f");
  await flush();
  const drain = queue.shutDownWithDrain();
  await flush();
  assertEquals(batches, ["ab", "cde", "f"]);
  assert(await isSettled(drain));
  await pool.finished;
  assertEquals(clock.timers, 0);
});

Deno.test("batches: a pool that yields to the event loop still fills its batches, also in a shutdown", async () => {
  const ready: { item: string }[] = [];
  const discipline = adaptDiscipline({
    get length() {
      return ready.length;
    },
    push: (entry: { item: string }) => void ready.push(entry),
    touch() {},
    pop() {
      for (const end = Date.now() + 12; Date.now() < end;); // longer than a burst may last
      return ready.shift();
    },
  } as never);
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }), {
    discipline,
  });
  const batches: string[] = [];
  add(queue, "abcde");
  const pool = runBatches(queue, (items) => void batches.push(items.join("")), { size: 3 });
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(batches, ["abc", "de"]);
});

Deno.test("batches: stopping the pool begins the batch that waits for others", async () => {
  const queue = queueWith();
  const batches: string[] = [];
  const pool = runBatches(queue, (items) => void batches.push(items.join("")), { size: 3, wait: "1h" });
  add(queue, "ab");
  await flush();
  await pool.stop();
  assertEquals([batches, queue.processing], [["ab"], 0]);
});

Deno.test("batches: a handler that throws fails all items, each with its own delay; { failed } fails only the listed ones", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const errors: string[] = [];
  const batches: string[] = [];
  const pool = runBatches(queue, (items) => {
    batches.push(items.join(""));
    if (batches.length === 1) throw new Error("all");
    if (batches.length > 2) return;
    return { failed: new Map<string, unknown>([["b", new TerminalError("some")]]) };
  }, { size: 10, onError: (error, item, attempt) => errors.push(`${item} ${attempt}: ${(error as Error).message}`) });
  add(queue, "abc");
  await flush();
  assertEquals([errors, queue.delayed], [["a 1: all", "b 1: all", "c 1: all"], 3]);
  await clock.advance(10);
  await flush();
  assertEquals([errors.slice(3), batches, queue.delayed], [["b 2: some"], ["abc", "abc"], 0]);
  await pool.stop();
});

Deno.test("batches: a bad item among 100 is found within 15 calls, and costs the others no failure", async () => {
  for (const bad of [0, 1, 42, 50, 98, 99]) {
    const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
      clock: new HandClock(),
    });
    const done = new Set<number>();
    const failed: number[] = [];
    let calls = 0;
    const pool = runBatches(queue, (items) => {
      calls++;
      if (items.includes(bad)) throw new Error("bad");
      for (const item of items) done.add(item);
    }, { size: 100, split: true, onError: (_error, item) => failed.push(item) });
    for (let item = 0; item < 100; item++) queue.add(item);
    await flush();
    assert(calls <= 15, `${calls} calls`);
    assertEquals([done.size, failed, queue.delayed], [99, [bad], 1]);
    await pool.stop();
  }
});

Deno.test("batches: while the maximum number runs, the other items stay in the queue, and no batch exceeds its size", async () => {
  for (const throttle of [undefined, createBucketThrottle({ rate: 0, burst: 100 })]) {
    const queue = queueWith({ discipline: createPriorityDiscipline({ maxHeadStart: Infinity }) });
    const batches: string[] = [];
    const ends: (() => void)[] = [];
    const pool = runBatches(queue, (items) => {
      batches.push(items.join(""));
      return new Promise<void>((end) => ends.push(end));
    }, { size: 3, concurrency: 2, throttle });
    for (const item of "abcdefg") {
      add(queue, item);
      await flush();
    }
    queue.add("z", { priority: 1 });
    await flush();
    assertEquals([batches, queue.length, queue.processing, pool.concurrency], [["a", "b"], 6, 2, 6]);
    for (const end of [0, 1, 2]) {
      ends[end]!();
      await flush();
    }
    assertEquals(batches, ["a", "b", "zcd", "efg"]);
    ends[3]!();
    await flush();
    assertEquals(queue.processing, 0);
    await pool.stop();
  }
});

Deno.test("batches: a group that waits while others run never makes a batch larger than its size", async () => {
  const queue = queueWith({ discipline: createFairDiscipline({ separator: "/" }) });
  const batches: number[] = [];
  const ends: (() => void)[] = [];
  const pool = runBatches(queue, (items) => {
    batches.push(items.length);
    return new Promise<void>((end) => ends.push(end));
  }, { size: 3, concurrency: 2, sameGroup: true });
  for (const item of ["x/0", "y/0"]) {
    queue.add(item);
    await flush();
  }
  for (let i = 0; i < 20; i++) queue.add(`a/${i}`);
  for (let ended = 0; ended < 22; ended++) {
    await flush();
    ends[ended]?.();
  }
  await flush();
  assertEquals([batches.reduce((sum, size) => sum + size), queue.processing], [22, 0]);
  assertEquals(Math.max(...batches), 3);
  await pool.stop();
});

Deno.test("batches: another batch begins in place of one whose attempts have all timed out", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const batches: string[] = [];
  const errors: string[] = [];
  const ends: (() => void)[] = [];
  const pool = runBatches(queue, (items) => {
    batches.push(items.join(""));
    return new Promise<void>((end) => ends.push(end));
  }, { size: 2, timeout: 50, onError: (_error, item) => errors.push(item) });
  add(queue, "abcd");
  await flush();
  await clock.advance(49);
  assertEquals([batches, errors, queue.length], [["ab"], [], 2]);
  await clock.advance(1);
  await flush();
  assertEquals([batches, errors, pool.snapshot().abandoned], [["ab", "cd"], ["a", "b"], 2]);
  for (const end of ends) end();
  await flush();
  assertEquals([queue.delayed, queue.processing], [2, 0]);
  await pool.stop();
});

Deno.test("batches: an item that is cancelled or times out while it waits for others is not in their batch", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const batches: string[] = [];
  const errors: string[] = [];
  const pool = runBatches(queue, (items) => void batches.push(items.join("")), {
    size: 5,
    wait: 100,
    timeout: 60,
    onError: (error, item) => errors.push(`${item}: ${(error as Error).name}`),
  });
  add(queue, "a");
  await flush();
  await clock.advance(50);
  add(queue, "bc");
  await flush();
  assertEquals(queue.cancel("b"), "running");
  await clock.advance(50);
  await flush();
  assertEquals([batches, errors, queue.processing], [["c"], ["a: TimeoutError"], 0]);
  await pool.stop();
});

Deno.test("batches: a split leaves out items that are cancelled or time out meanwhile, or are added again", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const batches: string[] = [];
  const errors: string[] = [];
  const fails: ((error: Error) => void)[] = [];
  const pool = runBatches(queue, (items) => {
    batches.push(items.join(""));
    return new Promise<void>((_resolve, fail) => fails.push(fail));
  }, {
    size: 4,
    split: true,
    timeout: 100,
    whileProcessing: "abort",
    onError: (error, item) => errors.push(`${item}: ${(error as Error).name}`),
  });
  add(queue, "abcd");
  await flush();
  queue.cancel("a");
  queue.add("d");
  fails[0]!(new Error("bad"));
  await flush();
  assertEquals([batches, queue.length], [["abcd", "b"], 0]);
  fails[1]!(new Error("bad"));
  await flush();
  assertEquals([batches, errors], [["abcd", "b", "c"], ["b: Error"]]);
  await clock.advance(99);
  fails[2]!(new Error("bad"));
  await flush();
  assertEquals([batches.slice(3), errors], [["db"], ["b: Error", "c: Error"]]);
  await clock.advance(100);
  fails[3]!(new Error("too late"));
  await flush();
  assertEquals([batches.slice(4), errors.slice(2)], [["c"], ["d: TimeoutError", "b: TimeoutError"]]);
  fails[4]!(new Error("bad"));
  await pool.stop();
});

Deno.test("batches: while a batch is split, no item is taken in place of items that have ended", async () => {
  const queue = queueWith();
  const batches: string[] = [];
  let end!: () => void;
  const pool = runBatches(queue, (items) => {
    batches.push(items.join(""));
    if (items.includes("a")) throw new Error("bad");
    return new Promise<void>((resolve) => end = resolve);
  }, { size: 2, split: true, onError() {} });
  add(queue, "abc");
  await flush();
  assertEquals([batches, queue.length, queue.delayed], [["ab", "a", "b"], 1, 1]);
  end();
  await flush();
  assertEquals(batches, ["ab", "a", "b", "c"]);
  end();
  await flush();
  await pool.stop();
});

Deno.test("batches: an item with a throttle never waits for others", async () => {
  const queue = queueWith();
  const batches: string[] = [];
  const throttle = createBucketThrottle({ rate: 0, burst: 2 });
  const pool = runBatches(queue, (items) => void batches.push(items.join("")), { size: 3, wait: "1h", throttle });
  add(queue, "abc");
  await flush();
  assertEquals([batches, queue.length], [["ab"], 1]);
  await pool.stop();
});

Deno.test("batches: with sameGroup, a batch has the items of one group, and each item has its own context", async () => {
  const queue = queueWith({ discipline: createFairDiscipline({ separator: "/" }) });
  const batches: string[][] = [];
  for (const item of ["a/1", "b/1", "a/2", "b/2"]) queue.add(item);
  const pool = runBatches(queue, (items, context) => {
    batches.push(items.map((item) => `${context.of(item).key} ${context.of(item).attempt}`));
    assertThrows(() => context.of("other"), Error, "not in the batch");
    assert(!context.signal.aborted);
  }, { size: 4, sameGroup: true });
  await flush();
  assertEquals(batches, [["a/1 1", "a/2 1"], ["b/1 1", "b/2 1"]]);
  assertThrows(() => runBatches(queueWith(), () => {}, { size: 1, sameGroup: true }), TypeError, "with groups");
  await pool.stop();
});

Deno.test("batches: the signal aborts once all items are cancelled", async () => {
  const queue = queueWith();
  let signal!: AbortSignal;
  const pool = runBatches(queue, (_items, context) => {
    signal = context.signal;
    return new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { size: 2 });
  add(queue, "ab");
  await flush();
  queue.cancel("a", "why");
  assertEquals(signal.aborted, false);
  queue.cancel("b", "why");
  assertEquals([signal.aborted, signal.reason], [true, "why"]);
  await flush();
  assertEquals([queue.processing, queue.delayed], [0, 0]);
  await pool.stop();
});

Deno.test("batches: bad options are refused", () => {
  const start = (options: unknown) => () => runBatches(queueWith(), () => {}, options as never);
  assertThrows(start({}), TypeError, "'size'");
  assertThrows(start({ size: 0 }), RangeError, "'size'");
  assertThrows(start({ size: 1, wait: "soon" }), TypeError, "'wait'");
  assertThrows(start({ size: 1, sise: 1 }), TypeError, "sise");
  assertThrows(() => runBatches(queueWith(), "x" as never, { size: 1 }), TypeError, "'handler'");
});
