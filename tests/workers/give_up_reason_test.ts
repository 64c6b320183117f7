/** Reasons for giving up an item, as reported to callbacks, queues, metrics and totals. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createGivenUpStore,
  createRateLimitingQueue,
  type GiveUpReason,
  InMemoryMetrics,
  type RateLimiter,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** Creates a queue that keeps given-up items. */
function keepingQueue(
  limiter: RateLimiter<string> = createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }),
): { clock: HandClock; metrics: InMemoryMetrics; queue: RateLimitingQueue<string> } {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createRateLimitingQueue(limiter, {
    name: "q",
    clock,
    metrics,
    keepGivenUp: createGivenUpStore({ max: 10 }),
  });
  return { clock, metrics, queue };
}

interface Case {
  readonly reason: GiveUpReason;
  readonly attempts?: number;
  readonly limiter?: RateLimiter<string>;
  fail(queue: RateLimitingQueue<string>, attempt: number): void;
}

const BROKEN: RateLimiter<string> = {
  when() {
    throw new Error("broken");
  },
  forget() {},
  numRequeues: () => 0,
};

const CASES: Case[] = [
  { reason: "maxRetries", attempts: 3, fail() {} },
  {
    reason: "terminal",
    fail() {
      throw new TerminalError("no use");
    },
  },
  {
    reason: "terminal",
    attempts: 3,
    fail(_queue, attempt) {
      if (attempt === 3) throw new TerminalError("no use, and the last attempt anyway");
    },
  },
  { reason: "shutdown", fail: (queue) => queue.shutDown() },
  {
    reason: "terminal",
    fail(queue) {
      queue.shutDown();
      throw new TerminalError("no use");
    },
  },
  {
    reason: "maxRetries",
    attempts: 3,
    fail(queue, attempt) {
      if (attempt === 3) queue.shutDown();
    },
  },
  { reason: "limiter", limiter: BROKEN, fail() {} },
];

for (const [i, { reason, attempts = 1, limiter, fail }] of CASES.entries()) {
  Deno.test(`given up, case ${i + 1}: onGiveUp, the queue, the metric and the totals get "${reason}"`, async () => {
    const log: unknown[] = [];
    const { clock, metrics, queue } = keepingQueue(limiter);
    const last = { broken: "broken", no: "no" };
    let message = last.no;
    const pool = runWorkers(queue, (_item, { attempt }) => {
      try {
        fail(queue, attempt);
      } catch (error) {
        message = (error as Error).message;
        throw error;
      }
      if (limiter !== undefined) message = last.broken;
      throw new Error("no");
    }, {
      maxRetries: 2,
      onError() {},
      onGiveUp: (error, item, attempts, reason) =>
        log.push(["pool", item, "a", attempts, (error as Error).message, reason]),
    });
    queue.add("a");
    await flush();
    await clock.advance(1000);
    assertEquals(log, [["pool", "a", "a", attempts, message, reason]]);
    const kept = (await queue.givenUp()).items.map(({ item, key, attempts, error, reason }) => {
      return [item, key, attempts, error.slice(error.indexOf(": ") + 2), reason];
    });
    assertEquals(kept, [["a", "a", attempts, message, reason]]);
    const counted = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0, [reason]: 1 };
    for (const [reason, count] of Object.entries(counted)) {
      assertEquals(metrics.value("workqueue_given_up_total", "q", reason), count, reason);
    }
    assertEquals(metrics.value("workqueue_given_up_total", "q"), 1);
    assertEquals([totalsOf(pool).givenUp, totalsOf(pool).givenUpFor], [1, counted]);
    await pool.stop();
  });
}

Deno.test("rule 11: if a queue fails to keep a given-up item, nothing else is affected", async () => {
  const clock = new HandClock();
  let isBroken = false;
  const now = () => {
    if (isBroken) throw new Error("from the queue");
    return clock.now();
  };
  const broken = { now, setTimeout: clock.setTimeout.bind(clock), clearTimeout: clock.clearTimeout.bind(clock) };
  const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });
  const queue = createRateLimitingQueue<string>(limiter, {
    clock: broken,
    keepGivenUp: createGivenUpStore({ max: 10 }),
  });
  const log: string[] = [];
  const pool = runWorkers(queue, () => {
    isBroken = true;
    throw new TerminalError("no use");
  }, {
    clock,
    onError: (error) => log.push((error as Error).message),
    onGiveUp: (_error, _item, _attempts, reason) => log.push(reason),
  });
  queue.add("a");
  await flush();
  isBroken = false; // numRequeues reads the clock
  assertEquals(log, ["no use", "from the queue", "terminal"]);
  assertEquals([queue.processing, queue.numRequeues("a")], [0, 0]);
  await pool.stop();
});

Deno.test("the reason is a label of given_up_total, and of no other metric", async () => {
  const { metrics, queue } = keepingQueue();
  const pool = runWorkers(queue, () => {
    throw new TerminalError("no use");
  }, { onError() {} });
  queue.add("a");
  await flush();
  await pool.stop();
  const labelled = metrics.toPrometheus().split("\n").filter((line) => line.includes("reason="));
  assertEquals(
    labelled,
    ["maxRetries", "terminal", "shutdown", "stalled", "limiter"].map((reason) =>
      `workqueue_given_up_total{name="q",reason="${reason}"} ${reason === "terminal" ? 1 : 0}`
    ),
  );
});
