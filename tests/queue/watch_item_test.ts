/** `watchItem` of queues in memory: its events, their order, and what it leaves alone. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { type ItemEvent, watchItem } from "@workqueue/core/watch";
import { HandClock } from "../helpers.ts";
import { flush, take } from "../queue_helpers.ts";

function queueWith(
  options: RateLimitingQueueOptions<string> = {},
): { queue: RateLimitingQueue<string, number>; clock: HandClock } {
  const clock = new HandClock();
  const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });
  return { queue: createRateLimitingQueue<string, number>(limiter, { clock, ...options }), clock };
}

/** Watches an item. Returns the list of events so far, with errors as their messages or codes. */
function eventsOf<R>(queue: RateLimitingQueue<string, R>, item: string): { list: unknown[][]; end: () => void } {
  const list: unknown[][] = [];
  const end = watchItem(queue, item, (event) => {
    const { state, ...rest } = event;
    const error = "error" in event ? event.error as Error & { code?: string } : undefined;
    list.push([state, ...Object.values({ ...rest, ...error && { error: error.code ?? error.message } })]);
  });
  return { list, end };
}

Deno.test("a watch tells of each state of an item in order, with its attempts, errors, delays and result", async () => {
  const { queue, clock } = queueWith();
  const { list } = eventsOf(queue, "a");
  runWorkers(queue, (_item, { attempt }) => {
    if (attempt < 3) throw new Error(`failure ${attempt}`);
    return 42;
  }, { clock, onError() {} });
  queue.add("b");
  queue.add("a");
  await flush();
  clock.advance(10);
  await flush();
  clock.advance(20);
  await flush();
  assertEquals(list, [
    ["ready"],
    ["started", 1],
    ["failed", 1, "failure 1", 10],
    ["ready"],
    ["started", 2],
    ["failed", 2, "failure 2", 20],
    ["ready"],
    ["started", 3],
    ["done", 3, 42],
  ]);
});

Deno.test("a watch tells of an item that is given up, and of one that is added again during its attempt", async () => {
  const { queue, clock } = queueWith();
  const { list } = eventsOf(queue, "a");
  let end: () => void = () => {};
  runWorkers(queue, async (_item, { attempt }) => {
    await new Promise<void>((resolve) => end = resolve);
    if (list.length > 3) throw new TerminalError("bad");
    return attempt;
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  queue.add("a");
  end();
  await flush();
  end();
  await flush();
  assertEquals(list, [
    ["ready"],
    ["started", 1],
    ["done", 1, 1],
    ["ready"],
    ["started", 1],
    ["givenUp", 1, "bad", "terminal"],
  ]);
});

Deno.test("a watch tells that an item that failed and was added again meanwhile is ready at once", async () => {
  const { queue, clock } = queueWith();
  const { list } = eventsOf(queue, "a");
  const pool = runWorkers(queue, (item) => {
    queue.add(item);
    pool.pause();
    throw new Error("failed");
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  assertEquals(list, [["ready"], ["started", 1], ["failed", 1, "failed", 0], ["ready"]]);
});

Deno.test("a watch tells of outcomes that a handler asks for", async () => {
  const { queue, clock } = queueWith();
  const { list } = eventsOf(queue, "a");
  runWorkers(queue, (_item, { attempt }) => attempt === 1 ? { requeue: true } : { requeueAfter: "5s" }, { clock });
  queue.add("a");
  await flush();
  clock.advance(10);
  await flush();
  clock.advance(5000);
  await flush();
  const first = [["ready"], ["started", 1], ["requeued", 1, 10], ["ready"], ["started", 2], ["done", 2, undefined]];
  assertEquals(list.slice(0, 8), [...first, ["ready"], ["started", 1]]);
});

Deno.test("a watch tells of items that a consumer takes by hand", async () => {
  const { queue } = queueWith({ discipline: createFairDiscipline({ separator: "/" }) });
  const { list } = eventsOf(queue, "a");
  queue.add("a");
  const lease = take(queue);
  queue.addRateLimited("a");
  lease[Symbol.dispose]();
  await flush();
  queue.add("a");
  take(queue)[Symbol.dispose]();
  await flush();
  assertEquals(list, [
    ["ready"],
    ["started", 1],
    ["requeued", 1, 10],
    ["ready"],
    ["started", 2],
    ["done", 2, undefined],
  ]);
});

Deno.test("a watch tells of a cancel of a ready, a delayed and a running item once", async () => {
  const { queue, clock } = queueWith();
  const { list } = eventsOf(queue, "a");
  queue.add("a");
  queue.cancel("a");
  queue.addAfter("a", "1h");
  queue.cancelDelayed("a");
  runWorkers(queue, (_item, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { clock });
  queue.add("a");
  await flush();
  queue.cancel("a");
  await flush();
  const cancelled = ["cancelled", "WQ_CANCELLED"];
  assertEquals(list, [["ready"], cancelled, cancelled, ["ready"], ["started", 1], cancelled]);
});

Deno.test("a watch tells of a cancel once, although the consumer that has the item ends the work later", async () => {
  const { queue } = queueWith();
  const { list } = eventsOf(queue, "a");
  queue.add("a");
  const lease = take(queue);
  queue.cancel("a");
  lease[Symbol.dispose]();
  await flush();
  assertEquals(list, [["ready"], ["started", 1], ["cancelled", "WQ_CANCELLED"]]);
});

Deno.test("a watch tells of a shutdown that drops the item, unless the item was done before", async () => {
  const { queue } = queueWith();
  const dropped = eventsOf(queue, "a");
  const done = eventsOf(queue, "b");
  queue.add("b");
  take(queue)[Symbol.dispose]();
  queue.addAfter("a", "1h");
  queue.shutDown();
  await flush();
  assertEquals(dropped.list, [["cancelled", "WQ_SHUT_DOWN"]]);
  assertEquals(done.list.map(([state]) => state), ["ready", "started", "done"]);
});

Deno.test("rule 11: a callback may change the queue, and one that throws affects nothing", async () => {
  const { queue } = queueWith();
  const states: string[] = [];
  const write = console.error;
  const errors: unknown[] = [];
  console.error = (line) => errors.push(line);
  try {
    watchItem(queue, "a", () => {
      throw new Error("from the callback");
    });
    watchItem(queue, "a", ({ state }) => {
      states.push(state);
      if (state === "ready" && states.length === 1) queue.cancel("a");
    });
    queue.add("a");
    assertEquals(queue.length, 1);
    await flush();
  } finally {
    console.error = write;
  }
  assertEquals([states, queue.length], [["ready", "cancelled"], 0]);
  assertEquals(errors, ['The callback of watchItem for "a" threw: Error: from the callback']);
});

Deno.test("a watch that has ended is told of nothing more, and others and waiting calls go on", async () => {
  const { queue } = queueWith();
  const first = eventsOf(queue, "a");
  const result = queue.addAndWait("a");
  const second = eventsOf(queue, "a");
  first.end();
  await flush();
  assertEquals(first.list, []);
  runWorkers(queue, () => 7);
  assertEquals(await result, 7);
  assertEquals(second.list, [["started", 1], ["done", 1, 7]]);
  second.end();
  second.end();
  const third = eventsOf(queue, "a");
  assertEquals(await queue.addAndWait("a"), 7);
  assertEquals(third.list, [["ready"], ["started", 1], ["done", 1, 7]]);
});

Deno.test("a watch is for queues with a limiter, and for functions", () => {
  const { queue } = queueWith();
  assertThrows(() => watchItem(queue, "a", "b" as never), TypeError, "'callback' must be a function");
  const delaying = createDelayingQueue<string>();
  assertThrows(() => watchItem(delaying as never, "a", () => {}), TypeError, "must be a rate limiting queue");
  const event: ItemEvent<string> = { state: "ready" };
  assertEquals(event.state, "ready");
});
