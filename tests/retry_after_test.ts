/** Handlers that say how long the retry of their item has to wait at least. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  RetryAfterError,
} from "@workqueue/core";
import { runWorkers, test } from "./engines.ts";
import { HandDelayingQueue } from "./foreign_queues.ts";
import { HandClock } from "./helpers.ts";
import { flush, isSettled } from "./queue_helpers.ts";
import { loadSecondCopy } from "./second_copy.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });

/** When each attempt of "a" begins, if its first attempts end with these errors. */
async function attemptsOf(errors: unknown[], clock = new HandClock(), queue = newQueue(clock)): Promise<number[]> {
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt <= errors.length) throw errors[attempt - 1];
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(100_000);
  await pool.stop();
  return beganAt;
}

function newQueue(clock: HandClock): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(limiter(), { clock });
}

Deno.test("rule 11: the retry is due no sooner than a RetryAfterError says, and no sooner than the limiter says", async () => {
  assertEquals(await attemptsOf([new RetryAfterError("30s")]), [0, 30_000]);
  assertEquals(await attemptsOf([new RetryAfterError(4)]), [0, 10]);
  assertEquals(await attemptsOf([new RetryAfterError(500), new Error("no"), new RetryAfterError(15)]), [
    0,
    500,
    520,
    560,
  ]);
  for (const nothing of [0, -5, "0s", "-1h"]) assertEquals(await attemptsOf([new RetryAfterError(nothing)]), [0, 10]);
});

test("rule 11: a RetryAfterError is a failure as any other: counted, reported, given up after maxRetries", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const reports: string[] = [];
  const pool = runWorkers(queue, () => {
    throw new RetryAfterError("1s", "429");
  }, {
    clock,
    maxRetries: 1,
    onError: (error, item, attempt) => void reports.push(`${error} ${item} ${attempt}`),
    onGiveUp: (error, item, attempts) => void reports.push(`given up: ${error} ${item} ${attempts}`),
  });
  queue.add("a");
  await flush();
  assertEquals(queue.numRequeues("a"), 1);
  await clock.advance(1000);
  assertEquals(reports, ["RetryAfterError: 429 a 1", "RetryAfterError: 429 a 2", "given up: RetryAfterError: 429 a 2"]);
  await pool.stop();
});

test("an item that has to wait is brought at once by somebody who adds it", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt === 1) throw new RetryAfterError("1h");
  }, { onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(5);
  queue.add("a");
  await flush();
  assertEquals(beganAt, [0, 5]);
  await pool.stop();
});

test("rule 6: a drain that waits waits as long as a RetryAfterError says", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt === 1) throw new RetryAfterError("1s");
  }, { onError() {} });
  queue.add("a");
  const drained = queue.shutDownWithDrain({ waiting: "wait" });
  await flush();
  await clock.advance(999);
  assert(!await isSettled(drained));
  await clock.advance(1);
  await drained;
  await pool.finished;
  assertEquals(beganAt, [0, 1000]);
});

test("a handler that ran out of time may still say when to try again", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { signal, attempt }) => {
    beganAt.push(clock.time);
    if (attempt > 1) return;
    return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new RetryAfterError(200))));
  }, { timeout: 50, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(1000);
  assertEquals(beganAt, [0, 250]);
  await pool.stop();
});

Deno.test("a RetryAfterError of another copy of the package counts, and what only looks like one does not", async () => {
  const other = await loadSecondCopy();
  assertEquals(await attemptsOf([new other.RetryAfterError("2s")]), [0, 2000]);
  assertEquals(await attemptsOf([Object.assign(new Error("no"), { name: "RetryAfterError", delay: 2000 })]), [0, 10]);
  assertEquals(await attemptsOf([{ [Symbol.for("workqueue.retryAfter")]: NaN }]), [0, 10]);
  const hostile = new Proxy({}, {
    get() {
      throw new Error("get");
    },
  });
  assertEquals(await attemptsOf([hostile]), [0, 10]);
});

Deno.test("layers over a queue of somebody else's that takes no options wait as long", async () => {
  const below = new HandDelayingQueue<string>();
  const queue = createRateLimitingQueue<string>(limiter(), { queue: below });
  const pool = runWorkers(queue, (_item, { attempt }) => {
    throw new RetryAfterError(attempt === 1 ? "30s" : 1);
  }, { maxRetries: 2, onError() {} });
  queue.add("a");
  await flush();
  assertEquals(below.delayed, [{ item: "a", delayMs: 30_000 }]);
  below.endDelays();
  await flush();
  assertEquals(below.delayed, [{ item: "a", delayMs: 20 }], "the limiter heard of the first failure");
  await pool.stop();
});

/** A rate limiting queue of somebody else's that knows no options. */
class ForeignQueue extends HandDelayingQueue<string> implements RateLimitingQueue<string> {
  readonly calls: string[] = [];

  override addAfter(item: string, delayMs: number): void {
    this.calls.push(`addAfter ${item} ${delayMs}`);
    super.addAfter(item, delayMs);
  }

  addRateLimited(item: string): void {
    this.calls.push(`addRateLimited ${item}`);
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }
}

Deno.test("a rate limiting queue of somebody else's that knows no options is given the delay itself", async () => {
  const queue = new ForeignQueue();
  const pool = runWorkers(queue, (_item, { attempt }) => {
    throw attempt === 1 ? new RetryAfterError("30s") : new RetryAfterError(0);
  }, { onError() {} });
  queue.add("a");
  await flush();
  queue.endDelays();
  await flush();
  assertEquals(queue.calls, ["addAfter a 30000", "addRateLimited a"]);
  await pool.stop();
});

Deno.test("a rate limiting queue of somebody else's that says it takes options is given atLeast", async () => {
  const calls: unknown[] = [];
  const queue = Object.assign(new ForeignQueue(), {
    [Symbol.for("workqueue.options")]: true,
    addRateLimited: (...args: unknown[]) => void calls.push(args),
  });
  const pool = runWorkers(queue, () => {
    throw new RetryAfterError("30s");
  }, { onError() {} });
  queue.add("a");
  await flush();
  assertEquals(calls, [["a", { atLeast: 30_000 }]]);
  await pool.stop();
});

Deno.test("a RetryAfterError with a delay that makes no sense cannot be made", () => {
  assertThrows(
    () => new RetryAfterError(NaN),
    RangeError,
    `Cannot create retry-after error as 'delay' must be a duration such as "250ms", "1h30m" or a number of milliseconds: received NaN`,
  );
  assertThrows(() => new RetryAfterError(Infinity), RangeError);
  for (const wrong of ["30", "soon", undefined, null, new Date()]) {
    assertThrows(() => new RetryAfterError(wrong as never), TypeError, "'delay' must be a duration");
  }
  const error = new RetryAfterError("1.5s", "429 Too Many Requests", { cause: "why" });
  assert(error instanceof Error);
  assertEquals([error.name, error.message, error.cause, error.delay], [
    "RetryAfterError",
    "429 Too Many Requests",
    "why",
    1500,
  ]);
});
