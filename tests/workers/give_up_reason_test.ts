/** Reasons for giving up an item, as reported to callbacks, queues, metrics and totals. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type GivenUpItem,
  type GiveUpReason,
  InMemoryMetrics,
  type RateLimiter,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { type HookedQueue, HOOKS, type QueueHooks } from "@workqueue/core/hooks";
import { totalsOf } from "@workqueue/core/metrics";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** Creates a queue that has the hook `givenUp`, which is called for each given-up item. */
function hookedQueue(
  givenUp: QueueHooks<string>["givenUp"],
  limiter: RateLimiter<string> = createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }),
): { clock: HandClock; metrics: InMemoryMetrics; queue: RateLimitingQueue<string> } {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createRateLimitingQueue(limiter, { name: "q", clock, metrics });
  const hooks = Object.create((queue as HookedQueue<string>)[HOOKS]!, { givenUp: { value: givenUp } });
  const hooked = new Proxy({} as typeof queue, {
    get(_target, name) {
      if (name === HOOKS) return hooks;
      const value = Reflect.get(queue, name);
      return typeof value === "function" ? value.bind(queue) : value;
    },
  });
  return { clock, metrics, queue: hooked };
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
    const note = ({ item, key, attempts, error, reason }: GivenUpItem<string>) =>
      log.push(["queue", item, key, attempts, (error as Error).message, reason]);
    const { clock, metrics, queue } = hookedQueue(note, limiter);
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
    assertEquals(log, ["queue", "pool"].map((who) => [who, "a", "a", attempts, message, reason]));
    const counted = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0, [reason]: 1 };
    for (const [reason, count] of Object.entries(counted)) {
      assertEquals(metrics.value("workqueue_given_up_total", "q", reason), count, reason);
    }
    assertEquals(metrics.value("workqueue_given_up_total", "q"), 1);
    assertEquals([totalsOf(pool).givenUp, totalsOf(pool).givenUpFor], [1, counted]);
    await pool.stop();
  });
}

Deno.test("rule 11: what a queue throws when it gets a given-up item costs nothing", async () => {
  const { queue } = hookedQueue(() => {
    throw new Error("from the hook");
  });
  const log: string[] = [];
  const pool = runWorkers(queue, () => {
    throw new TerminalError("no use");
  }, {
    onError: (error) => log.push((error as Error).message),
    onGiveUp: (_error, _item, _attempts, reason) => log.push(reason),
  });
  queue.add("a");
  await flush();
  assertEquals(log, ["no use", "from the hook", "terminal"]);
  assertEquals([queue.processing, queue.numRequeues("a")], [0, 0]);
  await pool.stop();
});

Deno.test("the reason is a label of given_up_total, and of no other metric", async () => {
  const { metrics, queue } = hookedQueue(undefined);
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
