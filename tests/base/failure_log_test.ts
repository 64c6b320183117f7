import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { Console, HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

function queueOn<T>(clock: HandClock, options: RateLimitingQueueOptions<T> = {}) {
  return createRateLimitingQueue<T>(createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }), { clock, ...options });
}

/** Returns the line that is logged when a handler throws the given value. */
async function lineOf(thrown: unknown, item: unknown = "a", name = ""): Promise<string> {
  using log = new Console();
  const clock = new HandClock();
  const queue = queueOn<unknown>(clock, { name });
  const pool = runWorkers(queue, () => Promise.reject(thrown), { clock });
  queue.add(item);
  await flush();
  await pool.stop();
  queue.shutDown();
  assertEquals(log.lines.length, 1);
  return log.lines[0]!;
}

Deno.test("rule 11: without onError, a failure is logged with its item, attempt, error, and place", async () => {
  const line = await lineOf(new TypeError("x is not a function"), "cat.png", "images");
  assertMatch(
    line,
    /^Item "cat\.png" of queue "images" failed at attempt 1: TypeError: x is not a function (at )?.*failure_log_test\.ts:\d+:\d+\)?$/,
  );
});

Deno.test("rule 11: any value can be an error or an item, and none of its code that could fail runs", async () => {
  assertEquals(await lineOf("no"), `Item "a" failed at attempt 1: "no"`);
  assertEquals(await lineOf(undefined), `Item "a" failed at attempt 1: undefined`);
  assertEquals(await lineOf({ message: "no" }), `Item "a" failed at attempt 1: an object`);
  assertEquals(
    await lineOf(new DOMException("no time", "TimeoutError")),
    `Item "a" failed at attempt 1: TimeoutError: no time`,
  );
  const broken = new Proxy({}, {
    get() {
      throw new Error("get");
    },
    getPrototypeOf() {
      throw new Error("getPrototypeOf");
    },
  });
  assertEquals(await lineOf(broken, broken), "Item an object failed at attempt 1: an object");
  const error = new Error("no");
  Object.defineProperty(error, "stack", { value: undefined });
  assertEquals(await lineOf(error, 5), "Item 5 failed at attempt 1: Error: no");
  Object.defineProperty(error, "stack", { value: 7 });
  assertEquals(await lineOf(error), `Item "a" failed at attempt 1: Error: no`);
  Object.defineProperty(error, "message", { value: Symbol("no") });
  assertEquals(await lineOf(error), `Item "a" failed at attempt 1: an object`);
});

Deno.test("rule 11: a failure is one line, whatever its message", async () => {
  const error = new Error("first\nsecond\r\u001b[31mthird\u2028fourth at a.ts:1:2\n    at b.ts:3:4");
  const line = await lineOf(error, "two\nlines\u009b");
  assert(
    line.startsWith(`Item "two\\nlines\\u009b" failed at attempt 1: Error: first second [31mthird fourth at a.ts:1:2 `),
    line,
  );
  assertMatch(line, /failure_log_test\.ts:\d+:\d+\)?$/);
  const long = await lineOf(new Error("x".repeat(10_000)));
  assert(long.length < 1000);
});

Deno.test("rule 11: an item is shown by its key", async () => {
  using log = new Console();
  const clock = new HandClock();
  const queue = queueOn<{ id: number }>(clock, { keyOf: ({ id }) => id });
  const pool = runWorkers(queue, () => Promise.reject("no"), { clock });
  queue.add({ id: 7 });
  await flush();
  assertEquals(log.lines, [`Item 7 failed at attempt 1: "no"`]);
  await pool.stop();
  queue.shutDown();
});

Deno.test("rule 11: at most one line a second is logged, with the number of omitted ones", async () => {
  using log = new Console();
  const clock = new HandClock();
  const queue = queueOn<string>(clock);
  const pool = runWorkers(queue, () => Promise.reject("no"), { clock });
  queue.add("a");
  await flush();
  await clock.advance(999);
  assertEquals(log.lines, [`Item "a" failed at attempt 1: "no"`]);
  await clock.advance(1);
  assertEquals(log.lines.slice(1), [`Item "a" failed at attempt 11: "no" (9 earlier errors omitted)`]);
  await clock.advance(5000);
  assertEquals(log.lines.length, 7);
  clock.time -= 3_600_000;
  queue.add("b");
  await flush();
  assertEquals(log.lines.slice(7), [`Item "b" failed at attempt 1: "no"`], "a clock that is set back silences nothing");
  await pool.stop();
  queue.shutDown();
});

Deno.test("rule 11: each pool logs its own lines", async () => {
  using log = new Console();
  const clock = new HandClock();
  const queues = ["one", "two"].map((name) => {
    const queue = queueOn<string>(clock, { name });
    runWorkers(queue, () => Promise.reject("no"), { clock });
    queue.add("a");
    return queue;
  });
  await flush();
  assertEquals(log.lines.length, 2);
  for (const queue of queues) queue.shutDown();
});

Deno.test("rule 11: with onError, nothing is logged, and onGiveUp does not replace onError", async () => {
  using log = new Console();
  const clock = new HandClock();
  const fail = () => Promise.reject(new TerminalError("gone"));
  for (const options of [{ onError() {} }, { onGiveUp() {} }]) {
    const queue = queueOn<string>(clock);
    const pool = runWorkers(queue, fail, { clock, ...options });
    queue.add("a");
    await flush();
    await pool.stop();
    assertEquals(log.lines.length, "onError" in options ? 0 : 1);
  }
});

Deno.test("rule 11: a console that throws ends neither the pool nor an attempt", async () => {
  using _log = new Console(() => {
    throw new Error("broken pipe");
  });
  const clock = new HandClock();
  const queue = queueOn<string>(clock);
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    throw new TerminalError("no");
  }, { clock });
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  assertEquals(seen, ["a", "b"]);
  await pool.stop();
});

Deno.test("rule 11: an error without a message is reported by its name", async () => {
  assertMatch(await lineOf(new RangeError()), /^Item "a" failed at attempt 1: RangeError [^:]/);
});
