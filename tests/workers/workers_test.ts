import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  adaptDiscipline,
  type Clock,
  createBucketLimiter,
  createExponentialLimiter,
  createRateLimitingQueue,
  type HandlerContext,
  type Outcome,
  type RateLimiter,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
  type WorkerOptions,
} from "@workqueue/core";
import { test } from "./engines.ts";
import { ArrayQueue } from "../third_party_queues.ts";
import { HandClock } from "../helpers.ts";
import { countListeners, flush, insideOf, isSettled } from "../queue_helpers.ts";

function exponentialQueue<T = string>(): RateLimitingQueue<T> {
  return createRateLimitingQueue<T>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }));
}

/** Collector of the pool's reports. */
class Reports implements Pick<WorkerOptions<string>, "onError" | "onGiveUp"> {
  readonly #errors: [message: string, item: string, attempt: number][] = [];
  readonly #givenUp: [message: string, item: string, attempts: number][] = [];

  onError = (error: unknown, item: string, attempt: number): void => {
    this.#errors.push([String(error), item, attempt]);
  };
  onGiveUp = (error: unknown, item: string, attempts: number): void => {
    this.#givenUp.push([String(error), item, attempts]);
  };

  get errors(): [message: string, item: string, attempt: number][] {
    return this.#errors;
  }

  get givenUp(): [message: string, item: string, attempts: number][] {
    return this.#givenUp;
  }
}

/** Creates a promise that the test settles. */
function manual<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}

/** Moves time in small steps, so that timers set by continuations fire. */
async function pass(time: FakeTime, ms: number, step = 1): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await flush();
    time.tick(Math.min(step, ms - passed));
  }
  await flush();
}

test("a handler gets every item, and the pool finishes when the queue is shut down and empty", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  for (const item of ["a", "b", "a"]) queue.add(item);
  const seen: string[] = [];
  const pool = runWorkers(queue, (item, { attempt }) => void seen.push(`${item} ${attempt}`));
  await flush();
  queue.add("c");
  assertFalse(await isSettled(pool.finished));
  queue.shutDown();
  await pool.finished;
  assertEquals(seen, ["a 1", "b 1", "c 1"]);
});

Deno.test("rule 9: under fake timers, a handler that blocks for long delays no attempt", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 1000 }));
  let attempts = 0;
  const pool = runWorkers(queue, () => {
    attempts++;
    const end = performance.now() + 15;
    while (performance.now() < end); // blocks the thread in real time
    throw new Error("503");
  }, { maxRetries: 5, onError() {} });
  queue.add("a");
  const seen = [];
  for (let i = 0; i < 5; i++) {
    await time.tickAsync(i === 0 ? 0 : 1000);
    seen.push(attempts);
  }
  assertEquals(seen, [1, 2, 3, 4, 5]);
  queue.shutDown();
  await pool.finished;
});

test("as many handlers run at once as the concurrency, which is one by default", async ({ runWorkers }) => {
  for (const concurrency of [undefined, 1, 3]) {
    const queue = exponentialQueue<number>();
    for (let i = 0; i < 10; i++) queue.add(i);
    let most = 0;
    let calls = 0;
    const pool = runWorkers(queue, async () => {
      calls++;
      most = Math.max(most, pool.active);
      await flush();
    }, concurrency === undefined ? {} : { concurrency });
    await queue.shutDownWithDrain();
    await pool.finished;
    assertEquals([most, pool.active, calls], [concurrency ?? 1, 0, 10]);
  }
});

test("unused concurrency costs nothing", async ({ runWorkers }) => {
  const queue = exponentialQueue<number>();
  const pool = runWorkers(queue, () => {}, { concurrency: Number.MAX_SAFE_INTEGER });
  for (let i = 0; i < 10; i++) queue.add(i);
  await queue.shutDownWithDrain();
  await pool.finished;
});

Deno.test("a pool waits for one item at a time, whatever its concurrency", async () => {
  const queue = exponentialQueue();
  let waits = 0;
  let most = 0;
  const source = insideOf(queue);
  const take = source.take.bind(source);
  source.take = (request) => {
    most = Math.max(most, ++waits);
    return take(request).finally(() => waits--);
  };
  const ends = new Map<string, () => void>();
  const pool = runWorkers(queue, (item) => new Promise((resolve) => ends.set(item, resolve)), { concurrency: 5 });
  await flush();
  for (const item of ["a", "b", "c"]) queue.add(item);
  await flush();
  for (const item of ["a", "b", "c"]) {
    assertEquals([waits, most], [1, 1]);
    ends.get(item)!();
    await flush();
  }
  await pool.stop();
  assertEquals(waits, 0);
});

test("rule 2: two handlers never have the same key, however often it is added", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  let inside = 0;
  let calls = 0;
  const pool = runWorkers(queue, async () => {
    assertEquals(++inside, 1);
    calls++;
    if (calls < 5) queue.add("a");
    await flush();
    inside--;
  }, { concurrency: 4 });
  for (let i = 0; i < 3; i++) {
    queue.add("a");
    await flush();
  }
  await flush();
  await queue.shutDownWithDrain();
  await pool.finished;
  assert(calls >= 5);
});

test("rule 11: whatever a handler throws costs its item a retry and nothing else", async ({ runWorkers }) => {
  using time = new FakeTime();
  const failures: [string, () => void | Promise<void>][] = [
    ["Error: sync", () => {
      throw new Error("sync");
    }],
    ["undefined", () => {
      throw undefined;
    }],
    ["a string", () => {
      throw "a string";
    }],
    ["Error: rejected", () => Promise.reject(new Error("rejected"))],
    ["null", () => Promise.reject(null)],
  ];
  for (const [message, fail] of failures) {
    const queue = exponentialQueue();
    const reports = new Reports();
    const seen: string[] = [];
    const pool = runWorkers(queue, (item, { attempt }) => {
      seen.push(`${item} ${attempt}`);
      if (item === "bad" && attempt < 3) return fail();
    }, reports);
    queue.add("bad");
    queue.add("good");
    await pass(time, 9);
    assertEquals(seen, ["bad 1", "good 1"]);
    assertEquals(queue.numRequeues("bad"), 1);
    await pass(time, 1 + 20);
    assertEquals(seen, ["bad 1", "good 1", "bad 2", "bad 3"]);
    assertEquals(reports.errors, [[message, "bad", 1], [message, "bad", 2]]);
    assertEquals(reports.givenUp, []);
    assertEquals(queue.numRequeues("bad"), 0, "success forgets the failures");
    queue.add("bad");
    await flush();
    assertEquals(seen.at(-1), "bad 1");
    await pool.stop();
    queue.shutDown();
  }
});

test("rule 11: requeueAfter forgets the failures and adds the item after the given time", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const attempts: number[] = [];
  await using _pool = runWorkers(queue, (_item, { attempt }): Outcome => {
    attempts.push(attempt);
    if (attempt === 1 && attempts.length === 1) throw new Error("first");
    return { requeueAfter: "500ms" };
  }, { onError() {} });
  queue.add("a");
  await pass(time, 10);
  assertEquals(attempts, [1, 2]);
  assertEquals(queue.numRequeues("a"), 0);
  await pass(time, 499);
  assertEquals(attempts, [1, 2]);
  await pass(time, 1);
  assertEquals(attempts, [1, 2, 1]);
  queue.shutDown();
});

test("rule 11: requeue goes through the limiter and is not a failure, even with maxRetries", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const attempts: number[] = [];
  await using _pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    return Promise.resolve(attempt < 4 ? { requeue: true } as const : undefined);
  }, { maxRetries: 1, ...reports });
  queue.add("a");
  await pass(time, 9);
  assertEquals([attempts, queue.numRequeues("a")], [[1], 1]);
  await pass(time, 1 + 20 + 40);
  assertEquals(attempts, [1, 2, 3, 4]);
  assertEquals([reports.errors, reports.givenUp, queue.numRequeues("a")], [[], [], 0]);
  queue.shutDown();
});

test("rule 11: requeue: false has no effect, so a handler may return its result", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const attempts: number[] = [];
  await using _pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    const requeue: boolean = attempt < 2;
    return { requeue };
  });
  queue.add("a");
  await pass(time, 100);
  assertEquals([attempts, queue.delayed, queue.numRequeues("a")], [[1, 2], 0, 0]);
  queue.shutDown();
});

test("rule 10: an outcome that seems misspelt is a failure, with a suggestion", async ({ runWorkers }) => {
  const misspelt: [outcome: unknown, message: string][] = [
    [{ requeueAftr: 5 }, `"requeueAftr" is not an outcome; did you mean "requeueAfter"?`],
    [{ requeueafter: "5s" }, `"requeueafter" is not an outcome; did you mean "requeueAfter"?`],
    [{ RequeueAfter: 5 }, `"RequeueAfter" is not an outcome; did you mean "requeueAfter"?`],
    [{ Requeue: true }, `"Requeue" is not an outcome; did you mean "requeue"?`],
    [{ requeAfter: 5 }, `"requeAfter" is not an outcome; did you mean "requeueAfter"?`],
    [{ reqeueAfter: "5s" }, `"reqeueAfter" is not an outcome; did you mean "requeueAfter"?`],
    [{ requeu: true }, `"requeu" is not an outcome; did you mean "requeue"?`],
    [{ requeueIn: 5 }, `"requeueIn" is not an outcome; did you mean "requeue"?`],
  ];
  using _time = new FakeTime();
  for (const [outcome, message] of misspelt) {
    const queue = exponentialQueue();
    const reports = new Reports();
    await using _pool = runWorkers(queue, () => Promise.resolve(outcome as Outcome), reports);
    queue.add("a");
    await flush();
    assertEquals(reports.errors, [[`TypeError: Cannot requeue item: ${message}`, "a", 1]]);
    assertEquals([queue.delayed, queue.numRequeues("a")], [1, 1]);
    queue.shutDown();
  }
});

test("rule 10: an instance of a class is not an outcome, whatever its fields are called", async ({ runWorkers }) => {
  class Job {
    requeued = true;
  }
  using _time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  await using _pool = runWorkers(queue, () => Promise.resolve(new Job() as object as Outcome), reports);
  queue.add("a");
  await flush();
  assertEquals([reports.errors, queue.delayed], [[], 0]);
  queue.shutDown();
});

test("rule 11: with both requeue and requeueAfter, the latter counts", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  let calls = 0;
  await using _pool = runWorkers(queue, () => {
    if (++calls === 1) return { requeue: true, requeueAfter: 500 };
  });
  queue.add("a");
  await pass(time, 499);
  assertEquals([calls, queue.delayed, queue.numRequeues("a")], [1, 1, 0]);
  await pass(time, 1);
  assertEquals(calls, 2);
  queue.shutDown();
});

test("rule 11: requeueAfter of 0 or less is the same as omitting it", async ({ runWorkers }) => {
  for (const requeueAfter of [0, -1, "0s", "-5s"]) {
    using time = new FakeTime();
    const queue = exponentialQueue();
    const attempts: Record<string, number> = { alone: 0, asking: 0 };
    await using _pool = runWorkers(queue, (item) => {
      if (++attempts[item]! > 3) return;
      return item === "alone" ? { requeueAfter } : { requeue: true, requeueAfter };
    });
    queue.add("alone");
    queue.add("asking");
    await pass(time, 9);
    assertEquals(attempts, { alone: 1, asking: 1 }, `${requeueAfter}`);
    await pass(time, 1);
    assertEquals(attempts, { alone: 1, asking: 2 }, "requeue goes through the limiter");
    queue.shutDown();
  }
});

test("rule 11: requeueAfter of less than a millisecond adds the item again", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  let calls = 0;
  await using _pool = runWorkers(queue, () => ++calls === 1 ? { requeueAfter: 0.5 } : undefined);
  queue.add("a");
  await pass(time, 1);
  assertEquals(calls, 2);
  queue.shutDown();
});

test("rule 11: an invalid outcome is a failure, and does not forget failures", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  await using _pool = runWorkers(queue, (_item, { attempt }) => {
    if (attempt === 1) return { requeueAfter: NaN };
  }, reports);
  queue.add("a");
  await flush();
  assertEquals(reports.errors.map(([message]) => message), [
    `RangeError: Cannot requeue item: 'requeueAfter' must be a duration such as "250ms", "1h30m" or a number of ` +
    "milliseconds, got NaN",
  ]);
  assertEquals([queue.delayed, queue.numRequeues("a")], [1, 1]);
  await pass(time, 10);
  assertEquals(queue.numRequeues("a"), 0);
  queue.shutDown();
});

test("rule 11: after maxRetries an item is given up: forgotten, reported once, never retried", async ({ runWorkers }) => {
  using time = new FakeTime();
  for (const maxRetries of [0, 2]) {
    const queue = exponentialQueue();
    const reports = new Reports();
    await using _pool = runWorkers(queue, () => Promise.reject(new Error("no")), { maxRetries, ...reports });
    queue.add("a");
    await pass(time, 5000);
    assertEquals(reports.givenUp, [["Error: no", "a", maxRetries + 1]]);
    assertEquals(reports.errors.length, maxRetries + 1);
    assertEquals([queue.numRequeues("a"), queue.delayed, queue.length], [0, 0, 0]);
    queue.add("a");
    await flush();
    assertEquals(reports.errors.at(-1), ["Error: no", "a", 1], "it starts afresh when it is added again");
    queue.shutDown();
  }
});

test("rule 11: maxRetries also applies if the limiter does not count", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createBucketLimiter({ rate: 1000, burst: 10 }));
  const reports = new Reports();
  await using _pool = runWorkers(queue, () => Promise.reject(new Error("no")), { maxRetries: 3, ...reports });
  queue.add("a");
  await pass(time, 1000);
  assertEquals(reports.givenUp, [["Error: no", "a", 4]]);
  queue.shutDown();
});

test("rule 11: attempts are counted by key, together with failures counted by hand", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<{ id: number }>(
    createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }),
    { keyOf: ({ id }) => id },
  );
  const attempts: number[] = [];
  await using _pool = runWorkers(queue, (item, { attempt }) => {
    attempts.push(attempt);
    queue.addAfter({ id: item.id }, 10); // this newer item with the same key replaces the old one
    throw new Error("no");
  }, { onError() {} });
  queue.addRateLimited({ id: 1 }); // counts as a failure
  await pass(time, 50);
  assertEquals(attempts.slice(0, 3), [2, 3, 4]);
  queue.shutDown();
});

/** Handler results that add an item again, tested while the queue contains a newer item with the same key. */
const askings: [name: string, ask: () => Outcome][] = [
  ["fails", () => {
    throw new Error("no");
  }],
  ["asks to requeue", () => ({ requeue: true })],
  ["asks for requeueAfter", () => ({ requeueAfter: 30 })],
];

interface Versioned {
  readonly id: number;
  readonly version: number;
}

function versionedQueue(): RateLimitingQueue<Versioned> {
  const limiter = createExponentialLimiter({ baseDelay: 20, maxDelay: 1000 });
  return createRateLimitingQueue<Versioned>(limiter, { keyOf: ({ id }) => id });
}

const OLD: Versioned = { id: 1, version: 1 }, NEW: Versioned = { id: 1, version: 2 };
const additions: [name: string, add: (queue: RateLimitingQueue<Versioned>) => void][] = [
  ["add", (queue) => queue.add(NEW)],
  ["addAfter before it", (queue) => queue.addAfter(NEW, 5)],
  ["addAfter long after it", (queue) => queue.addAfter(NEW, 500)],
];

for (const [asking, ask] of askings) {
  for (const [addition, add] of additions) {
    test(`rule 8: a newer item that came by ${addition} stays the newest when the handler of the old one ${asking}`, async ({ runWorkers }) => {
      using time = new FakeTime();
      const queue = versionedQueue();
      const versions: number[] = [];
      const pool = runWorkers(queue, ({ version }) => {
        versions.push(version);
        if (versions.length > 1) return;
        add(queue);
        return ask();
      }, { onError() {} });
      queue.add(OLD);
      await pass(time, 1000, 5);
      assertEquals(new Set(versions.slice(1)), new Set([2]));
      await pool.stop();
      queue.shutDown();
    });
  }
}

test("rule 8: a newer item stays the newest when the old one goes back because its pool stops", async ({ runWorkers }) => {
  for (const waits of [true, false]) {
    const queue = versionedQueue();
    const controller = new AbortController();
    const interrupted = manual();
    const pool = runWorkers(queue, async () => {
      await interrupted.promise;
      throw new Error("interrupted");
    }, { signal: controller.signal });
    await flush();
    queue.add(OLD);
    if (waits) await flush();
    queue.add(NEW);
    controller.abort();
    interrupted.resolve();
    await pool.finished;
    assertEquals(queue.tryGet()?.item, NEW);
  }
});

Deno.test("rule 8: an item that is added by hand after its attempt is the newest, whatever came before", () => {
  const queue = versionedQueue();
  queue.add(OLD);
  queue.tryGet()?.[Symbol.dispose]();
  queue.add(NEW);
  queue.add(OLD);
  assertEquals(queue.tryGet()?.item, OLD);
});

test("rule 11: two pools of a queue count attempts together", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const fail = () => Promise.reject(new Error("no"));
  await using first = runWorkers(queue, fail, { maxRetries: 2, ...reports });
  queue.add("a");
  await flush();
  await first.stop();
  await using _second = runWorkers(queue, fail, { maxRetries: 2, ...reports });
  await pass(time, 1000);
  assertEquals(reports.givenUp, [["Error: no", "a", 3]]);
  assertEquals(reports.errors.length, 3);
  queue.shutDown();
});

test("rule 11: a TerminalError gives up at once", async ({ runWorkers }) => {
  using time = new FakeTime();
  class Gone extends TerminalError {}
  const queue = exponentialQueue();
  const reports = new Reports();
  await using _pool = runWorkers(queue, (item) => {
    if (item === "a") throw new TerminalError("404");
    return Promise.reject(new Gone("410"));
  }, reports);
  queue.add("a");
  queue.add("b");
  await pass(time, 5000);
  assertEquals(reports.givenUp, [["TerminalError: 404", "a", 1], ["TerminalError: 410", "b", 1]]);
  assertEquals([queue.delayed, queue.length, queue.numRequeues("a")], [0, 0, 0]);
  queue.shutDown();
});

test("rule 11: a TerminalError of another copy of the package gives up, too", async ({ runWorkers }) => {
  const path: string = "../../lib/base/errors.ts?another-copy";
  const copy: { TerminalError: typeof TerminalError } = await import(path);
  class Gone extends copy.TerminalError {}
  assertFalse(new Gone() instanceof TerminalError);
  const queue = exponentialQueue();
  const reports = new Reports();
  await using _pool = runWorkers(queue, (item) => {
    throw item === "a" ? new copy.TerminalError("404") : new Gone("410");
  }, reports);
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  assertEquals(reports.givenUp, [["TerminalError: 404", "a", 1], ["TerminalError: 410", "b", 1]]);
  assertEquals(queue.delayed, 0);
  queue.shutDown();
});

test("rule 11: a timeout aborts the handler's signal and costs a retry", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const attempts: number[] = [];
  await using _pool = runWorkers(queue, (_item, { signal, attempt }) => {
    attempts.push(attempt);
    return new Promise((resolve, reject) => {
      if (attempt === 2) resolve();
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }, { timeout: 100, ...reports });
  queue.add("a");
  await pass(time, 99, 99);
  assertEquals(reports.errors, []);
  await pass(time, 1);
  assertEquals(reports.errors, [["TimeoutError: The handler did not end within 100 ms", "a", 1]]);
  assertEquals(queue.numRequeues("a"), 1);
  await pass(time, 10);
  assertEquals([attempts, queue.numRequeues("a")], [[1, 2], 0]);
  await pass(time, 1000);
  assertEquals(reports.errors.length, 1, "an attempt that ended in time is left alone");
  queue.shutDown();
});

test("rule 9: timeouts use the pool's clock, which by default is the queue's clock", async ({ runWorkers }) => {
  for (const given of ["pool", "queue"] as const) {
    using time = new FakeTime();
    const clock = new HandClock();
    const queue: RateLimitingQueue<string> & { clock?: Clock | undefined } = exponentialQueue();
    if (given === "queue") queue.clock = clock; // as if the clock had been given at creation
    const reports = new Reports();
    let signal: AbortSignal | undefined;
    const pool = runWorkers(queue, (_item, context) => {
      signal = context.signal;
      return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve()));
    }, { timeout: "30s", maxRetries: 0, ...reports, clock: given === "pool" ? clock : undefined });
    queue.add("a");
    await flush();
    time.tick(60_000);
    await clock.advance(29_999);
    assertFalse(signal?.aborted);
    await clock.advance(1);
    assert(signal?.aborted);
    assertEquals(reports.errors, [["TimeoutError: The handler did not end within 30000 ms", "a", 1]]);
    assertEquals(clock.timers, 0);
    queue.add("b");
    await flush();
    assertEquals(clock.timers, 1);
    await clock.advance(30_000);
    await pool.stop();
    assertEquals(clock.timers, 0);
    queue.shutDown();
  }
});

test("rule 9: an attempt that ended leaves no timer, and a timer that still fires changes nothing", async ({ runWorkers }) => {
  const clock = new HandClock();
  const callbacks: (() => void)[] = [];
  const { setTimeout } = clock;
  clock.setTimeout = function (callback, ms) {
    callbacks.push(callback);
    return setTimeout.call(this, callback, ms);
  };
  const queue = exponentialQueue();
  const reports = new Reports();
  const pool = runWorkers(queue, (item) => {
    if (item === "bad") throw new TerminalError("no");
  }, { timeout: 10, clock, ...reports });
  for (const item of ["good", "bad"]) queue.add(item);
  await flush();
  assertEquals([clock.timers, callbacks.length], [0, 2]);
  for (const callback of callbacks) callback();
  assertEquals([reports.errors.length, pool.active], [1, 0]);
  await pool.stop();
});

test("without a timeout, a handler may run for any time", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const blocked = manual();
  const pool = runWorkers(queue, () => blocked.promise, reports);
  queue.add("a");
  await pass(time, 24 * 3600 * 1000, 3600 * 1000);
  assertEquals([pool.active, reports.errors], [1, []]);
  blocked.resolve();
  await pool.stop();
  queue.shutDown();
});

test("rules 2 and 11: an item whose handler ignores its signal is not handed out until the handler has ended", async ({ runWorkers }) => {
  for (const end of ["resolve", "reject"] as const) {
    using time = new FakeTime();
    const queue = exponentialQueue();
    const reports = new Reports();
    const abandoned = manual();
    const seen: string[] = [];
    const pool = runWorkers(queue, (item, { attempt }) => {
      seen.push(`${item} ${attempt}`);
      if (item === "slow" && attempt === 1) return abandoned.promise;
    }, { timeout: 100, ...reports });
    queue.add("slow");
    await pass(time, 100);
    queue.add("slow");
    queue.add("other");
    await pass(time, 5000);
    assertEquals(seen, ["slow 1", "other 1"], "the pool goes on with other items");
    assertEquals(pool.active, 1);
    assertEquals(reports.errors.length, 1);
    assertEquals(queue.length, 0);

    abandoned[end](end === "reject" ? new Error("too late") as never : undefined as never);
    await flush();
    assertEquals(seen, ["slow 1", "other 1", "slow 2"]);
    assertEquals(reports.errors.length, 1, "reported once, however it ended");
    assertEquals(pool.active, 0);
    await pool.stop();
    queue.shutDown();
  }
});

test("rule 11: a timed-out attempt counts for maxRetries", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  await using _pool = runWorkers(
    queue,
    (_item, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    {
      timeout: 50,
      maxRetries: 1,
      ...reports,
    },
  );
  queue.add("a");
  await pass(time, 500);
  assertEquals(reports.givenUp, [["TimeoutError: The handler did not end within 50 ms", "a", 2]]);
  assertEquals(reports.errors.length, 2);
  queue.shutDown();
});

test("rule 11: errors of onError and onGiveUp do not end the pool", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const errors: string[] = [];
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    throw new TerminalError("no");
  }, {
    onError(error) {
      errors.push(String(error));
      throw new Error("from onError");
    },
    onGiveUp() {
      throw new Error("from onGiveUp");
    },
  });
  queue.add("a");
  queue.add("b");
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(seen, ["a", "b"]);
  assertEquals(errors.slice(0, 2), ["TerminalError: no", "Error: from onGiveUp"]);
});

Deno.test("a limiter that throws gives up the item, with its error reported", async () => {
  const limiter: RateLimiter<string> = {
    when() {
      throw new Error("when is broken");
    },
    forget() {
      throw new Error("forget is broken");
    },
    numRequeues: () => 0,
  };
  const queue = createRateLimitingQueue(limiter);
  const reports = new Reports();
  const pool = runWorkers(queue, (item) => {
    if (item === "bad") throw new Error("no");
  }, reports);
  queue.add("bad");
  queue.add("good");
  await flush();
  await pool.stop();
  assertEquals(reports.givenUp, [["Error: when is broken", "bad", 1]]);
  assertEquals(reports.errors.map(([message, item]) => [message, item]), [
    ["Error: no", "bad"],
    ["Error: when is broken", "bad"],
    ["Error: forget is broken", "bad"],
    ["Error: forget is broken", "good"],
  ]);
});

test("rule 6: an item that fails once the queue is shutting down is given up, unless the drain waits", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  runWorkers(queue, (item): Outcome => {
    if (item === "fails") throw new Error("no");
    return item === "again" ? { requeue: true } : { requeueAfter: 10 };
  }, reports);
  for (const item of ["fails", "again", "later"]) queue.add(item);
  const drained = queue.shutDownWithDrain();
  await pass(time, 100);
  await drained;
  assertEquals(reports.givenUp, [["Error: no", "fails", 1]]);
  assertEquals([queue.numRequeues("fails"), queue.numRequeues("again")], [0, 0], "the limiter keeps nothing");
});

test("rule 6: a drain with wait retries failed items until they succeed or are given up", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const attempts: string[] = [];
  runWorkers(queue, (item, { attempt }): void | Outcome => {
    attempts.push(`${item} ${attempt}`);
    if (item === "fails") throw new Error("no");
    if (item === "later") return { requeueAfter: 10 };
    if (attempt < 3) return { requeue: true };
  }, { maxRetries: 1, onError: reports.onError, onGiveUp: reports.onGiveUp });
  for (const item of ["fails", "again", "later"]) queue.add(item);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  await pass(time, 100);
  await drained;
  assertEquals(attempts, ["fails 1", "again 1", "later 1", "fails 2"], "what asks for another time is done");
  assertEquals(reports.givenUp, [["Error: no", "fails", 2]]);
});

test("an item that arrives while a pool is being stopped stays in the queue", async ({ runWorkers }) => {
  for (const how of ["stop", "abort"] as const) {
    const queue = exponentialQueue();
    const controller = new AbortController();
    const seen: string[] = [];
    const pool = runWorkers(queue, (item) => void seen.push(item), { signal: controller.signal });
    await flush(); // the pool is now waiting for an item
    queue.add("a");
    if (how === "stop") pool.stop();
    else controller.abort();
    await pool.finished;
    assertEquals([seen, queue.length], [[], 1], how);
    queue.shutDown();
  }
});

test("an item that arrives while a pool is being stopped is processed if the queue shuts down, too", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const controller = new AbortController();
  const aborted: boolean[] = [];
  const pool = runWorkers(queue, (_item, { signal }) => void aborted.push(signal.aborted), {
    signal: controller.signal,
  });
  await flush();
  queue.add("a");
  controller.abort();
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(aborted, [true], "and its handler knows that it should be quick");
});

test("stop takes no more items and waits for running handlers", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const blocked = manual();
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    return blocked.promise;
  }, { concurrency: 2 });
  for (const item of ["a", "b", "c"]) queue.add(item);
  await flush();
  assertEquals([seen, pool.active], [["a", "b"], 2]);
  const stopped = pool.stop();
  queue.add("d");
  assertFalse(await isSettled(stopped));
  blocked.resolve();
  await stopped;
  await pool.finished;
  assertEquals([seen, pool.active, queue.length], [["a", "b"], 0, 2]);
  await pool.stop();
});

test("stop ends the wait for an item, and leaves the queue to others", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  {
    await using pool = runWorkers(queue, () => {}, { concurrency: 3 });
    assertFalse(await isSettled(pool.finished));
  }
  const seen: string[] = [];
  runWorkers(queue, (item) => void seen.push(item));
  queue.add("a");
  await queue.shutDownWithDrain();
  assertEquals(seen, ["a"]);
});

test("stop also waits for handlers that timed out", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const abandoned = manual();
  const pool = runWorkers(queue, () => abandoned.promise, { timeout: 10, onError() {} });
  queue.add("a");
  await pass(time, 50);
  const stopped = pool.stop();
  assertFalse(await isSettled(stopped));
  abandoned.resolve();
  await stopped;
  assertEquals(queue.delayed, 1);
  queue.shutDown();
});

test("an item added again while an abandoned handler was processing it is still worked on after shutdown", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const abandoned = manual();
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    return attempts.length === 1 ? abandoned.promise : undefined;
  }, { timeout: 10, onError() {} });
  queue.add("a");
  await pass(time, 50);
  queue.add("a");
  const drained = queue.shutDownWithDrain();
  await flush();
  abandoned.resolve();
  await drained;
  await pool.finished;
  assertEquals(attempts.length, 2);
});

test("aborting the pool's signal stops it and aborts the handlers; their items go back unchanged", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const reports = new Reports();
  const controller = new AbortController();
  const reason = new Error("shutting down");
  const contexts: HandlerContext[] = [];
  const pool = runWorkers(queue, (_item, context) => {
    contexts.push(context);
    return new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
  }, { signal: controller.signal, maxRetries: 0, ...reports });
  queue.add("a");
  queue.add("b");
  await flush();
  controller.abort(reason);
  await pool.finished;
  assertEquals(contexts.map(({ signal }) => signal.reason), [reason]);
  assertStrictEquals(contexts[0]!.signal, contexts[0]!.signal);
  assertEquals([reports.errors, reports.givenUp], [[], []]);
  assertEquals([queue.length, queue.numRequeues("a")], [2, 0]);

  const attempts: string[] = [];
  runWorkers(queue, (item, { attempt }) => void attempts.push(`${item} ${attempt}`));
  await queue.shutDownWithDrain();
  assertEquals(attempts, ["b 1", "a 1"], "nothing is lost, and the attempt was not counted");
});

test("a handler gets the name of the queue, and the key of its item", async ({ runWorkers }) => {
  const limiter = createExponentialLimiter<{ id: number }>({ baseDelay: 1, maxDelay: 1 });
  for (const name of ["images", undefined]) {
    const queue = createRateLimitingQueue<{ id: number }>(limiter, { ...(name && { name }), keyOf: ({ id }) => id });
    const given: unknown[] = [];
    const pool = runWorkers(queue, (_item, { queue, key }) => void given.push(queue, key));
    queue.add({ id: 7 });
    await queue.shutDownWithDrain();
    assertEquals(given, [name ?? "", 7]);
    await pool.finished;
  }
  const queue = exponentialQueue();
  const keys: unknown[] = [];
  runWorkers(queue, (_item, { key }) => void keys.push(key));
  queue.add("a");
  await queue.shutDownWithDrain();
  assertEquals(keys, ["a"]);
});

test("with a signal that has already aborted, nothing runs", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  queue.add("a");
  const pool = runWorkers(queue, () => assert(false, "must not run"), { signal: AbortSignal.abort() });
  await pool.finished;
  assertEquals(queue.length, 1);
});

test("a pool that has finished leaves no listener on its signal", async ({ runWorkers }) => {
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const queue = exponentialQueue();
  for (let i = 0; i < 3; i++) await runWorkers(queue, () => {}, { signal }).stop();
  assertEquals(listeners(), 0);
});

test("a handler's signal that is read after the handler has ended leaves no listener on the pool's", async ({ runWorkers }) => {
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const queue = exponentialQueue();
  const contexts: HandlerContext[] = [];
  const pool = runWorkers(queue, (_item, context) => void contexts.push(context), { signal });
  const before = listeners();
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  assertEquals(contexts.map(({ signal }) => signal.aborted), [false, false]);
  assertEquals(listeners(), before);
  await pool.stop();
});

test("a handler that read its signal leaves no listener on the pool's once it has ended", async ({ runWorkers }) => {
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const queue = exponentialQueue();
  const end = manual();
  const pool = runWorkers(queue, (_item, context) => {
    assertFalse(context.signal.aborted);
    return end.promise;
  }, { signal });
  const before = listeners();
  queue.add("a");
  await flush();
  assertEquals(listeners(), before + 1);
  end.resolve();
  await flush();
  assertEquals(listeners(), before);
  await pool.stop();
});

test("a handler's context has only the members that it may use", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  let seen: unknown[] = [];
  const pool = runWorkers(queue, function (this: unknown, _item, context) {
    const names = new Set<string>();
    for (let object: object = context; object !== Object.prototype; object = Object.getPrototypeOf(object)) {
      for (const name of Object.getOwnPropertyNames(object)) if (name !== "constructor") names.add(name);
    }
    seen = [this, [...names].sort()];
  });
  queue.add("a");
  await flush();
  const known = ["addedAgain", "attempt", "charge", "key", "priority", "queue", "signal", "token", "trace"];
  assertEquals(seen, [undefined, known]);
  await pool.stop();
});

test("a handler's signal has the first reason, whenever it is read", async ({ runWorkers }) => {
  using time = new FakeTime();
  for (const timeFirst of [true, false]) {
    const queue = exponentialQueue();
    const controller = new AbortController();
    const wait = manual();
    let late: AbortSignal | undefined;
    const pool = runWorkers(queue, async (_item, context) => {
      await wait.promise;
      late = context.signal;
    }, { timeout: 10, signal: controller.signal, onError() {} });
    queue.add("a");
    await flush();
    if (timeFirst) time.tick(10);
    controller.abort(new Error("shutting down"));
    if (!timeFirst) time.tick(10);
    wait.resolve();
    await pool.finished;
    assertEquals(late?.reason?.name, timeFirst ? "TimeoutError" : "Error");
    queue.shutDown();
  }
});

test("a handler's signal that is read after the timeout has already aborted", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const wait = manual();
  let late: AbortSignal | undefined;
  const pool = runWorkers(queue, async (_item, context) => {
    await wait.promise;
    late = context.signal;
  }, { timeout: 10, maxRetries: 0, onError() {} });
  queue.add("a");
  await pass(time, 20);
  wait.resolve();
  await flush();
  assert(late?.aborted);
  assertInstanceOf(late.reason, DOMException);
  await pool.stop();
  queue.shutDown();
});

test("a queue that cannot hand out an item makes finished reject", async ({ runWorkers }) => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    discipline: adaptDiscipline({
      push() {},
      pop: () => ({ key: "?", item: "?", priority: 0, readyAt: 0 }),
      touch() {},
      length: 1,
    }),
  });
  const pool = runWorkers(queue, () => {});
  await assertRejects(() => pool.finished, Error, "the discipline returned no ready item");
});

Deno.test("a third-party source whose take throws makes finished reject", async () => {
  const queue = exponentialQueue();
  insideOf(queue).take = () => {
    throw new Error("no connection");
  };
  await assertRejects(() => runWorkers(queue, () => {}).finished, Error, "no connection");
});

Deno.test("if an item can't go back to its queue when the pool is stopped, finished rejects", async () => {
  const queue = exponentialQueue();
  const pool = runWorkers(queue, () => assert(false, "must not run"));
  await flush();
  queue.add("a");
  insideOf(queue).handBack = () => {
    throw new Error("no connection");
  };
  await assertRejects(() => pool.stop(), Error, "no connection");
  assert(await isSettled(queue.shutDownWithDrain()), "the item is not processing");
});

test("handlers that never wait, on a queue that is never empty, let timers and I/O run", async ({ runWorkers }) => {
  for (const concurrency of [1, 3]) {
    const queue = exponentialQueue<number>();
    let hadTurn = false;
    setTimeout(() => hadTurn = true, 0);
    let calls = 0;
    const pool = runWorkers(queue, (item) => {
      if (++calls > 20_000_000) throw new TerminalError("the timer was starved");
      if (hadTurn) queue.shutDown();
      else queue.add(item);
    }, { concurrency });
    for (let item = 0; item < 10; item++) queue.add(item);
    await pool.finished;
    assert(hadTurn);
  }
});

Deno.test("invalid pool options are refused at once, and nothing is taken", () => {
  const queue = exponentialQueue();
  queue.add("a");
  const cases: [WorkerOptions<string>, string][] = [
    [{ concurrency: 0 }, "'concurrency' must be a positive integer, got 0"],
    [{ concurrency: 1.5 }, "'concurrency' must be a positive integer, got 1.5"],
    [{ concurrency: NaN }, "'concurrency' must be a positive integer, got NaN"],
    [{ maxRetries: -1 }, "'maxRetries' must be a non-negative integer or Infinity, got -1"],
    [{ maxRetries: 0.5 }, "'maxRetries' must be a non-negative integer or Infinity, got 0.5"],
    [{ maxAbandoned: -1 }, "'maxAbandoned' must be a non-negative integer or Infinity, got -1"],
    [{ maxAbandoned: 1.5 }, "'maxAbandoned' must be a non-negative integer or Infinity, got 1.5"],
    [
      { timeout: 0 },
      `'timeout' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms, got 0`,
    ],
    [
      { timeout: Infinity },
      `'timeout' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms, got Infinity`,
    ],
    [
      { timeout: NaN },
      `'timeout' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms, got NaN`,
    ],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => runWorkers(queue, () => {}, options), RangeError, `Cannot run workers: ${message}`);
  }
  assertThrows(() => runWorkers(queue, undefined as never), TypeError, "'handler' must be a function");
  // A queue without a source of work.
  const foreign = Object.assign(new ArrayQueue<string>(), { addRateLimited() {}, forget() {} });
  for (const none of [undefined, null, {}, "queue", foreign]) {
    assertThrows(
      () => runWorkers(none as never, () => {}),
      TypeError,
      "Cannot run workers: 'queue' must be a rate limiting queue, or have [SOURCE], got",
    );
  }
  assertThrows(
    () => runWorkers(queue, () => {}, { timeout: "5" as never }),
    TypeError,
    `'timeout' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms, got "5"`,
  );
  for (const callback of ["onError", "onGiveUp"]) {
    assertThrows(
      () => runWorkers(queue, () => {}, { [callback]: "log" } as never),
      TypeError,
      `Cannot run workers: '${callback}' must be a function, got "log"`,
    );
  }
  assertThrows(
    () => runWorkers(queue, () => {}, { signal: new AbortController() as never }),
    TypeError,
    "Cannot run workers: 'signal' must be an AbortSignal, got an object",
  );
  assertThrows(
    () => runWorkers(queue, () => {}, { clock: Date as never }),
    TypeError,
    "Cannot run workers: 'clock' must have timers, and a finite now(), got a function",
  );
  const unknown: [options: unknown, message: string][] = [
    [{ maxRetry: 3 }, `Cannot run workers: "maxRetry" is not an option here; did you mean "maxRetries"?`],
    [{ maxAbandonned: 3 }, `Cannot run workers: "maxAbandonned" is not an option here; did you mean "maxAbandoned"?`],
    [{ colour: "red" }, `Cannot run workers: "colour" is not an option here`],
    [null, "Cannot run workers: 'options' must be an object, got null"],
    [[], "Cannot run workers: 'options' must be an object, got an array"],
    [new AbortController().signal, "Cannot run workers: 'options' must be an object, got an object"],
  ];
  for (const [options, message] of unknown) {
    const { message: actual } = assertThrows(() => runWorkers(queue, () => {}, options as never), TypeError);
    assertEquals(actual, message);
  }
  assertEquals(queue.length, 1);
});

Deno.test("rule 10: undefined pool options count as omitted", async () => {
  const none = {
    concurrency: undefined,
    maxAbandoned: undefined,
    maxRetries: undefined,
    timeout: undefined,
    signal: undefined,
    clock: undefined,
    onError: undefined,
    onGiveUp: undefined,
    colour: undefined,
  };
  await runWorkers(exponentialQueue(), () => {}, none).stop();
});

Deno.test("pool options may be at their bounds", async () => {
  const cases: WorkerOptions<string>[] = [
    { concurrency: 1 },
    { concurrency: Number.MAX_SAFE_INTEGER },
    { maxRetries: 0 },
    { maxRetries: Infinity },
    { maxAbandoned: 0 },
    { maxAbandoned: Infinity },
    { timeout: 1 },
    { timeout: "1ms" },
    { timeout: "24h" },
    { timeout: 2 ** 31 - 1 },
  ];
  for (const options of cases) await runWorkers(exponentialQueue(), () => {}, options).stop();
});
