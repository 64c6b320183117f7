/**
 * Further tests of `cancelDelayed`, in addition to the tests in the contract suite, which every delaying queue must
 * pass.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createRateLimitingQueue,
  type DelayingQueue,
  InMemoryMetrics,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { isSettled, take, takeAll } from "../queue_helpers.ts";

interface Version {
  readonly id: number;
  readonly version: number;
}

const keyOf = ({ id }: Version) => id;
const limiter = () => createExponentialLimiter<never>({ baseDelay: 10, maxDelay: 1000 });

const layers: Record<string, (clock: HandClock) => DelayingQueue<Version>> = {
  "layer 2": (clock) => createDelayingQueue({ clock, keyOf }),
  "layer 3": (clock) => createRateLimitingQueue(limiter(), { clock, keyOf }),
  "layer 2 that replaces": (clock) => createDelayingQueue({ clock, keyOf, addWhileDelayed: "replace" }),
  "layer 2 that folds": (clock) => createDelayingQueue({ clock, keyOf, addWhileDelayed: "fold" }),
};

for (const [name, make] of Object.entries(layers)) {
  Deno.test(`rule 8, ${name}: cancelDelayed goes by the key, and a later delay has only the new item and priority`, async () => {
    const clock = new HandClock();
    const queue = make(clock);
    queue.addAfter({ id: 1, version: 1 }, 10, { priority: 5 });
    queue.addAfter({ id: 2, version: 1 }, 10);
    assert(queue.cancelDelayed({ id: 1, version: 99 }));
    queue.addAfter({ id: 1, version: 2 }, 20);
    assertEquals(queue.snapshot().delayedItems, [
      { item: { id: 2, version: 1 }, priority: 0, dueInMs: 10 },
      { item: { id: 1, version: 2 }, priority: 0, dueInMs: 20 },
    ]);
    await clock.advance(20);
    assertEquals(takeAll(queue), [{ id: 2, version: 1 }, { id: 1, version: 2 }]);
  });

  Deno.test(`rule 6, ${name}: once no item is delayed, no timer is set, whatever the reason`, async () => {
    const clock = new HandClock();
    const queue = make(clock);
    const items = Array.from({ length: 100 }, (_, id) => ({ id, version: 1 }));
    for (const item of items) queue.addAfter(item, 10 + item.id % 7);
    assertEquals(clock.timers, 1);
    for (const item of items) assert(queue.cancelDelayed(item));
    assertEquals([clock.timers, queue.delayed], [0, 0]);
    queue.addAfter(items[0]!, 10);
    assertEquals(clock.timers, 1);
    await clock.advance(10);
    assertEquals([clock.timers, queue.length], [0, 1]);
  });

  Deno.test(`rule 7, ${name}: the other items come when they are due, whichever was cancelled`, async () => {
    const clock = new HandClock();
    for (let cancelled = 0; cancelled < 5; cancelled++) {
      const queue = make(clock);
      for (let id = 0; id < 5; id++) queue.addAfter({ id, version: 1 }, 10 * (id + 1));
      queue.cancelDelayed({ id: cancelled, version: 1 });
      const came: number[] = [];
      for (let time = 10; time <= 50; time += 10) {
        await clock.advance(10);
        for (const { id } of takeAll(queue)) came.push(10 * (id + 1) === time ? id : NaN);
      }
      assertEquals(came, [0, 1, 2, 3, 4].filter((id) => id !== cancelled));
    }
  });

  Deno.test(`rule 6, ${name}: a drain with wait continues when the last delayed item is cancelled, and not before`, async () => {
    const queue = make(new HandClock());
    queue.add({ id: 0, version: 1 });
    const lease = take(queue);
    for (const id of [1, 2]) queue.addAfter({ id, version: 1 }, 10);
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    assert(queue.cancelDelayed({ id: 1, version: 1 }));
    assert(queue.cancelDelayed({ id: 2, version: 1 }));
    assertFalse(await isSettled(drained), "one is still processing");
    lease[Symbol.dispose]();
    await drained;
  });

  Deno.test(`${name}: cancelDelayed of an item that is delayed and processing leaves the processing alone`, () => {
    const queue = make(new HandClock());
    const item = { id: 1, version: 1 };
    queue.add(item);
    const lease = take(queue);
    queue.addAfter(item, 10);
    assert(queue.cancelDelayed(item));
    assertEquals([queue.processing, lease.addedAgain()], [1, false]);
    lease[Symbol.dispose]();
    assertEquals([queue.length, queue.delayed, queue.processing], [0, 0, 0]);
  });

  Deno.test(`rule 6, ${name}: after a shutdown, no delayed item is left to cancel`, () => {
    const clock = new HandClock();
    const queue = make(clock);
    queue.addAfter({ id: 1, version: 1 }, 10);
    queue.shutDown();
    assertFalse(queue.cancelDelayed({ id: 1, version: 1 }));
    assertEquals(clock.timers, 0);
  });
}

Deno.test("cancelDelayed does not forget failures, unlike forget", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { clock });
  queue.addRateLimited("a");
  assert(queue.cancelDelayed("a"));
  assertEquals(queue.numRequeues("a"), 1);
  queue.addRateLimited("a");
  await clock.advance(19);
  assertEquals(queue.length, 0);
  await clock.advance(1);
  assertEquals(queue.length, 1);
});

Deno.test("in the metrics, a cancelled delayed item counts as a retry, and not as an add", async () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createDelayingQueue<string>({ name: "images", clock, metrics });
  queue.addAfter("a", 10);
  queue.cancelDelayed("a");
  await clock.advance(10);
  const text = metrics.toPrometheus();
  assert(text.includes('workqueue_retries_total{name="images"} 1'), text);
  assert(text.includes('workqueue_adds_total{name="images"} 0'), text);
  queue.shutDown();
});
