import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { isSettled, Lifo, takeAll } from "../queue_helpers.ts";

const exponential = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });

Deno.test("addRateLimited adds the item after the delay that the limiter returns; forget starts afresh", () => {
  using time = new FakeTime();
  using queue = createRateLimitingQueue<string>(exponential());
  for (const delay of [10, 20, 40]) {
    queue.addRateLimited("a");
    time.tick(delay - 1);
    assertEquals(queue.length, 0);
    time.tick(1);
    assertEquals(takeAll(queue), ["a"]);
  }
  assertEquals([queue.numRequeues("a"), queue.numRequeues("b")], [3, 0]);
  queue.forget("a");
  assertEquals(queue.numRequeues("a"), 0);
  queue.addRateLimited("a");
  time.tick(10);
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("forget does not give the item back; done does", () => {
  using queue = createRateLimitingQueue<string>(exponential());
  queue.add("a");
  queue.tryGet();
  queue.forget("a");
  queue.add("a");
  assertEquals(queue.length, 0);
  queue.done("a");
  assertEquals(queue.length, 1);
});

Deno.test("rule 8: the limiter receives the key, so that equal items count together", () => {
  const calls: unknown[][] = [];
  const limiter: RateLimiter<{ id: number }> = {
    when: (...args) => calls.push(["when", ...args]),
    forget: (...args) => void calls.push(["forget", ...args]),
    numRequeues: (...args) => calls.push(["numRequeues", ...args]),
  };
  using queue = createRateLimitingQueue(limiter, { keyOf: ({ id }) => `key ${id}`, clock: new HandClock(5) });
  const item = { id: 1 };
  queue.addRateLimited(item);
  queue.forget(item);
  queue.numRequeues(item);
  const attempt = { startedAt: 5, dueAt: undefined, minDelay: 0 };
  assertEquals(calls, [["when", item, "key 1", attempt], ["forget", item, "key 1"], ["numRequeues", item, "key 1"]]);

  using counting = createRateLimitingQueue<{ id: number }>(exponential(), {
    keyOf: ({ id }) => id,
    clock: new HandClock(),
  });
  counting.addRateLimited({ id: 7 });
  counting.addRateLimited({ id: 7 });
  assertEquals(counting.numRequeues({ id: 7 }), 2);
  assertEquals(counting.delayed, 1);
});

Deno.test("rule 10: startedAt is a time, and minDelay a duration", () => {
  using queue = createRateLimitingQueue<string>(exponential());
  for (const startedAt of ["5s", null, NaN, Infinity, true]) {
    const add = () => queue.addRateLimited("a", { startedAt: startedAt as never });
    assertThrows(add, Error, "Cannot add item: 'startedAt' must be a finite number");
  }
  for (const minDelay of [null, NaN, "soon", true]) {
    const add = () => queue.addRateLimited("a", { minDelay: minDelay as never });
    assertThrows(add, Error, "Cannot add item: 'minDelay' must be a duration");
  }
  assertEquals([queue.delayed, queue.numRequeues("a")], [0, 0]);
  queue.addRateLimited("a", { minDelay: undefined, startedAt: undefined });
  assertEquals(queue.delayed, 1);
});

Deno.test("the options of every layer take effect: discipline, maxSleep, clock, name", () => {
  using time = new FakeTime();
  const timeouts: number[] = [];
  const clock = {
    now: () => time.now,
    setTimeout: (callback: () => void, ms: number) => {
      timeouts.push(ms);
      return setTimeout(callback, ms);
    },
    clearTimeout: (handle: unknown) => clearTimeout(handle as number),
  };
  using queue = createRateLimitingQueue<string>(exponential(), {
    name: "images",
    discipline: new Lifo(),
    maxSleep: 123,
    clock,
  });
  queue.addAfter("later", 500);
  assertEquals(timeouts, [123]);
  queue.add("a");
  queue.add("b");
  assertEquals(takeAll(queue), ["b", "a"]);
  assertEquals(queue.name, "images");
});

Deno.test("rule 6: after shutDown, addRateLimited is ignored; drains reach all layers", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(exponential());
  queue.addRateLimited("a");
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  queue.addRateLimited("b");
  time.tick(9);
  assertFalse(await isSettled(drained));
  time.tick(100_000);
  assertEquals(takeAll(queue), ["a"]);
  assert(await isSettled(drained));
  queue.addRateLimited("c");
  assertEquals([queue.delayed, queue.length], [0, 0]);
});

Deno.test("rule 6: disposing a queue shuts down all of its layers", () => {
  const queue = createRateLimitingQueue<string>(exponential());
  {
    using disposed = queue;
    disposed.addRateLimited("a");
  }
  assert(queue.shuttingDown);
  assertEquals(queue.delayed, 0);
});

Deno.test("a limiter with an invalid delay gets an error that says so, and the queue continues", () => {
  let delay = NaN;
  const limiter: RateLimiter = { when: () => delay, forget() {}, numRequeues: () => 0 };
  using queue = createRateLimitingQueue<string>(limiter);
  assertThrows(
    () => queue.addRateLimited("a"),
    RangeError,
    "'when' of the limiter must return a finite number of milliseconds, got NaN",
  );
  delay = -1;
  queue.addRateLimited("b");
  assertEquals([queue.length, queue.delayed], [1, 0]);
});

Deno.test("a value that is not a limiter is refused", () => {
  for (const limiter of [undefined, {}, "exponential"]) {
    assertThrows(
      () => createRateLimitingQueue(limiter as RateLimiter),
      TypeError,
      "'limiter' must be made by a create…Limiter, or have when, forget and numRequeues, got",
    );
  }
});

Deno.test("the default controller limiter lets 100 items fail at once, then ten a second", () => {
  using time = new FakeTime();
  using queue = createRateLimitingQueue<number>(createDefaultControllerLimiter());
  for (let item = 0; item < 103; item++) queue.addRateLimited(item);
  time.tick(5);
  assertEquals(queue.length, 100);
  time.tick(95);
  assertEquals(queue.length, 101);
  time.tick(200);
  assertEquals(queue.length, 103);
});

Deno.test("a config instead of a limiter is refused with a hint at the function that builds one", () => {
  const config = { type: "exponential", baseDelay: 5, maxDelay: 1000 };
  const create = () => createRateLimitingQueue(config as unknown as RateLimiter);
  const { message } = assertThrows(create, TypeError);
  assertEquals(
    message,
    "Cannot create rate limiting queue: 'limiter' must be made from a config, by limiters.build(), got an object",
  );
});
