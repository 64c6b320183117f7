/** `addAndWait` of queues: which attempt's result a call gets, and when it rejects. */

import { assert, assertEquals, assertFalse, assertInstanceOf, assertRejects } from "@std/assert";
import {
  adaptDiscipline,
  createExponentialLimiter,
  createRateLimitingQueue,
  GivenUpError,
  type Handler,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  result,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { countListeners, flush, isSettled, Lifo, take } from "../queue_helpers.ts";
import { test } from "../workers/engines.ts";

function queueWith<R = unknown>(options: RateLimitingQueueOptions<string> = {}): RateLimitingQueue<string, R> {
  return createRateLimitingQueue<string, R>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }), {
    clock: new HandClock(),
    ...options,
  });
}

/** Handler whose attempts are ended by hand, in the order in which they began. */
function byHand() {
  const attempts: { resolve(value: unknown): void; reject(error: unknown): void }[] = [];
  const handler = () => new Promise<unknown>((resolve, reject) => attempts.push({ resolve, reject }));
  return { attempts, handler };
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: Error = await promise.then(() => new Error("resolved"), (error) => error);
  return (error as { code?: string }).code ?? error.message;
}

test("rule 23: calls whose adds are folded into one attempt get its result", async (engine) => {
  const queue = queueWith();
  const calls = [queue.addAndWait("a"), queue.addAndWait("a"), queue.addAndWait("b", { priority: 1 })];
  const handled: string[] = [];
  const pool = engine.runWorkers(queue, (item) => {
    handled.push(item);
    return item.toUpperCase();
  });
  assertEquals(await Promise.all(calls), ["A", "A", "B"]);
  assertEquals(handled, ["a", "b"]);
  await pool.stop();
});

test("rule 23: a call during an attempt gets the result of the next one", async (engine) => {
  const queue = queueWith();
  const { attempts, handler } = byHand();
  const pool = engine.runWorkers(queue, handler);
  const first = queue.addAndWait("a");
  await flush();
  const second = queue.addAndWait("a");
  attempts[0]!.resolve(1);
  assertEquals(await first, 1);
  await flush();
  assertFalse(await isSettled(second));
  const third = queue.addAndWait("a");
  attempts[1]!.resolve(2);
  assertEquals(await second, 2);
  await flush();
  attempts[2]!.resolve(3);
  assertEquals(await third, 3);
  await pool.stop();
});

test("rule 23: a call waits through failures and requeue, and all calls get the first success after them", async (engine) => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const { attempts, handler } = byHand();
  const pool = engine.runWorkers(queue, handler, { onError() {} });
  const first = queue.addAndWait("a");
  await flush();
  const second = queue.addAndWait("a");
  attempts[0]!.reject(new Error("no"));
  await flush();
  attempts[1]!.resolve({ requeue: true });
  await flush();
  const third = queue.addAndWait("a");
  await flush();
  attempts[2]!.resolve("done");
  assertEquals(await Promise.all([first, second, third]), ["done", "done", "done"]);
  await pool.stop();
});

test("requeueAfter resolves to undefined, and result() passes on a value that looks like an outcome", async (engine) => {
  const queue = queueWith();
  const returned = [
    { requeueAfter: "1h" },
    result({ requeueAfter: "1h" }),
    result(undefined),
    { requeue: false },
    null,
  ];
  const pool = engine.runWorkers(queue, () => returned.shift());
  assertEquals(await queue.addAndWait("a"), undefined);
  assertEquals(queue.cancel("a"), "delayed");
  assertEquals(await queue.addAndWait("a"), { requeueAfter: "1h" });
  assertEquals([await queue.addAndWait("a"), await queue.addAndWait("a")], [undefined, undefined]);
  assertEquals([await queue.addAndWait("a"), queue.delayed], [null, 0]);
  await pool.stop();
});

Deno.test("by hand: done resolves to undefined, and a retry keeps the call waiting", async () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  const call = queue.addAndWait("a");
  const lease = take(queue);
  queue.addRateLimited("a");
  lease[Symbol.dispose]();
  assertFalse(await isSettled(call));
  await clock.advance(10);
  take(queue)[Symbol.dispose]();
  assertEquals(await call, undefined);
});

test("a call for an item that is given up rejects with the handler's error as the cause", async (engine) => {
  const queue = queueWith();
  const cause = new TerminalError("404");
  const pool = engine.runWorkers(queue, () => Promise.reject(cause), { onError() {} });
  const error = await assertRejects(
    () => queue.addAndWait("a"),
    GivenUpError,
    "given up (terminal): TerminalError: 404",
  );
  assertEquals([error.cause, error.code, error.reason], [cause, "WQ_GIVEN_UP", "terminal"]);
  await pool.stop();
});

test("an item that is given up and was added again meanwhile keeps all calls waiting", async (engine) => {
  const queue = queueWith();
  const { attempts, handler } = byHand();
  const pool = engine.runWorkers(queue, handler, { onError() {} });
  const call = queue.addAndWait("a");
  await flush();
  queue.add("a");
  attempts[0]!.reject(new TerminalError("no"));
  await flush();
  assertFalse(await isSettled(call));
  attempts[1]!.resolve(2);
  assertEquals(await call, 2);
  await pool.stop();
});

Deno.test("a queue that is shut down rejects calls, and so does a shutdown that drops their items", async () => {
  const queue = queueWith();
  queue.addRateLimited("a");
  const fold = queueWith({ addWhileDelayed: "replace" });
  const delayed = fold.addAndWait("a");
  const lease = take(fold);
  fold.addRateLimited("a");
  lease[Symbol.dispose]();
  assertFalse(await isSettled(delayed));
  fold.shutDown();
  assertEquals(await codeOf(delayed), "WQ_SHUT_DOWN");
  assertEquals(await codeOf(fold.addAndWait("a")), "WQ_SHUT_DOWN");
  const ready = queue.addAndWait("b");
  queue.shutDown();
  take(queue)[Symbol.dispose]();
  assertEquals(await ready, undefined);
});

test("a drain that drops retries rejects the calls that await them", async (engine) => {
  const queue = queueWith();
  const { attempts, handler } = byHand();
  engine.runWorkers(queue, handler, { onError() {} });
  const call = queue.addAndWait("a");
  await flush();
  const drain = queue.shutDownWithDrain();
  attempts[0]!.reject(new Error("no"));
  const error = await call.catch((error) => error);
  assertInstanceOf(error, GivenUpError);
  assertEquals(error.reason, "shutdown");
  await drain;
});

Deno.test("rule 23: cancelDelayed rejects calls that are left without work, even if keyOf throws after its first call", async () => {
  let calls = -Infinity;
  const queue = queueWith({
    keyOf(item) {
      if (calls++ > 0) throw new Error("no key");
      return item;
    },
  });
  const call = queue.addAndWait("a");
  const lease = take(queue);
  queue.addRateLimited("a");
  lease[Symbol.dispose]();
  calls = 0;
  queue.cancelDelayed("a");
  assertEquals(await codeOf(call), "WQ_CANCELLED");
});

Deno.test("cancel rejects all calls for the item, and cancelDelayed only those whose only work it cancels", async () => {
  const queue = queueWith();
  const ready = [queue.addAndWait("a"), queue.addAndWait("a")];
  queue.cancel("a", "why");
  for (const call of ready) assertEquals(await codeOf(call), "WQ_CANCELLED");
  assertEquals(await ready[0]!.catch(({ cause }) => cause), "why");
  const call = queue.addAndWait("a");
  queue.addAfter("a", "1h");
  queue.cancelDelayed("a");
  assertFalse(await isSettled(call));
  take(queue)[Symbol.dispose]();
  assertEquals(await call, undefined);
  const retried = queue.addAndWait("a");
  const lease = take(queue);
  queue.addRateLimited("a");
  lease[Symbol.dispose]();
  queue.cancelDelayed("a");
  assertEquals(await codeOf(retried), "WQ_CANCELLED");
});

test("a call after a cancel waits for the attempt that its add causes", async (engine) => {
  const queue = queueWith();
  const { attempts, handler } = byHand();
  const pool = engine.runWorkers(queue, handler);
  queue.add("a");
  await flush();
  queue.cancel("a");
  const call = queue.addAndWait("a");
  attempts[0]!.resolve(1);
  await flush();
  attempts[1]!.resolve(2);
  assertEquals(await call, 2);
  await pool.stop();
});

Deno.test("the signal ends the wait, but not the work, and no listener is left", async () => {
  const queue = queueWith();
  const controller = new AbortController();
  const listeners = countListeners(controller.signal);
  const call = queue.addAndWait("a", { signal: controller.signal });
  const other = queue.addAndWait("a", { signal: controller.signal });
  take(queue)[Symbol.dispose]();
  assertEquals([await call, await other, listeners()], [undefined, undefined, 0]);
  const last = queue.addAndWait("a", { signal: controller.signal });
  controller.abort("enough");
  assertEquals([await last.catch((reason) => reason), queue.length], ["enough", 1]);
  assertEquals(await queue.addAndWait("b", { signal: controller.signal }).catch((reason) => reason), "enough");
  assertEquals(queue.length, 1);
});

Deno.test("bad options, and a discipline that throws, reject, and the item is not added", async () => {
  class Refusing extends Lifo<string> {
    override push() {
      throw new Error("no");
    }
  }
  const queue = queueWith({ discipline: adaptDiscipline(new Refusing()) });
  await assertRejects(() => queue.addAndWait("a"), Error, "no");
  const plain = queueWith();
  await assertRejects(() => plain.addAndWait("a", { signal: "x" as never }), TypeError, "'signal'");
  await assertRejects(() => plain.addAndWait("a", { sigal: 1 } as never), TypeError, "sigal");
  await assertRejects(() => plain.addAndWait("a", { priority: NaN }), RangeError, "'priority'");
  assertEquals(plain.length, 0);
});

Deno.test("types: a handler returns results of the queue's type, outcomes, or result()", async () => {
  const queue = createRateLimitingQueue<string, number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const sum: Handler<string, number> = (item) => item.length;
  const pool = runWorkers(queue, sum);
  const value: number = await queue.addAndWait("abc");
  assertEquals(value, 3);
  await pool.stop();
  const wrong = () => {
    // @ts-expect-error a string is no number
    runWorkers(queue, (item) => item);
    // @ts-expect-error nothing is no number
    runWorkers(queue, () => {});
    runWorkers(queue, () => ({ requeueAfter: "1s" }));
    runWorkers(queue, () => result(1));
    runWorkers(queue as RateLimitingQueue<string>, (item) => item);
  };
  assert(wrong);
});
