/**
 * Tests of a pool's unfinished items when its queue is shutting down but still takes some items back.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import type { QueueHooks } from "@workqueue/core/hooks";
import { totalsOf } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

const RETRY_DELAY = 100;

/** Third-party queue with the given hooks. While `isDraining` is set, it behaves as if it were draining. */
class Draining implements Disposable {
  readonly clock = new HandClock();
  /** Calls that put an item back. */
  readonly calls: string[] = [];
  readonly reports: string[] = [];
  isDraining = false;
  readonly queue: RateLimitingQueue<string>;
  readonly #inner = createRateLimitingQueue<string>(
    createExponentialLimiter({ baseDelay: RETRY_DELAY, maxDelay: RETRY_DELAY }),
    { clock: this.clock },
  );

  constructor(hooks: QueueHooks<string> = {}) {
    const inner = this.#inner;
    const isDraining = () => this.isDraining;
    const note = (call: string) => this.calls.push(call);
    this.queue = {
      name: "third-party",
      get length() {
        return inner.length;
      },
      get delayed() {
        return inner.delayed;
      },
      get processing() {
        return inner.processing;
      },
      get shuttingDown() {
        return isDraining();
      },
      add(item) {
        note(`add ${item}`);
        if (!isDraining()) inner.add(item);
      },
      addAfter(item, delay) {
        note(`addAfter ${item} ${delay}`);
        if (!isDraining()) inner.addAfter(item, delay);
      },
      addRateLimited(item) {
        note(`addRateLimited ${item}`);
        inner.addRateLimited(item);
      },
      get: (options) => inner.get(options),
      tryGet: () => inner.tryGet(),
      done: (item) => inner.done(item),
      pauseGroup: (group, duration) => inner.pauseGroup(group, duration),
      resumeGroup: (group) => inner.resumeGroup(group),
      cancelDelayed: (item) => inner.cancelDelayed(item),
      whenIdle: (options) => inner.whenIdle(options),
      whenBelow: (count, options) => inner.whenBelow(count, options),
      snapshot: (options) => inner.snapshot(options),
      givenUp: (options) => inner.givenUp(options),
      redrive: (options) => inner.redrive(options),
      redriveProgress: () => inner.redriveProgress(),
      stopRedrive: () => inner.stopRedrive(),
      discard: (options) => inner.discard(options),
      forget: (item) => inner.forget(item),
      numRequeues: (item) => inner.numRequeues(item),
      shutDown: () => inner.shutDown(),
      shutDownWithDrain: () => inner.shutDownWithDrain(),
      [Symbol.dispose]: () => inner.shutDown(),
      [Symbol.asyncIterator]: () => inner[Symbol.asyncIterator](),
      [Symbol.for("workqueue.hooks")]: hooks,
    };
  }

  readonly callbacks = {
    onError: (error: unknown, item: string, attempt: number) => void this.reports.push(`${item} ${attempt}: ${error}`),
    onGiveUp: (_error: unknown, item: string, attempts: number, reason: string) =>
      void this.reports.push(`${item} given up after ${attempts}: ${reason}`),
  };

  takeBack(item: string, delay: number): void {
    assertEquals(delay, 0);
    this.#inner.addAfter(item, delay);
  }

  [Symbol.dispose](): void {
    this.#inner.shutDown();
  }
}

/** Creates a queue that takes back processing items: only the given ones, or all of them by default. */
function taking(items?: string[]): Draining {
  const draining: Draining = new Draining({
    takesBack: (item) => items === undefined || items.includes(item),
    takeBack: (item, delay) => draining.takeBack(item, delay),
  });
  return draining;
}

Deno.test("rule 6: what fails while a queue drains that takes it back is retried to its end", async () => {
  using draining = taking();
  const { queue, clock } = draining;
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    draining.isDraining = true;
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

Deno.test("rule 6: while a queue drains, too, maxRetries and a TerminalError give up, and requeueAfter is plain success", async () => {
  using draining = taking();
  const { queue, clock } = draining;
  draining.isDraining = false;
  const pool = runWorkers(queue, (item): Outcome => {
    draining.isDraining = true;
    if (item === "gone") throw new TerminalError("gone");
    if (item === "bad") throw new Error("no");
    return { requeueAfter: "10ms" };
  }, { clock, maxRetries: 1, concurrency: 3, ...draining.callbacks });
  for (const item of ["gone", "bad", "later"]) queue.add(item);
  draining.calls.length = 0;
  await flush();
  await clock.advance(2 * RETRY_DELAY);
  assertEquals(draining.reports, [
    "gone 1: TerminalError: gone",
    "gone given up after 1: terminal",
    "bad 1: Error: no",
    "bad 2: Error: no",
    "bad given up after 2: maxRetries",
  ]);
  assertEquals(draining.calls, ["addRateLimited bad"]);
  assertEquals([queue.length, queue.delayed], [0, 0]);
  await pool.stop();
});

Deno.test("rule 6: while a queue drains, requeue is plain success, although the queue takes back what fails", async () => {
  using draining = taking(["taken"]);
  const { queue, clock } = draining;
  const seen: string[] = [];
  const pool = runWorkers(queue, (item, { attempt }) => {
    draining.isDraining = true;
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

Deno.test("rule 6: a queue that cannot mark a retry, or does not take it, takes none: its item is given up", async () => {
  for (const draining of [new Draining(), taking([]), new Draining({ takesBack: () => true })]) {
    const { queue, clock } = draining;
    const pool = runWorkers(queue, () => {
      draining.isDraining = true;
      throw new Error("no");
    }, { clock, ...draining.callbacks });
    queue.add("a");
    await flush();
    assertEquals(draining.reports, ["a 1: Error: no", "a given up after 1: shutdown"]);
    assertEquals(draining.calls, ["add a"]);
    await pool.stop();
    draining[Symbol.dispose]();
  }
});

Deno.test("rule 6: a hook that throws gives up the item, and is reported", async () => {
  using draining = new Draining({
    takesBack() {
      throw new Error("no connection");
    },
    takeBack: () => assert(false, "not asked for"),
  });
  const { queue, clock } = draining;
  const pool = runWorkers(queue, () => {
    draining.isDraining = true;
    throw new Error("no");
  }, { clock, ...draining.callbacks });
  queue.add("a");
  await flush();
  assertEquals(draining.reports, ["a 1: Error: no", "a 1: Error: no connection", "a given up after 1: shutdown"]);
  await pool.stop();
});

Deno.test("rule 6: an interrupted item goes back to a queue that drains, as it came, and is not counted", async () => {
  using draining = taking();
  const { queue, clock } = draining;
  const controller = new AbortController();
  const attempts: string[] = [];
  const first = runWorkers(queue, (item, { signal, attempt }) => {
    attempts.push(`${item} ${attempt}`);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { clock, signal: controller.signal, ...draining.callbacks });
  queue.add("a");
  await flush();
  draining.isDraining = true;
  controller.abort();
  await first.finished;
  assertEquals([draining.reports, queue.length], [[], 1]);
  const second = runWorkers(queue, (item, { attempt }) => void attempts.push(`${item} ${attempt}`), { clock });
  await flush();
  assertEquals(attempts, ["a 1", "a 1"]);
  await second.stop();
});

Deno.test("rule 6: an interrupted item that a draining queue does not take is given up, whatever retries are left", async () => {
  const halfWay: QueueHooks<string> = { takesBack: () => false, takeBack: () => assert(false, "not asked for") };
  for (const [hooks, maxRetries] of [[{}, 9], [halfWay, 9], [{}, 0]] as const) {
    using draining = new Draining(hooks);
    const { queue, clock } = draining;
    const controller = new AbortController();
    const pool = runWorkers(queue, () => {
      draining.isDraining = true;
      controller.abort();
      throw new Error("interrupted");
    }, { clock, maxRetries, signal: controller.signal, ...draining.callbacks });
    queue.add("a");
    await pool.finished;
    assertEquals(draining.reports, ["a 1: Error: interrupted", "a given up after 1: shutdown"]);
  }
});

Deno.test("rule 6: an item that comes in the moment a pool is stopped goes back to a queue that drains, or is worked on", async () => {
  for (const isTaken of [true, false]) {
    using draining = taking(isTaken ? undefined : []);
    const { queue, clock } = draining;
    const seen: string[] = [];
    const pool = runWorkers(queue, (item) => void seen.push(item), { clock });
    await flush(); // the pool is now waiting for an item
    queue.add("a");
    draining.isDraining = true;
    await pool.stop();
    assertEquals([seen, queue.length], isTaken ? [[], 1] : [["a"], 0]);
  }
});

Deno.test("rule 11: a queue that counts attempts itself is asked, so that its forget starts the count afresh", async () => {
  const counts = new Map<unknown, number>();
  using draining = new Draining({ attempts: counts });
  const { queue, clock } = draining;
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempts.length < 5) throw new Error("no");
  }, { clock, maxRetries: 2, ...draining.callbacks });
  queue.add("a");
  await flush();
  await clock.advance(RETRY_DELAY);
  assertEquals([attempts, counts.get("a")], [[1, 2], 2]);
  counts.clear();
  await clock.advance(2 * RETRY_DELAY);
  assertEquals([attempts, counts.get("a")], [[1, 2, 1, 2], 2]);
  await clock.advance(RETRY_DELAY);
  assertEquals([attempts, counts.size], [[1, 2, 1, 2, 3], 0]);
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
