/**
 * Tests of a pool's unfinished items when its queue is shutting down but still takes some items back.
 */

import { assertEquals, assertFalse } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

const RETRY_DELAY = 100;

/** Queue that drains when a test says so. */
class Draining implements Disposable {
  readonly clock = new HandClock();
  /** Items whose delay was asked for. */
  readonly asked: string[] = [];
  readonly reports: string[] = [];
  readonly queue: RateLimitingQueue<string>;
  readonly #delayed: "wait" | "drop";

  /** With `takes`, the queue takes back processing items while it drains. */
  constructor(takes: boolean) {
    const limiter = createExponentialLimiter<string>({ baseDelay: RETRY_DELAY, maxDelay: RETRY_DELAY });
    const when = (item: string, key: unknown) => {
      this.asked.push(item);
      return limiter.when(item, key);
    };
    const noting = { when, forget: limiter.forget.bind(limiter), numRequeues: limiter.numRequeues.bind(limiter) };
    this.queue = createRateLimitingQueue<string>(noting, { clock: this.clock });
    this.#delayed = takes ? "wait" : "drop";
  }

  drain(): void {
    this.queue.shutDownWithDrain({ delayed: this.#delayed });
  }

  readonly callbacks = {
    onError: (error: unknown, item: string, attempt: number) => void this.reports.push(`${item} ${attempt}: ${error}`),
    onGiveUp: (_error: unknown, item: string, attempts: number, reason: string) =>
      void this.reports.push(`${item} given up after ${attempts}: ${reason}`),
  };

  [Symbol.dispose](): void {
    this.queue.shutDown();
  }
}

Deno.test("rule 6: during a drain that accepts retries, a failed item is retried until its end", async () => {
  using draining = new Draining(true);
  const { queue, clock } = draining;
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    draining.drain();
    attempts.push(attempt);
    if (attempt < 3) throw new Error("no");
  }, { clock, ...draining.callbacks });
  queue.add("a");
  await flush();
  await clock.advance(2 * RETRY_DELAY);
  assertEquals(attempts, [1, 2, 3]);
  assertEquals(draining.reports, ["a 1: Error: no", "a 2: Error: no"]);
  assertEquals(queue.numRequeues("a"), 0);
  await pool.stop();
});

Deno.test("rule 6: also during such a drain, maxRetries and a TerminalError give up, and requeueAfter is plain success", async () => {
  using draining = new Draining(true);
  const { queue, clock } = draining;
  const pool = runWorkers(queue, (item): Outcome => {
    draining.drain();
    if (item === "gone") throw new TerminalError("gone");
    if (item === "bad") throw new Error("no");
    return { requeueAfter: "10ms" };
  }, { clock, maxRetries: 1, concurrency: 3, ...draining.callbacks });
  for (const item of ["gone", "bad", "later"]) queue.add(item);
  await flush();
  await clock.advance(2 * RETRY_DELAY);
  assertEquals(draining.reports, [
    "gone 1: TerminalError: gone",
    "gone given up after 1: terminal",
    "bad 1: Error: no",
    "bad 2: Error: no",
    "bad given up after 2: maxRetries",
  ]);
  assertEquals(draining.asked, ["bad"]);
  assertEquals([queue.length, queue.delayed], [0, 0]);
  await pool.stop();
});

Deno.test("rule 6: during a drain that accepts retries, requeue is plain success", async () => {
  using draining = new Draining(true);
  const { queue, clock } = draining;
  const seen: string[] = [];
  const pool = runWorkers(queue, (item, { attempt }) => {
    draining.drain();
    seen.push(`${item} ${attempt}`);
    return { requeue: attempt === 1 };
  }, { clock, ...draining.callbacks });
  for (const item of ["taken", "other"]) queue.add(item);
  await flush();
  await clock.advance(RETRY_DELAY);
  assertEquals(seen, ["taken 1", "other 1"]);
  assertEquals([draining.reports, queue.numRequeues("taken")], [[], 0]);
  await pool.stop();
});

Deno.test("rule 6: during a drain that accepts no retries, a failed item is given up", async () => {
  using draining = new Draining(false);
  const { queue, clock } = draining;
  const pool = runWorkers(queue, () => {
    draining.drain();
    throw new Error("no");
  }, { clock, ...draining.callbacks });
  queue.add("a");
  await flush();
  assertEquals(draining.reports, ["a 1: Error: no", "a given up after 1: shutdown"]);
  assertEquals(draining.asked, []);
  await pool.stop();
});

Deno.test("rule 6: during a drain, an interrupted item goes back to the queue unchanged, and is not counted", async () => {
  using draining = new Draining(true);
  const { queue, clock } = draining;
  const controller = new AbortController();
  const attempts: string[] = [];
  const first = runWorkers(queue, (item, { signal, attempt }) => {
    attempts.push(`${item} ${attempt}`);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { clock, signal: controller.signal, ...draining.callbacks });
  queue.add("a");
  await flush();
  draining.drain();
  controller.abort();
  await first.finished;
  assertEquals([draining.reports, queue.length], [[], 1]);
  const second = runWorkers(queue, (item, { attempt }) => void attempts.push(`${item} ${attempt}`), { clock });
  await flush();
  assertEquals(attempts, ["a 1", "a 1"]);
  await second.stop();
});

Deno.test("rule 6: an interrupted item that a draining queue does not accept is given up, even with retries left", async () => {
  for (const maxRetries of [9, 0]) {
    using draining = new Draining(false);
    const { queue, clock } = draining;
    const controller = new AbortController();
    const pool = runWorkers(queue, () => {
      draining.drain();
      controller.abort();
      throw new Error("interrupted");
    }, { clock, maxRetries, signal: controller.signal, ...draining.callbacks });
    queue.add("a");
    await pool.finished;
    assertEquals(draining.reports, ["a 1: Error: interrupted", "a given up after 1: shutdown"]);
  }
});

Deno.test("rule 6: an item that arrives while a pool is being stopped goes back to a draining queue, or is processed", async () => {
  for (const isTaken of [true, false]) {
    using draining = new Draining(isTaken);
    const { queue, clock } = draining;
    const seen: string[] = [];
    const pool = runWorkers(queue, (item) => void seen.push(item), { clock });
    await flush(); // the pool is now waiting for an item
    queue.add("a");
    draining.drain();
    await pool.stop();
    assertEquals([seen, queue.length], isTaken ? [[], 1] : [["a"], 0]);
  }
});

Deno.test("rule 11: forget by hand resets the count of attempts", async () => {
  using draining = new Draining(true);
  const { queue, clock } = draining;
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempts.length < 5) throw new Error("no");
  }, { clock, maxRetries: 2, ...draining.callbacks });
  queue.add("a");
  await flush();
  await clock.advance(RETRY_DELAY);
  assertEquals([attempts, queue.numRequeues("a")], [[1, 2], 2]);
  queue.forget("a");
  await clock.advance(2 * RETRY_DELAY);
  assertEquals([attempts, queue.numRequeues("a")], [[1, 2, 1, 2], 2]);
  await clock.advance(RETRY_DELAY);
  assertEquals([attempts, queue.numRequeues("a")], [[1, 2, 1, 2, 3], 0]);
  assertFalse(await isSettled(pool.finished));
  await pool.stop();
});

Deno.test("an interrupted attempt counts neither as a success nor as a failure", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }), { clock });
  const controller = new AbortController();
  const pool = runWorkers(queue, () => {
    controller.abort();
    throw new Error("interrupted");
  }, { signal: controller.signal });
  queue.add("a");
  await pool.finished;
  const { succeeded, failed } = totalsOf(pool);
  assertEquals([succeeded, failed, queue.length], [0, 0, 1]);
});

Deno.test("an attempt that timed out before its pool was interrupted is retried after its delay", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }), { clock });
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<void>();
  const pool = runWorkers(queue, () => promise, { signal: controller.signal, timeout: 10, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(10);
  controller.abort();
  reject(new Error("aborted"));
  await pool.finished;
  assertEquals([queue.length, queue.delayed, queue.numRequeues("a")], [0, 1, 1]);
  queue.shutDown();
});
