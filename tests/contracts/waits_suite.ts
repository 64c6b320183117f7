/** Contract suite for `addAndWait` of queues that processes share: rule 23. Each queue object stands for a process. */

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { GivenUpError, type Handler, result, runWorkers, TerminalError, type WorkerPool } from "@workqueue/core";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import { countListeners, flush, isSettled } from "../queue_helpers.ts";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";
import { retriedWaitsSuite } from "./retried_waits_suite.ts";

/** Waits until a condition holds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isTrue()) await setImmediate();
}

async function take(queue: RemoteQueue): Promise<RemoteLease> {
  const lease = await queue.get();
  if (lease.shutdown) throw new Error("the queue was shut down");
  return lease;
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: Error = await promise.then(() => new Error("resolved"), (error) => error);
  return (error as { code?: string }).code ?? error.message;
}

/** Handler whose first attempts are ended by hand, in the order in which they began. Later ones end at once. */
function byHand(count: number) {
  const attempts: { resolve(value: unknown): void; reject(error: unknown): void }[] = [];
  const handler: Handler<string> = () => {
    if (attempts.length === count) return;
    return new Promise((resolve, reject) => attempts.push({ resolve: resolve as (value: unknown) => void, reject }));
  };
  return { attempts, handler };
}

/** Waits until a number of items is waiting to be handed out, or is being worked on. */
function untilAdded(queue: RemoteQueue, count: number): Promise<void> {
  return until(async () => {
    const { ready, delayed, processing } = await queue.counts();
    return ready + delayed + processing === count;
  });
}

/** Registers the suite for one engine. */
export function waitsSuite(test: RemoteTest, partitions?: number): void {
  const open = <T = string, R = unknown>(place: RemotePlace, options: object = {}) => {
    return place.open<T, R>({
      name: "waits",
      limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
      results: { keepFor: "1m" },
      ...partitions && { partitions },
      ...options,
    });
  };
  const quiet = { onError() {}, concurrency: 10 };

  test("rule 23: calls of several processes whose adds are folded into one attempt get its result", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    await using other = open(place);
    const calls = [queue.addAndWait("a"), other.addAndWait("a"), queue.addAndWait("a"), queue.addAndWait("b")];
    await untilAdded(queue, 2);
    await flush();
    const handled: string[] = [];
    const pool = runWorkers(worker, (item) => {
      handled.push(item);
      return { of: item, list: [1, null] };
    }, quiet);
    const [a, b] = [{ of: "a", list: [1, null] }, { of: "b", list: [1, null] }];
    assertEquals(await Promise.all(calls), [a, a, a, b]);
    assertEquals(new Set(handled), new Set(["a", "b"]));
    await pool.stop();
  });

  test("rule 23: a call during an attempt gets the result of the next one", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const { attempts, handler } = byHand(2);
    const pool = runWorkers(worker, handler, quiet);
    const first = queue.addAndWait("a");
    await until(() => attempts.length === 1);
    const second = queue.addAndWait("a");
    await until(async () => (await queue.snapshot()).processingItems[0]?.addedAgain === true);
    attempts[0]!.resolve(1);
    assertEquals(await first, 1);
    await until(() => attempts.length === 2);
    assertEquals(await isSettled(second), false);
    attempts[1]!.resolve(2);
    assertEquals(await second, 2);
    await pool.stop();
  });

  test("rule 23: a call waits through failures and requeue, and a later call gets the same success", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const { attempts, handler } = byHand(3);
    const pool = runWorkers(worker, handler, quiet);
    const first = queue.addAndWait("a");
    await until(() => attempts.length === 1);
    attempts[0]!.reject(new Error("no"));
    await until(() => attempts.length === 2);
    const second = queue.addAndWait("a");
    await until(async () => (await queue.snapshot()).processingItems[0]?.addedAgain === true);
    attempts[1]!.resolve({ requeue: true });
    await until(() => attempts.length === 3);
    assertEquals([await isSettled(first), await isSettled(second)], [false, false]);
    attempts[2]!.resolve("done");
    assertEquals(await Promise.all([first, second]), ["done", "done"]);
    await pool.stop();
  });

  test("requeueAfter resolves to undefined, and result() passes on a value that looks like an outcome", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const returned = [{ requeueAfter: "1h" }, result({ requeueAfter: "1h" }), result(undefined), null];
    const pool = runWorkers(worker, () => returned.shift() as never, quiet);
    assertEquals(await queue.addAndWait("a"), undefined);
    assertEquals(await queue.cancel("a"), "delayed");
    assertEquals(await queue.addAndWait("a"), { requeueAfter: "1h" });
    assertEquals([await queue.addAndWait("a"), await queue.addAndWait("a")], [undefined, null]);
    await pool.stop();
  });

  test("without the option 'results', a call resolves to undefined when its item is done", async (place) => {
    await using queue = open(place);
    await using worker = open(place, { results: undefined });
    const { attempts, handler } = byHand(1);
    const pool = runWorkers(worker, handler, quiet);
    const call = queue.addAndWait("a");
    await until(() => attempts.length === 1);
    assertEquals(await isSettled(call), false);
    attempts[0]!.resolve({ a: 1 });
    assertEquals(await call, undefined);
    await pool.stop();
  });

  test("a lease that is finished or disposed resolves to undefined, and one that is handed back does not", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const call = queue.addAndWait("a");
    const lease = await take(worker);
    await lease.finish({ requeue: true });
    const next = await take(worker);
    assertEquals(await isSettled(call), false);
    await next.finish();
    assertEquals(await call, undefined);
    const disposed = queue.addAndWait("a");
    await (await take(worker))[Symbol.asyncDispose]();
    assertEquals(await disposed, undefined);
  });

  test("a call for an item that is given up rejects with the handler's error as the cause", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const pool = runWorkers(worker, () => Promise.reject(new TerminalError("404\nnot found")), quiet);
    const error = await assertRejects(() => queue.addAndWait("a"), GivenUpError, "given up (terminal): ");
    assertEquals([error.cause, error.code, error.reason], ["TerminalError: 404 not found", "WQ_GIVEN_UP", "terminal"]);
    await pool.stop();
  });

  test("an item that is given up and was added again meanwhile keeps all calls waiting", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const { attempts, handler } = byHand(2);
    const pool = runWorkers(worker, handler, quiet);
    const call = queue.addAndWait("a");
    await until(() => attempts.length === 1);
    await queue.add("a");
    attempts[0]!.reject(new TerminalError("no"));
    await until(() => attempts.length === 2);
    assertEquals(await isSettled(call), false);
    attempts[1]!.resolve(2);
    assertEquals(await call, 2);
    await pool.stop();
  });

  test("rule 22: cancel rejects all calls for the item, and cancelDelayed those that are left without work", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const ready = [queue.addAndWait("a"), queue.addAndWait("a")];
    await untilAdded(queue, 1);
    await flush();
    assertEquals(await other.cancel("a", { by: "hand" }), "ready");
    for (const call of ready) assertEquals(await codeOf(call), "WQ_CANCELLED");
    assertEquals(await ready[0]!.catch(({ cause }) => cause), { by: "hand" });
    const running = queue.addAndWait("a");
    const lease = await take(other);
    await other.cancel("a");
    assertEquals(await codeOf(running), "WQ_CANCELLED");
    assertEquals(await running.catch(({ cause }) => cause), undefined);
    const later = queue.addAndWait("a");
    await until(async () => (await queue.snapshot()).processingItems[0]!.addedAgain);
    await lease.finish();
    await using delayed = open(place, { limiter: { type: "exponential", baseDelay: "1h", maxDelay: "1h" } });
    await (await take(delayed)).finish({ requeue: true });
    assertEquals([await other.cancelDelayed("a"), await codeOf(later)], [true, "WQ_CANCELLED"]);
    const kept = queue.addAndWait("b");
    await queue.addAfter("b", "1h");
    assertEquals([await other.cancelDelayed("b"), await isSettled(kept)], [true, false]);
    await (await take(other)).finish();
    assertEquals(await kept, undefined);
  });

  test("a call gets the result of the attempt that counts, after another process has lost the item", async (place) => {
    await using queue = open(place);
    await using lost = open(place, { onQueueError() {} });
    await using worker = open(place);
    const call = queue.addAndWait("a");
    const lease = await take(lost);
    await queue.add("a"); // the attempt of another process follows
    await lease.finish({ requeue: true });
    const pool = runWorkers(worker, () => 2, quiet);
    assertEquals([await call, await lease.finish()], [2, true]);
    await pool.stop();
  });

  test("results that can't be stored reject the call and are reported, and the item is done", async (place) => {
    const errors: unknown[] = [];
    await using queue = open(place, { onQueueError() {} });
    await using worker = open(place, { onQueueError: (error: unknown) => errors.push(error) });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const values: Readonly<Record<string, unknown>> = {
      "its JSON has 65537 bytes, more than 65536": "é".repeat(32_767) + "x",
      "it has no JSON form: a function": () => {},
      "it can't be written as JSON: TypeError: ": cycle,
    };
    let value: unknown;
    const pool = runWorkers(worker, () => value as never, quiet);
    for (const [why, each] of Object.entries(values)) {
      value = result(each);
      const error: unknown = await queue.addAndWait("a").catch((error) => error);
      assertInstanceOf(error, Error);
      assertEquals((error as { code?: string }).code, "WQ_RESULT");
      const { message } = error;
      assert(message.startsWith(`Cannot store the result of "a": ${why}`), message);
      assertEquals([String(errors.pop()), errors], [String(error), []]);
    }
    value = "é".repeat(32_767);
    assertEquals(await queue.addAndWait("a"), value);
    await queue.whenIdle();
    assertEquals((await queue.counts()).failing, 0);
    await pool.stop();
  });

  test("the signal ends the wait, but not the work, and no listener is left", async (place) => {
    const errors: unknown[] = [];
    await using queue = open(place, { onQueueError: (error: unknown) => errors.push(error) });
    const controller = new AbortController();
    const listeners = countListeners(controller.signal);
    const call = queue.addAndWait("a", { signal: controller.signal });
    await (await take(queue)).finish();
    assertEquals([await call, listeners()], [undefined, 0]);
    const last = queue.addAndWait("a", { signal: controller.signal });
    await untilAdded(queue, 1);
    controller.abort("enough");
    assertEquals(await last.catch((reason) => reason), "enough");
    assertEquals(await queue.addAndWait("b", { signal: controller.signal }).catch((reason) => reason), "enough");
    await using lease = await take(queue);
    assertEquals([lease.item, (await queue.counts()).ready, errors], ["a", 0, []]);
  });

  test("a signal that aborts in the turn of the call ends the wait, but not the work", async (place) => {
    await using queue = open(place);
    const controller = new AbortController();
    const reason = queue.addAndWait("a", { signal: controller.signal }).catch((reason) => reason);
    controller.abort("enough");
    await using lease = await take(queue);
    assertEquals([lease.item, await reason], ["a", "enough"]);
  });

  test("rule 23: a call gets its result although another process changes the order of the queue", async (place) => {
    await using queue = open(place);
    const call = queue.addAndWait("a");
    await untilAdded(queue, 1);
    await using worker = open(place, { discipline: { type: "priority", min: 0, max: 10, maxHeadStart: "1s" } });
    await worker.add("b");
    await until(async () => (await worker.counts()).ready === 2);
    for (let i = 0; i < 2; i++) await (await take(worker)).finish();
    assertEquals(await call, undefined);
  });

  test("bad arguments reject, and nothing is added", async (place) => {
    await using queue = open(place, { onQueueError() {} });
    await assertRejects(() => queue.addAndWait(1 as never), TypeError, "string");
    await assertRejects(() => queue.addAndWait("a", { signal: "x" as never }), TypeError, "'signal'");
    await assertRejects(() => queue.addAndWait("a", { sigal: 1 } as never), TypeError, "sigal");
    await assertRejects(() => queue.addAndWait("a", { priority: NaN }), RangeError, "'priority'");
    assertEquals((await queue.counts()).ready, 0);
  });

  retriedWaitsSuite((name, run) => {
    test(name, async (place) => {
      await using queue = open(place);
      await run(queue);
    });
  });

  test("the option 'results' is checked", (place) => {
    for (
      const [results, message] of [["1m", "results"], [{}, "results.keepFor"], [{ keepFor: 1 }, "100 ms"]] as const
    ) {
      assertThrowsWith(() => open(place, { results }), message);
    }
    assertThrowsWith(() => open(place, { results: { keepFor: "1m", max: 1 } }), "max");
    return Promise.resolve();
  });

  test("a drain waits for the items of its process, whose calls resolve, and rejects the other calls", async (place) => {
    const queue = open(place, { onQueueError() {} });
    const { attempts, handler } = byHand(1);
    runWorkers(queue, handler, { concurrency: 1 });
    const running = queue.addAndWait("a");
    await until(() => attempts.length === 1);
    const waiting = queue.addAndWait("b");
    await untilAdded(queue, 2);
    const drain = queue.shutDownWithDrain();
    assertEquals(await codeOf(queue.addAndWait("c")), "WQ_SHUT_DOWN");
    attempts[0]!.resolve(1);
    await drain;
    assertEquals([await running, await codeOf(waiting)], [1, "WQ_SHUT_DOWN"]);
    await using other = open(place);
    await using lease = await take(other);
    assertEquals(lease.item, "b");
  });

  test("types: a handler returns results of the queue's type, outcomes, or result()", async (place) => {
    await using queue = open<string, number>(place);
    const pool = runWorkers(queue, (item) => item.length);
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
      runWorkers(queue as RemoteQueue, (item) => item);
    };
    assert(wrong);
  });

  test("many calls at once get their results", async (place) => {
    await using queue = open(place);
    await using worker = open(place);
    const pool: WorkerPool<string> = runWorkers(worker, (item) => Number(item), { concurrency: 50 });
    const numbers = Array.from({ length: 500 }, (_, i) => i);
    assertEquals(await Promise.all(numbers.map((number) => queue.addAndWait(`${number}`))), numbers);
    await pool.stop();
  });
}

function assertThrowsWith(call: () => unknown, message: string): void {
  try {
    call();
  } catch (error) {
    return assert(String(error).includes(message), String(error));
  }
  throw new Error(`no error with ${message}`);
}
