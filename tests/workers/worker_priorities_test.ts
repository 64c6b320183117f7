/** Priorities of items in pools, and the lease information in a handler's context. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Lease,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
  type Shutdown,
} from "@workqueue/core";
import { OPTIONS } from "@workqueue/core/hooks";
import { type Engine, inMemory, test } from "./engines.ts";
import { HandLimitedQueue } from "../third_party_queues.ts";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });

function newQueue(clock: HandClock): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(limiter(), { clock });
}

/** Adds an item with priority 5, whose first attempt calls `end`. Returns the priorities of all its attempts. */
async function prioritiesOf({ runWorkers }: Engine, end: () => unknown): Promise<number[]> {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: number[] = [];
  const pool = runWorkers(queue, (_item, { priority }) => {
    seen.push(priority);
    if (seen.length === 1) return end() as Outcome;
  }, { onError() {} });
  queue.add("a", { priority: 5 });
  await flush();
  await clock.advance(100);
  await pool.stop();
  return seen;
}

Deno.test("rule 12: retries, requeue and requeueAfter keep the priority unless the outcome says another", async () => {
  const fail = () => {
    throw new Error("no");
  };
  assertEquals(await prioritiesOf(inMemory, fail), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true })), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeueAfter: 20 })), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true, priority: undefined })), [5, 5]);
  for (const priority of [7, -3, 0]) {
    assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true, priority })), [5, priority]);
    assertEquals(await prioritiesOf(inMemory, () => ({ requeueAfter: 20, priority })), [5, priority]);
  }
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: false, priority: 7 })), [5]);
  assertEquals(
    await prioritiesOf(inMemory, () => ({ priority: 7 })),
    [5],
    "that is no outcome, but what the handler found out",
  );
});

test("rule 11: a priority that makes no sense, or is misspelt, fails the attempt", async ({ runWorkers }) => {
  const cases: [outcome: unknown, message: string][] = [
    [{ requeue: true, priority: "high" }, `Cannot add item: 'priority' must be a finite number, got "high"`],
    [{ requeueAfter: 5, priority: NaN }, `Cannot add item: 'priority' must be a finite number, got NaN`],
    [{ requeueAfter: 5, prio: 3 }, `Cannot requeue item: "prio" is not an outcome`],
    [{ requeueAfter: 0, prio: 3 }, `Cannot requeue item: "prio" is not an outcome`],
    [{ requeue: true, priorty: 3 }, `Cannot requeue item: "priorty" is not an outcome; did you mean "priority"?`],
    [{ requeue: false, priorty: 3 }, ""],
    [{ requeueAfter: 5, progress: 3, product: 7 }, ""],
  ];
  for (const [outcome, message] of cases) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const errors: unknown[] = [];
    const pool = runWorkers(queue, (_item, { attempt }) => attempt === 1 ? outcome as Outcome : undefined, {
      onError: (error) => void errors.push((error as Error).message),
    });
    queue.add("a");
    await flush();
    assertEquals(errors, message === "" ? [] : [message]);
    await pool.stop();
    queue.shutDown();
  }
});

test("rule 12: an item that goes back keeps its priority: interrupted, paused or stopped as it came, and in a drain", async ({ runWorkers }) => {
  for (const way of ["abort", "pause", "stop", "abort while draining"]) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const controller = new AbortController();
    const pool = runWorkers(queue, (_item, { signal }) => {
      return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }, { signal: controller.signal });
    await flush();
    queue.add("a", { priority: 5 });
    if (way.startsWith("abort")) {
      await flush();
      if (way !== "abort") queue.shutDownWithDrain({ delayed: "wait" });
      controller.abort();
    } else if (way === "pause") pool.pause();
    else pool.stop();
    await flush();
    assertEquals(queue.tryGet()?.priority, 5, way);
    pool.stop();
    queue.shutDown();
  }
});

Deno.test("a handler knows when its item was added again, as of now", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: boolean[] = [];
  const pool = runWorkers(queue, async (_item, context) => {
    const { addedAgain } = context; // `addedAgain` also works when it is destructured
    seen.push(context.addedAgain(), addedAgain());
    if (seen.length === 2) queue.add("a");
    await flush();
    seen.push(context.addedAgain(), addedAgain());
  });
  queue.add("a");
  await flush();
  await flush();
  await flush();
  assertEquals(seen, [false, false, true, true, false, false, false, false]);
  await pool.stop();
});

/** Creates a third-party queue with its own leases and options. */
function foreignQueue(lease: object, options: object): { calls: unknown[][]; queue: RateLimitingQueue<string> } {
  const inner = new HandLimitedQueue<string>(limiter());
  const calls: unknown[][] = [];
  const wrap = <L extends Lease<string> | Shutdown | undefined>(got: L): L =>
    got === undefined || got.shutdown ? got : Object.assign(Object.create(got), { ...lease, item: got.item });
  const queue = Object.assign(Object.create(inner), {
    tryGet: () => wrap(inner.tryGet()),
    get: async (options: object) => wrap(await inner.get(options)),
    addAfter: (...args: unknown[]) => void calls.push(["addAfter", ...args.filter((arg) => arg !== undefined)]),
    addRateLimited: (...args: unknown[]) =>
      void calls.push(["addRateLimited", ...args.filter((arg) => arg !== undefined)]),
    ...options,
  });
  for (const name of ["length", "delayed", "shuttingDown"] as const) {
    Object.defineProperty(queue, name, { get: () => inner[name] });
  }
  for (const name of ["add", "done", "forget", "shutDown"] as const) queue[name] = inner[name].bind(inner);
  return { calls, queue };
}

Deno.test("third-party leases may lack priority and addedAgain, and may have a token", async () => {
  for (
    const [lease, expected] of [[{}, [0, false, undefined]], [{ token: 7n, addedAgain: () => true }, [
      0,
      true,
      7n,
    ]]] as const
  ) {
    const { queue } = foreignQueue(lease, {});
    const seen: unknown[] = [];
    const pool = runWorkers(
      queue,
      (_item, { priority, addedAgain, token }) => void seen.push(priority, addedAgain(), token),
    );
    queue.add("a");
    await flush();
    assertEquals(seen, [...expected]);
    await pool.stop();
  }
});

Deno.test("rule 12: a queue that takes no options is given none, and an outcome with a priority fails there", async () => {
  const errors: unknown[] = [];
  const { calls, queue } = foreignQueue({ priority: 5 }, {});
  const outcomes: unknown[] = [{ requeue: true }, { requeueAfter: 5 }, { requeue: true, priority: 0 }, {
    requeue: true,
    priority: 3,
  }];
  const pool = runWorkers(queue, (item) => outcomes[Number(item)] as Outcome, {
    onError: (error, item) => void errors.push([item, (error as Error).message.slice(0, 59)]),
  });
  for (const i of outcomes.keys()) queue.add(String(i));
  await flush();
  assertEquals(calls, [["addRateLimited", "0"], ["addAfter", "1", 5], ["addRateLimited", "2"], [
    "addRateLimited",
    "3",
  ]]);
  assertEquals(errors, [["3", "Cannot add item: the queue below does not accept a priority"]]);
  await pool.stop();
});

test("rule 12: a queue that says it takes options is given priorities where they are not 0", async ({ runWorkers }) => {
  const { calls, queue } = foreignQueue({ priority: 5 }, { [OPTIONS]: true });
  const outcomes: unknown[] = [{ requeue: true }, { requeueAfter: 5, priority: 0 }, { requeue: true, priority: 3 }];
  const pool = runWorkers(queue, (item) => outcomes[Number(item)] as Outcome);
  for (const i of outcomes.keys()) queue.add(String(i));
  await flush();
  assertEquals(calls, [
    ["addRateLimited", "0", { priority: 5 }],
    ["addAfter", "1", 5],
    ["addRateLimited", "2", { priority: 3 }],
  ]);
  await pool.stop();
});
