/**
 * Rule 7: items that become due at once are made ready in slices. Also tests which items are handed out between slices.
 */

import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  InMemoryMetrics,
  type QueueDiscipline,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  type ReadyEntry,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { beBusy, isSettled, Lifo, nextTurn, take, takeAll } from "../queue_helpers.ts";

/** Number of items. There are enough of them for several slices if adding an item takes one millisecond. */
const COUNT = 64;
const ITEMS = Array.from({ length: COUNT }, (_, i) => `item ${i}`);

/** Creates a queue in which adding an item takes one millisecond. */
function slow(options: RateLimitingQueueOptions<string> = {}): RateLimitingQueue<string> {
  const metrics = new InMemoryMetrics();
  metrics.adds = () => ({ inc: () => beBusy(1) });
  const limiter = createExponentialLimiter({ baseDelay: 3_600_000, maxDelay: 3_600_000 });
  return createRateLimitingQueue<string>(limiter, { name: "q", metrics, ...options });
}

/** Starts a flush of all items. When the function returns, the items of the first slice are ready. */
function flushed(queue: RateLimitingQueue<string>, signal?: AbortSignal): Promise<void> {
  ITEMS.forEach((item, i) => queue.addAfter(item, 3_600_000, i === COUNT - 1 ? { priority: 1 } : undefined));
  const drained = queue.shutDownWithDrain({ delayed: "flush", signal });
  assertGreater(queue.delayed, 0, "the rest is for later turns");
  assertLess(queue.delayed, COUNT);
  return drained;
}

/**
 * Waits until at most `left` items are still delayed. Returns the number of slices that became ready while it waited.
 */
async function allSlices(queue: RateLimitingQueue<string>, left = 0): Promise<number> {
  let slices = 0;
  for (let before = queue.delayed; queue.delayed > left;) {
    await nextTurn();
    if (queue.delayed < before) slices++;
    before = queue.delayed;
  }
  return slices;
}

Deno.test("rule 7: items that become due at once are made ready in slices, and timers run between the slices", async () => {
  const queue = slow();
  for (const item of ITEMS) queue.addAfter(item, 5);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const slices = await allSlices(queue);
  clearInterval(timer);
  assertGreater(slices, 1);
  assertGreater(turns, 1);
  assertEquals(takeAll(queue), ITEMS);
  queue.shutDown();
});

Deno.test("rule 7: items that need less than a slice are made ready at once, however many they are", () => {
  const isAtOnce = () => {
    using queue = createDelayingQueue<string>();
    for (const item of ITEMS) queue.addAfter(item, 3_600_000);
    queue.shutDownWithDrain({ delayed: "flush" });
    return queue.delayed === 0;
  };
  assert(
    Array.from({ length: 20 }, isAtOnce).includes(true),
    "a machine that is busy may need another slice, but not always",
  );
});

Deno.test("rule 7: first in, first out hands out items between slices, in the order of the deadlines", async () => {
  const queue = slow();
  const first = queue.get();
  const drained = flushed(queue);
  const lease = await first;
  assertEquals(lease.item, ITEMS[0]);
  lease[Symbol.dispose]();
  const between = takeAll(queue);
  assertGreater(queue.delayed, 0);
  await allSlices(queue);
  assertEquals([ITEMS[0], ...between, ...takeAll(queue)], ITEMS);
  await drained;
});

for (const name of ["priority", "third-party"] as const) {
  Deno.test(`rule 7: a discipline (${name}) hands out nothing until the batch is complete, and then its choice`, async () => {
    const discipline = name === "priority" ? createPriorityDiscipline() : new Lifo<string>();
    const queue = slow({ discipline });
    const ready = "ready before";
    queue.add(ready);
    const drained = flushed(queue);
    const getter = queue.get();
    for (let slices = 0; queue.delayed > 0; slices++) {
      assertEquals([queue.length, queue.tryGet()], [0, undefined]);
      const shown = queue.snapshot();
      assertEquals([shown.ready, shown.blocked + shown.delayed, shown.readyItems], [0, COUNT + 1, []]);
      await nextTurn();
    }
    assertEquals((await getter).item, ITEMS[COUNT - 1], "the last one to be added");
    assertEquals([queue.length, queue.snapshot().blocked], [COUNT, 0]);
    queue.done(ITEMS[COUNT - 1]!);
    const rest = ITEMS.slice(0, -1);
    assertEquals(takeAll(queue), name === "priority" ? [ready, ...rest] : [...rest.reverse(), ready]);
    await drained;
  });
}

/** Discipline that records the pushed entries. */
class Notes extends Lifo<string> implements QueueDiscipline<string> {
  readonly pushed: ReadyEntry<string>[] = [];

  override push(entry: ReadyEntry<string>): void {
    this.pushed.push(entry);
    super.push(entry);
  }

  readyAt(item: string): number {
    return this.pushed.find((entry) => entry.item === item)!.readyAt;
  }
}

Deno.test("rule 7: a batch has one readyAt; items that are added or due during the batch are ready later", async () => {
  const discipline = new Notes();
  const queue = slow({ discipline });
  for (const item of ITEMS) queue.addAfter(item, 5);
  beBusy(10); // by the time the queue first checks the items, all are due
  while (queue.delayed === COUNT) await nextTurn();
  assertGreater(queue.delayed, 0);
  queue.addAfter("due meanwhile", 0.001);
  queue.add("added meanwhile");
  await allSlices(queue);
  const times = new Set(ITEMS.map((item) => discipline.readyAt(item)));
  assertEquals(times.size, 1);
  const [time] = [...times];
  assertGreater(discipline.readyAt("added meanwhile"), time!);
  assertGreater(discipline.readyAt("due meanwhile"), discipline.readyAt("added meanwhile"));
  assertEquals(discipline.pushed.at(-1)!.item, "due meanwhile", "it is the next batch");
  queue.shutDown();
});

Deno.test("rule 7: with a clock other than the system's, or under fake time, there are no slices", async () => {
  const clock = new HandClock();
  const queue = slow({ clock });
  for (const item of ITEMS) queue.addAfter(item, 5);
  assert(clock.fireNext());
  assertEquals([queue.length, queue.delayed, clock.timers], [COUNT, 0, 1], "the one left is that of the metrics");
  queue.shutDown();
  takeAll(queue);

  using time = new FakeTime();
  const faked = slow();
  for (const item of ITEMS) faked.addAfter(item, 5);
  time.tick(5);
  assertEquals([faked.length, faked.delayed], [COUNT, 0]);
  const drained = faked.shutDownWithDrain();
  takeAll(faked);
  await drained;
});

for (const discipline of [undefined, new Lifo<string>()]) {
  const name = discipline === undefined ? "first in, first out" : "a discipline";

  Deno.test(`rule 7, ${name}: a shutdown between slices drops the rest, and hands out items that are ready`, async () => {
    const dropped: string[] = [];
    const queue = slow({ discipline, onDrop: (item) => void dropped.push(item) });
    const drained = flushed(queue);
    const left = queue.delayed;
    queue.shutDown();
    assertEquals([queue.delayed, dropped.sort()], [0, ITEMS.slice(-left).sort()]);
    assertEquals(takeAll(queue).sort(), ITEMS.slice(0, -left).sort());
    await drained;
    assertEquals((await queue.get()).shutdown, true);
  });

  Deno.test(`rule 7, ${name}: an abort between slices ends a flush`, async () => {
    const dropped: string[] = [];
    const queue = slow({ discipline, onDrop: (item) => void dropped.push(item) });
    const controller = new AbortController();
    const drained = flushed(queue, controller.signal);
    controller.abort("too long");
    assertEquals(await drained.catch((reason) => reason), "too long");
    assertEquals([...takeAll(queue), ...dropped].sort(), ITEMS.toSorted());
  });

  Deno.test(`rule 7, ${name}: items left for a later slice can be cancelled, and are shown`, async () => {
    const queue = slow({ discipline });
    const drained = flushed(queue);
    const last = ITEMS.at(-1)!;
    assertEquals(queue.snapshot({ limit: COUNT }).delayedItems.at(-1)?.item, last);
    assertEquals([queue.cancelDelayed(last), queue.cancelDelayed(last)], [true, false]);
    await allSlices(queue);
    assertEquals(takeAll(queue).sort(), ITEMS.slice(0, -1).sort());
    await drained;
  });
}

Deno.test("rule 7: items that fail during the slices of a flush are retried when due; another flush includes them", async () => {
  const queue = slow();
  const drained = flushed(queue);
  const lease = take(queue);
  queue.addRateLimited(lease.item); // the item is due in an hour
  lease[Symbol.dispose]();
  assertGreater(await allSlices(queue, 1), 0);
  assertEquals(takeAll(queue), ITEMS.slice(1));
  assert(!await isSettled(drained));
  const { delayedItems } = queue.snapshot();
  assertEquals(delayedItems.map(({ item }) => item), [ITEMS[0]]);
  assertGreater(delayedItems[0]!.dueInMs, 3_000_000);

  const again = queue.shutDownWithDrain({ delayed: "flush" });
  assertEquals(takeAll(queue), [ITEMS[0]]);
  await Promise.all([drained, again]);
});

Deno.test("rule 7: a flush within the slices of another one includes items that failed in between", async () => {
  const queue = slow();
  const drained = flushed(queue);
  const lease = take(queue);
  queue.addRateLimited(lease.item);
  lease[Symbol.dispose]();
  const again = queue.shutDownWithDrain({ delayed: "flush" });
  await allSlices(queue);
  assertEquals(takeAll(queue).sort(), ITEMS.toSorted());
  await Promise.all([drained, again]);
});

Deno.test("rule 7: a flush within the slices of due items is one batch with them", async () => {
  const discipline = new Lifo<string>();
  const queue = slow({ discipline });
  for (const item of ITEMS) queue.addAfter(item, 5);
  queue.addAfter("late", 3_600_000);
  beBusy(10); // by the time the queue first checks the items, all are due
  while (queue.delayed === COUNT + 1) await nextTurn();
  assertGreater(queue.delayed, 1);
  const getter = queue.get();
  const drained = queue.shutDownWithDrain({ delayed: "flush" });
  await allSlices(queue);
  assertEquals((await getter).item, "late");
  queue.done("late");
  assertEquals(takeAll(queue), ITEMS.toReversed());
  await drained;
});
