/** Tests of clocks that jump, stand still or go back, and of timers that fire early or late. */

import { assert, assertEquals } from "@std/assert";
import {
  type Clock,
  createBucketLimiter,
  createExponentialLimiter,
  createRateLimitingQueue,
  InMemoryMetrics,
  type RateLimiter,
  type RateLimitingQueueOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { isSettled, outcome, take, takeAll } from "../queue_helpers.ts";

const DAY = 24 * 3600 * 1000;

function queueOn(
  clock: Clock,
  options: RateLimitingQueueOptions<string> & { limiter?: RateLimiter<string> } = {},
) {
  const { limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 }), ...rest } = options;
  return createRateLimitingQueue<string>(limiter, { clock, ...rest });
}

Deno.test("rule 7: the clock jumps ahead by a day: due items come out by deadline at the next check, not before", async () => {
  const clock = new HandClock();
  const queue = queueOn(clock, { maxSleep: 50 });
  queue.addAfter("c", 3000);
  queue.addAfter("tomorrow", DAY + 3000);
  queue.addAfter("a", 1000);
  queue.addRateLimited("b");
  clock.time += DAY;
  assertEquals([queue.length, queue.delayed], [0, 4]);
  await clock.advance(0); // fires the timers that came due during the jump
  assertEquals([takeAll(queue), queue.delayed], [["b", "a", "c"], 1]);
  await clock.advance(3000);
  assertEquals(takeAll(queue), ["tomorrow"]);
  assertEquals(clock.timers, 0);
});

Deno.test("rule 7: after a jump, waiting calls of get are served by deadline", async () => {
  const clock = new HandClock();
  const queue = queueOn(clock);
  const waiters = [queue.get(), queue.get()];
  queue.addAfter("b", 2000);
  queue.addAfter("a", 1000);
  clock.time += DAY;
  await clock.advance(0);
  assertEquals(await Promise.all(waiters.map(outcome)), ["a", "b"]);
});

Deno.test("the clock jumps ahead by a day: a processing item can be done as usual, and its metrics are a day longer", async () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = queueOn(clock, { name: "q", metrics });
  queue.add("a");
  const lease = take(queue);
  clock.time += DAY;
  await clock.advance(0);
  assertEquals(metrics.value("workqueue_longest_running_processor_seconds", "q"), DAY / 1000);
  lease[Symbol.dispose]();
  assertEquals(metrics.value("workqueue_work_duration_seconds", "q"), DAY / 1000);
  await clock.advance(500);
  assertEquals(metrics.value("workqueue_unfinished_work_seconds", "q"), 0);
  assertEquals(clock.timers, 0);
});

Deno.test("the clock jumps ahead by a day: a bucket is full, and has no more tokens than its burst", async () => {
  const clock = new HandClock();
  const queue = queueOn(clock, { limiter: createBucketLimiter({ rate: 1, burst: 2, clock }) });
  const addThree = () => {
    for (const item of ["a", "b", "c"]) queue.addRateLimited(item);
    return [queue.length, queue.delayed];
  };
  assertEquals(addThree(), [2, 1]);
  clock.time += DAY;
  await clock.advance(0);
  assertEquals(takeAll(queue), ["a", "b", "c"]);
  assertEquals(addThree(), [2, 1]);
  queue.shutDown();
});

/** Clock whose time and timers are independent of each other. */
class LooseClock implements Clock {
  time = 0;
  readonly #callbacks = new Map<number, () => void>();
  #set = 0;

  get timers(): number {
    return this.#callbacks.size;
  }

  now(): number {
    return this.time;
  }

  setTimeout(callback: () => void): number {
    this.#callbacks.set(++this.#set, callback);
    return this.#set;
  }

  clearTimeout(handle: unknown): void {
    this.#callbacks.delete(handle as number);
  }

  /** Fires all timers that are currently set, but not the timers that their callbacks set. */
  fire(): void {
    for (const [handle, callback] of [...this.#callbacks]) {
      this.#callbacks.delete(handle);
      callback();
    }
  }
}

Deno.test("rule 7: the clock stands still: nothing is handed out early, and each firing sets one timer", () => {
  const clock = new LooseClock();
  const metrics = new InMemoryMetrics();
  const queue = queueOn(clock, { name: "q", metrics });
  for (const item of ["a", "b"]) queue.addAfter(item, 10);
  queue.addRateLimited("c");
  for (let i = 0; i < 100; i++) {
    clock.fire();
    assertEquals([queue.length, queue.delayed, clock.timers], [0, 3, 1]);
  }
  queue.add("now");
  queue.addAfter("now too", 0);
  assertEquals(takeAll(queue), ["now", "now too"]);
  for (let i = 0; i < 100; i++) clock.fire();
  assertEquals([queue.delayed, clock.timers], [3, 1]);
  assertEquals(metrics.value("workqueue_longest_running_processor_seconds", "q"), 0);
  clock.time = 100;
  clock.fire();
  assertEquals(takeAll(queue), ["a", "b", "c"]);
});

Deno.test("the clock stands still: a bucket gives its burst, and nothing more", () => {
  const clock = new LooseClock();
  const limiter = createBucketLimiter({ rate: 1000, burst: 3, clock });
  assertEquals(Array.from({ length: 5 }, (_, i) => limiter.when(i)), [0, 0, 0, 1, 2]);
});

Deno.test("rule 7: a timer that fires early hands out nothing, however often; a late timer hands out all due items", () => {
  const clock = new LooseClock();
  const queue = queueOn(clock);
  for (let i = 1; i <= 10; i++) queue.addAfter(String(i), i * 100);
  for (clock.time = 0; clock.time < 100; clock.time += 9) {
    clock.fire();
    assertEquals([queue.length, clock.timers], [0, 1]);
  }
  clock.time = 100;
  clock.fire();
  assertEquals(takeAll(queue), ["1"]);
  clock.time = 950;
  assertEquals(queue.length, 0);
  clock.fire();
  assertEquals(takeAll(queue), ["2", "3", "4", "5", "6", "7", "8", "9"]);
  assertEquals([queue.delayed, clock.timers], [1, 1]);
  queue.shutDown();
  assertEquals(clock.timers, 0);
});

Deno.test("rule 7: the clock goes back: delayed items are late by the same time, and none is lost or early", () => {
  const clock = new LooseClock();
  clock.time = DAY;
  const queue = queueOn(clock);
  queue.addAfter("a", 100);
  clock.time = 0;
  clock.fire();
  assertEquals([queue.length, clock.timers], [0, 1]);
  queue.addAfter("b", 100);
  clock.time = 100;
  clock.fire();
  assertEquals(takeAll(queue), ["b"]);
  clock.time = DAY + 100;
  clock.fire();
  assertEquals([takeAll(queue), clock.timers], [["a"], 0]);
});

Deno.test("a timer of a queue that was shut down changes nothing if it fires", async () => {
  const clock = new LooseClock();
  const callbacks: (() => void)[] = [];
  clock.setTimeout = (callback) => callbacks.push(callback);
  const metrics = new InMemoryMetrics();
  const queue = queueOn(clock, { name: "q", metrics });
  queue.addAfter("a", 10);
  queue.add("processing");
  const lease = take(queue);
  const drained = queue.shutDownWithDrain();
  clock.time = DAY;
  const set = callbacks.length;
  for (const callback of callbacks.splice(0)) callback();
  assertEquals([queue.length, queue.delayed, set, callbacks.length], [0, 0, 2, 0]);
  lease[Symbol.dispose]();
  assert(await isSettled(drained));
});
