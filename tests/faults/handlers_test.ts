/**
 * Tests of harmful handlers and callbacks, beyond the cases in `workers_test.ts`. The pool continues, and no timers,
 * listeners or items are left behind.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
  type WorkerOptions,
} from "@workqueue/core";
import { test } from "../workers/engines.ts";
import { runInNewContext } from "node:vm";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

function exponentialQueue(): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }));
}

/** Recorder of the pool's reports, in order. */
class Reports implements Pick<WorkerOptions<string>, "onError" | "onGiveUp"> {
  readonly #lines: string[] = [];

  onError = (_error: unknown, item: string, attempt: number): void => {
    this.#lines.push(`${item} failed ${attempt}`);
  };
  onGiveUp = (_error: unknown, item: string, attempts: number): void => {
    this.#lines.push(`${item} given up after ${attempts}`);
  };

  get lines(): string[] {
    return this.#lines;
  }
}

async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    await flush();
    time.tick(1);
  }
  await flush();
}

/** Thrown values that are hard to inspect or print. */
const hostileErrors: [name: string, error: unknown][] = [
  ["NaN", NaN],
  ["a symbol", Symbol("error")],
  ["a function", () => {}],
  ["an object without a prototype", Object.create(null)],
  ["an object whose toString throws", {
    toString() {
      throw new Error("toString");
    },
  }],
  [
    "a proxy that throws whatever is asked",
    new Proxy({}, {
      get() {
        throw new Error("get");
      },
      getPrototypeOf() {
        throw new Error("getPrototypeOf");
      },
    }),
  ],
];

for (const [name, error] of hostileErrors) {
  for (const way of ["throws", "rejects with"] as const) {
    test(`rule 11: a handler that ${way} ${name} costs its item a retry and nothing else`, async ({ runWorkers }) => {
      using time = new FakeTime();
      const queue = exponentialQueue();
      const reports = new Reports();
      const seen: string[] = [];
      const pool = runWorkers(queue, (item, { attempt }) => {
        seen.push(`${item} ${attempt}`);
        if (item === "good" || attempt === 2) return;
        if (way === "throws") throw error;
        return Promise.reject(error);
      }, reports);
      for (const item of ["bad", "good"]) queue.add(item);
      await pass(time, 10);
      assertEquals(seen, ["bad 1", "good 1", "bad 2"]);
      assertEquals(reports.lines, ["bad failed 1"]);
      await queue.shutDownWithDrain();
      await pool.finished;
    });
  }
}

test("rule 11: a handler that never settles blocks only its item: other items are processed, also in its place", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const reports = new Reports();
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    if (item.startsWith("stuck")) return new Promise<void>(() => {});
  }, { timeout: 5, maxAbandoned: 2, ...reports });
  for (const item of ["stuck 1", "a", "stuck 2", "b"]) queue.add(item);
  await pass(time, 20);
  assertEquals(seen, ["stuck 1", "a", "stuck 2", "b"]);
  assertEquals(reports.lines, ["stuck 1 failed 1", "stuck 2 failed 1"]);
  for (const item of ["stuck 1", "a"]) queue.add(item);
  await pass(time, 1000);
  assertEquals([seen.slice(4), pool.active], [["a"], 2]);
  assertEquals(reports.lines.length, 2, "reported once");

  const drained = queue.shutDownWithDrain();
  assertFalse(await isSettled(drained));
  queue.shutDown();
  assert(await isSettled(drained), "a shutdown ends the wait for it");
});

test("rule 11: without a timeout, a handler that never settles keeps its slot, and other handlers continue", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    if (item === "stuck") return new Promise<void>(() => {});
  }, { concurrency: 2 });
  for (const item of ["stuck", "a", "b", "stuck", "c"]) queue.add(item);
  await flush();
  assertEquals([seen, pool.active, queue.length], [["stuck", "a", "b", "c"], 1, 0]);
  queue.shutDown();
  assertFalse(await isSettled(pool.finished));
});

test("rule 11: callbacks that throw after a timeout end neither the pool nor the process", async ({ runWorkers }) => {
  using time = new FakeTime();
  const queue = exponentialQueue();
  const seen: string[] = [];
  const calls: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    if (item === "slow") return new Promise((resolve) => setTimeout(resolve, 20));
  }, {
    timeout: 5,
    maxRetries: 0,
    onError(_error, item) {
      calls.push(`error of ${item}`);
      throw new Error("from onError");
    },
    onGiveUp(_error, item) {
      calls.push(`gave up ${item}`);
      throw new Error("from onGiveUp");
    },
  });
  for (const item of ["slow", "quick"]) queue.add(item);
  await pass(time, 25);
  assertEquals(seen, ["slow", "quick"]);
  assertEquals(calls, ["error of slow", "gave up slow", "error of slow"]);
  await queue.shutDownWithDrain();
  await pool.finished;
});

test("rule 11: callbacks that are asynchronous and reject leave no promise unhandled", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const seen: string[] = [];
  const reject = (): void => Promise.reject(new Error("later")) as unknown as void;
  // A promise from another realm is not an `instanceof Promise`.
  const rejectElsewhere = (): void => runInNewContext("Promise.reject(new Error('later'))");
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    throw new TerminalError("no");
  }, { onError: rejectElsewhere, onGiveUp: reject });
  for (const item of ["a", "b"]) queue.add(item);
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(seen, ["a", "b"]);
});

test("rule 11: a handler's return value may throw on any access", async ({ runWorkers }) => {
  using time = new FakeTime();
  const outcomes: unknown[] = [
    Object.defineProperty({}, "requeueAfter", {
      enumerable: true,
      get() {
        throw new Error("get");
      },
    }),
    {
      then() {
        throw new Error("then");
      },
    },
    { requeueAfter: "soon" },
    { requeueAfter: Infinity },
  ];
  for (const outcome of outcomes) {
    const queue = exponentialQueue();
    const reports = new Reports();
    const pool = runWorkers(queue, (_item, { attempt }) => {
      if (attempt === 1) return outcome as Outcome;
    }, reports);
    queue.add("a");
    await pass(time, 10);
    assertEquals([reports.lines, queue.numRequeues("a")], [["a failed 1"], 0]);
    await queue.shutDownWithDrain();
    await pool.finished;
  }
});

test("only the outcome fields of a handler's return value are read", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const reports = new Reports();
  const large = new Proxy({}, {
    ownKeys() {
      throw new Error("a large thing must not be copied");
    },
  });
  const pool = runWorkers(queue, () => large as Outcome, reports);
  queue.add("a");
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(reports.lines, []);
});

test("a return value without outcome fields means success", async ({ runWorkers }) => {
  const response = { data: "", status: 200, statusText: "OK", headers: {}, config: {}, request: {} };
  const others = [response, { request: 1 }, { requester: "bob" }, { requeueAfter: undefined }, { queue: 1 }, {
    requeuedAfterLunch: true,
    a: 1,
    b: 2,
    c: 3,
    d: 4,
  }];
  for (
    const outcome of [null, 0, "done", true, [], {}, { requeue: false }, Symbol(), () => {}, new Date(0), ...others]
  ) {
    const queue = exponentialQueue();
    const reports = new Reports();
    const pool = runWorkers(queue, () => outcome as unknown as Outcome, reports);
    queue.add("a");
    await queue.shutDownWithDrain();
    await pool.finished;
    assertEquals([reports.lines, queue.delayed, queue.numRequeues("a")], [[], 0, 0]);
  }
});

test("rule 1: items that a handler adds are processed; its own item is processed once more afterwards", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const seen: string[] = [];
  const pool = runWorkers(queue, async (item) => {
    seen.push(item);
    if (seen.length > 1) return;
    for (const added of [item, "b", item]) queue.add(added);
    assertEquals(queue.length, 1, "its own is not ready while it is processing");
    await flush();
  });
  queue.add("a");
  await flush();
  await flush();
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(seen, ["a", "b", "a"]);
});

test("rule 4: a handler that calls done itself gives its item back early, and nothing twice", async ({ runWorkers }) => {
  const queue = exponentialQueue();
  const seen: string[] = [];
  const pool = runWorkers(queue, (item) => {
    seen.push(item);
    queue.done(item);
    if (seen.length === 1) queue.add(item);
  });
  queue.add("a");
  await flush();
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(seen, ["a", "a"]);
});

Deno.test("an item that onError or onGiveUp adds is processed; after giving up, it starts afresh", async () => {
  const queue = exponentialQueue();
  const attempts: string[] = [];
  let calls = 0;
  const again = (_error: unknown, item: string) => {
    if (++calls <= 2) queue.add(item);
  };
  const pool = runWorkers(queue, (item, { attempt }) => {
    attempts.push(`${item} ${attempt}`);
    if (attempts.length === 1) throw new TerminalError("no");
  }, { onError: again, onGiveUp: again });
  queue.add("a");
  await flush();
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals(attempts, ["a 1", "a 1"]);
});

test("a handler may shut the queue down or stop the pool, and throw after that", async ({ runWorkers }) => {
  for (const end of ["shutDown", "shutDownWithDrain", "stop"] as const) {
    const queue = exponentialQueue();
    const reports = new Reports();
    const seen: string[] = [];
    const pool = runWorkers(queue, (item) => {
      seen.push(item);
      if (item !== "a") return;
      if (end === "stop") pool.stop();
      else queue[end]();
      throw new Error("no");
    }, reports);
    for (const item of ["a", "b"]) queue.add(item);
    await pool.finished;
    const lines = end === "stop" ? ["a failed 1"] : ["a failed 1", "a given up after 1"];
    assertEquals([seen, reports.lines], [end === "stop" ? ["a"] : ["a", "b"], lines]);
    queue.shutDown();
  }
});

test("an error that throws on any access, such as a revoked proxy, is an ordinary failure", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), { clock });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const reports = new Reports();
  const pool = runWorkers(queue, () => {
    throw proxy;
  }, { maxRetries: 2, onError: reports.onError, onGiveUp: reports.onGiveUp });
  queue.add("a");
  for (let i = 0; i < 5; i++) {
    await flush();
    assertEquals(pool.snapshot().failingItems.map(({ error }) => error), i < 2 ? ["an object"] : []);
    await clock.advance(10);
  }
  assertEquals(reports.lines, ["a failed 1", "a failed 2", "a failed 3", "a given up after 3"]);
  queue.shutDown();
});

test("fake timers that also replace queueMicrotask stop no pool", async ({ runWorkers }) => {
  const { queueMicrotask } = globalThis;
  globalThis.queueMicrotask = () => {};
  try {
    const queue = exponentialQueue();
    const seen: string[] = [];
    runWorkers(queue, (item) => void seen.push(item));
    queue.add("a");
    await flush();
    assertEquals(seen, ["a"]);
    queue.shutDown();
  } finally {
    globalThis.queueMicrotask = queueMicrotask;
  }
});
