/** Pools with `whileProcessing: "abort"`: an add of a processing item aborts its attempt. */

import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { createBucketThrottle } from "@workqueue/core/throttles";
import {
  AddedAgainError,
  createExponentialLimiter,
  createRateLimitingQueue,
  type HandlerContext,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { test } from "./engines.ts";

const ABORT = { whileProcessing: "abort" } as const;

function queueWith(clock = new HandClock()): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }), { clock });
}

/** Rejects when the signal aborts, or resolves after some time of the clock. */
function work(clock: HandClock, ms: number, { signal }: HandlerContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

test("rule 24: an item that is added every second for an hour is done, although its attempts need 20 s", async (engine) => {
  const clock = new HandClock();
  const queue = queueWith(clock);
  const done: number[] = [];
  const errors: unknown[] = [];
  const pool = engine.runWorkers(queue, async (_item, context) => {
    await work(clock, 20_000, context);
    done.push(clock.time);
  }, { ...ABORT, onError: (error) => errors.push(error) });
  for (let second = 0; second < 3600; second++) {
    queue.add("a");
    await clock.advance(1000);
    await flush();
  }
  assertEquals([errors, queue.numRequeues("a")], [[], 0]);
  assert(done.length >= 140, `${done.length} attempts were done`); // one in 25 or 26 s
  const gaps = done.map((time, i) => time - (done[i - 1] ?? 0));
  assert(Math.max(...gaps) <= 27_000, `${Math.max(...gaps)} ms without an attempt that was done`);
  queue.cancel("a");
  await pool.stop();
});

test("rule 24: an aborted attempt does not count anywhere, whatever its error, and the item is ready at once", async (engine) => {
  for (const error of [new TerminalError("no"), new Error("no"), undefined]) {
    const queue = queueWith();
    const log: unknown[] = [];
    const pool = engine.runWorkers(queue, async (_item, { signal, attempt }) => {
      log.push(attempt);
      if (log.length > 1) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      assertInstanceOf(signal.reason, AddedAgainError);
      throw error ?? signal.reason;
    }, { ...ABORT, maxRetries: 0, onError: () => log.push("error"), onGiveUp: () => log.push("given up") });
    queue.add("a");
    await flush();
    queue.add("a");
    await flush();
    assertEquals([log, queue.delayed, pool.snapshot().failing], [[1, 1], 0, 0]);
    await pool.stop();
  }
});

test("an aborted attempt that succeeds nevertheless counts, and the item runs again", async (engine) => {
  const queue = queueWith();
  let end!: () => void;
  let attempts = 0;
  const pool = engine.runWorkers(queue, () => {
    attempts++;
    return new Promise<string>((resolve) => end = () => resolve(`result ${attempts}`));
  }, ABORT);
  const first = queue.addAndWait("a");
  await flush();
  const second = queue.addAndWait("a");
  end();
  assertEquals(await first, "result 1");
  await flush();
  end();
  assertEquals(await second, "result 2");
  await pool.stop();
});

test("the permit of an aborted attempt ends unused", async (engine) => {
  const queue = queueWith();
  const throttle = createBucketThrottle({ rate: 0, burst: 3 });
  const pool = engine.runWorkers(queue, (_item, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }), { ...ABORT, throttle });
  queue.add("a");
  await flush();
  assertEquals(throttle.tokens, 2);
  for (let i = 0; i < 5; i++) {
    queue.add("a");
    await flush();
    assertEquals(throttle.tokens, 2);
  }
  queue.cancel("a");
  await flush();
  assertEquals(throttle.tokens, 3);
  await pool.stop();
});

test("a timeout after an abort is not a failure, and a timeout before it is", async (engine) => {
  for (const [addsAt, failing] of [[10, 0], [60, 1]] as const) {
    const clock = new HandClock();
    const queue = queueWith(clock);
    let end!: () => void;
    let errors = 0;
    const pool = engine.runWorkers(queue, () => new Promise<void>((resolve) => end = resolve), {
      ...ABORT,
      timeout: 50,
      onError: () => errors++,
    });
    queue.add("a");
    await flush();
    await clock.advance(addsAt);
    queue.add("a");
    await clock.advance(100);
    assertEquals([errors, pool.snapshot().failing], [failing, failing]);
    end();
    await flush();
    queue.cancel("a");
    end();
    await pool.stop();
  }
});

test("rule 24: a retry or another delay that ends during an attempt doesn't abort it, and a later add does", async (engine) => {
  const clock = new HandClock();
  const queue = queueWith(clock);
  const signals: AbortSignal[] = [];
  const pool = engine.runWorkers(queue, (_item, { signal }) => {
    signals.push(signal);
    return new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, ABORT);
  queue.addRateLimited("retry");
  queue.addAfter("delay", 20);
  for (const item of ["retry", "delay"]) {
    queue.add(item);
    await flush();
    await clock.advance(10);
    assertEquals(queue.snapshot().processingItems.map(({ addedAgain }) => addedAgain), [true]);
    assertEquals(signals.at(-1)!.aborted, false);
    queue.add(item);
    assertEquals(signals.at(-1)!.aborted, true);
    queue.cancel(item);
    await flush();
  }
  await pool.stop();
});

test("rule 24: an attempt that began longer than abortFor ago is not aborted", async (engine) => {
  const clock = new HandClock();
  const queue = queueWith(clock);
  let context!: HandlerContext;
  const pool = engine.runWorkers(queue, (_item, given) => work(clock, 100, context = given), {
    ...ABORT,
    abortFor: 50,
  });
  queue.add("a");
  await flush();
  await clock.advance(50);
  queue.add("a");
  assertEquals([context.signal.aborted, context.addedAgain()], [false, true]);
  queue.cancel("a");
  await clock.advance(100);
  await pool.stop();
});

test("without the option, an add aborts nothing", async (engine) => {
  const queue = queueWith();
  const signals: AbortSignal[] = [];
  let end!: () => void;
  const pool = engine.runWorkers(queue, (_item, { signal }) => {
    signals.push(signal);
    return new Promise<void>((resolve) => end = resolve);
  });
  queue.add("a");
  await flush();
  queue.add("a");
  end();
  await flush();
  end();
  assertEquals(signals.map(({ aborted }) => aborted), [false, false]);
  await pool.stop();
});

Deno.test("a handler that fails or asks for another attempt doesn't get an abort for that", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 0, maxDelay: 0 }));
  const signals: AbortSignal[] = [];
  const pool = runWorkers(queue, (_item, { signal }) => {
    signals.push(signal);
    if (signals.length === 1) throw new Error("no");
    return { requeue: signals.length === 2 };
  }, { ...ABORT, onError() {} });
  queue.add("a");
  await flush();
  assertEquals(signals.map(({ aborted }) => aborted), [false, false, false]);
  await pool.stop();
});

Deno.test("invalid values of whileProcessing and abortFor are refused", () => {
  const queue = queueWith();
  const start = (options: unknown) => () => runWorkers(queue, () => {}, options as never);
  assertThrows(start({ whileProcessing: "stop" }), TypeError, '\'whileProcessing\' must be "again" or "abort"');
  assertThrows(start({ abortFor: 0 }), RangeError, "'abortFor'");
  assertThrows(start({ abortFor: "soon" }), TypeError, "'abortFor'");
});
