/** Tests of `whenIdle` and `whenBelow` in every layer. */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type DelayingQueue,
  runWorkers,
  type WorkQueue,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { countListeners, isSettled, Lifo, take, takeAll } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter<string>({ baseDelay: 10, maxDelay: 1000 });
const keyOf = (item: string) => item.toUpperCase();

type Make<Q> = (clock: HandClock) => Q;

const delaying: Record<string, Make<DelayingQueue<string>>> = {
  "layer 2": (clock) => createDelayingQueue({ clock }),
  "layer 2 with keyOf": (clock) => createDelayingQueue({ clock, keyOf }),
  "layer 2 with a discipline": (clock) => createDelayingQueue({ clock, discipline: new Lifo() }),
  "layer 3": (clock) => createRateLimitingQueue(limiter(), { clock }),
};
const layers: Record<string, Make<WorkQueue<string>>> = {
  "layer 1": (clock) => createWorkQueue({ clock }),
  "layer 1 with keyOf": (clock) => createWorkQueue({ clock, keyOf }),
  "layer 1 with a discipline": (clock) => createWorkQueue({ clock, discipline: new Lifo() }),
  ...delaying,
};

function forEach<Q>(makes: Record<string, Make<Q>>, what: string, run: (queue: Q, clock: HandClock) => Promise<void>) {
  for (const [name, make] of Object.entries(makes)) {
    Deno.test(`${name}: ${what}`, () => {
      const clock = new HandClock();
      return run(make(clock), clock);
    });
  }
}

forEach(layers, "a moment of idleness counts that passes within one synchronous call", async (queue) => {
  queue.add("a");
  const lease = take(queue);
  const idle = queue.whenIdle();
  lease[Symbol.dispose]();
  queue.add("b");
  await idle;
  assertEquals(queue.length, 1);
  assertFalse(await isSettled(queue.whenIdle()), "only a moment since the call counts");
});

forEach(layers, "a moment of room counts that passes within one synchronous call", async (queue) => {
  queue.add("a");
  const below = queue.whenBelow(1);
  take(queue);
  queue.add("b");
  await below;
  assertFalse(await isSettled(queue.whenBelow(1)));
});

forEach(layers, "no moment is idle between a pass and the next one of the same item", async (queue) => {
  queue.add("a");
  const idle = queue.whenIdle();
  for (let pass = 0; pass < 3; pass++) {
    const lease = take(queue);
    queue.add("a");
    lease[Symbol.dispose]();
  }
  assertFalse(await isSettled(idle));
  takeAll(queue);
  await idle;
});

forEach(delaying, "no moment is idle or has room while an item goes from delayed to ready", async (queue, clock) => {
  const got = queue.get();
  queue.addAfter("a", 10);
  queue.addAfter("b", 10);
  const waits = [queue.whenIdle(), queue.whenBelow(1)];
  await clock.advance(10);
  (await got)[Symbol.dispose]();
  assertFalse(await isSettled(Promise.race(waits)));
  takeAll(queue);
  await Promise.all(waits);
});

forEach(delaying, "an item that folds into a ready one as it becomes due makes room", async (queue, clock) => {
  queue.add("a");
  queue.addAfter("a", 10);
  const below = queue.whenBelow(2);
  assertFalse(await isSettled(below));
  await clock.advance(10);
  await below;
});

forEach(delaying, "a cancelled item makes room", async (queue) => {
  queue.addAfter("a", 10);
  queue.addAfter("b", 10);
  const below = queue.whenBelow(2);
  assertFalse(await isSettled(below));
  queue.cancelDelayed("a");
  await below;
});

forEach(delaying, "whenBelow counts what is delayed and what is ready", async (queue, clock) => {
  queue.addAfter("a", 10);
  queue.addAfter("b", 10);
  queue.add("c");
  const below3 = queue.whenBelow(3);
  assertFalse(await isSettled(below3));
  take(queue);
  await below3;
  const below2 = queue.whenBelow(2);
  await clock.advance(10);
  assertFalse(await isSettled(below2), "two are ready");
  take(queue);
  await below2;
});

forEach(delaying, "while a queue drains there is nothing to wait for with whenBelow", async (queue) => {
  queue.add("a");
  queue.addAfter("b", 10);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  await queue.whenBelow(1);
  queue.shutDown();
  await drained;
});

forEach(delaying, "a drain that drops delayed items leaves nothing to wait for", async (queue) => {
  queue.addAfter("a", 10);
  const idle = queue.whenIdle();
  await queue.shutDownWithDrain({ delayed: "drop" });
  await idle;
});

forEach(delaying, "a shutdown of an idle queue, and calls after it, let nobody wait", async (queue) => {
  queue.shutDown();
  await Promise.all([queue.whenIdle(), queue.whenBelow(1)]);
});

forEach(layers, "a call that ended leaves no listener on its signal", async (queue) => {
  queue.add("a");
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = countListeners(signal);
  const calls = [queue.whenIdle({ signal }), queue.whenBelow(1, { signal })];
  assertFalse(await isSettled(Promise.race(calls)));
  take(queue)[Symbol.dispose]();
  await Promise.all(calls);
  await Promise.all([queue.whenIdle({ signal }), queue.whenBelow(1, { signal })]);
  assertEquals(listeners(), 0);
  controller.abort();
});

forEach(layers, "an aborted call leaves nothing behind", async (queue) => {
  queue.add("a");
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = countListeners(signal);
  const calls = [queue.whenIdle({ signal }), queue.whenBelow(1, { signal })];
  controller.abort("enough");
  assertEquals(await Promise.all(calls.map((call) => call.catch((reason) => reason))), ["enough", "enough"]);
  assertEquals(listeners(), 0);
  takeAll(queue);
});

forEach(layers, "a signal that has aborted before the call rejects it, whatever the queue is", async (queue) => {
  const options = { signal: AbortSignal.abort("before") };
  for (const call of [queue.whenIdle(options), queue.whenBelow(1, options)]) {
    assertEquals(await call.catch((reason) => reason), "before");
  }
});

forEach(layers, "rule 10: wrong options reject, and never throw", async (queue) => {
  const cases: [options: unknown, message: string][] = [
    [null, "'options' must be an object, got null"],
    [5, "'options' must be an object, got 5"],
    [new AbortController().signal, "'options' must be an object, got an object"],
    [{ signl: 1 }, `"signl" is not an option here; did you mean "signal"?`],
    [{ signal: "soon" }, `'signal' must be an AbortSignal, got "soon"`],
  ];
  for (const [options, message] of cases) {
    const idle = queue.whenIdle(options as never);
    assertEquals((await assertRejects(() => idle, TypeError)).message, `Cannot wait for idle queue: ${message}`);
    const below = queue.whenBelow(1, options as never);
    assertEquals((await assertRejects(() => below, TypeError)).message, `Cannot wait for fewer items: ${message}`);
  }
  await queue.whenIdle({ signal: undefined });
});

forEach(layers, "rule 10: whenBelow refuses what is no positive integer", async (queue) => {
  for (const count of [0, -1, 1.5, NaN, Infinity]) {
    const message = `Cannot wait for fewer items: 'count' must be a positive integer, got ${count}`;
    assertEquals((await assertRejects(() => queue.whenBelow(count), RangeError)).message, message);
  }
  for (const count of ["1", undefined, null, {}]) {
    await assertRejects(() => queue.whenBelow(count as never), TypeError, "'count' must be a positive integer");
  }
});

forEach(layers, "10,000 calls that wait go on at once", async (queue) => {
  queue.add("a");
  const calls = Array.from({ length: 5000 }, () => [queue.whenIdle(), queue.whenBelow(1)]).flat();
  assertFalse(await isSettled(Promise.race(calls)));
  take(queue)[Symbol.dispose]();
  await Promise.all(calls);
});

Deno.test("whenIdle waits for retries, up to the end of the last one", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue(limiter(), { clock });
  for (const item of ["a", "b", "c"]) queue.add(item);
  const idle = queue.whenIdle();
  const log: string[] = [];
  runWorkers(queue, (item, { attempt }) => {
    log.push(`${item}${attempt}`);
    if (item === "b" && attempt < 3) throw new Error("not yet");
  }, { onError() {}, clock });
  assertFalse(await isSettled(idle));
  await clock.advance(10);
  assertFalse(await isSettled(idle));
  await clock.advance(20);
  await idle;
  assertEquals(log, ["a1", "b1", "c1", "b2", "b3"]);
  queue.shutDown();
});

Deno.test("whenBelow holds a producer back: there are never more ready items than the given number", async () => {
  const queue = createRateLimitingQueue<string>(limiter());
  let most = 0;
  const pool = runWorkers(queue, async () => await Promise.resolve(), { concurrency: 3 });
  for (let i = 0; i < 1000; i++) {
    await queue.whenBelow(10);
    queue.add(`${i}`);
    most = Math.max(most, queue.length);
  }
  await queue.shutDownWithDrain();
  await pool.finished;
  assert(most <= 10);
});
