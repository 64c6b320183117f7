import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Console, HandClock } from "../helpers.ts";
import { type Clock, createDelayingQueue, systemClock } from "@workqueue/core";
import { HighestFirst, isSettled, outcome, randomNumbers, take, takeAll } from "../queue_helpers.ts";

/** System clock that records the timers that are set, with their delays. */
class CountingClock implements Clock {
  readonly active = new Set<unknown>();
  readonly delays: number[] = [];

  now(): number {
    return systemClock.now();
  }

  setTimeout(callback: () => void, ms: number): unknown {
    this.delays.push(ms);
    const handle = systemClock.setTimeout(() => {
      this.active.delete(handle);
      callback();
    }, ms);
    this.active.add(handle);
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.active.delete(handle);
    systemClock.clearTimeout(handle);
  }
}

Deno.test("rule 7: an item is ready when its delay has passed, and not before", async () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>();
  queue.addAfter("a", 50);
  const waiting = queue.get();
  assertEquals([queue.delayed, queue.length], [1, 0]);
  time.tick(49);
  assertFalse(await isSettled(waiting));
  time.tick(1);
  assertEquals(await outcome(waiting), "a");
  assertEquals([queue.delayed, queue.length], [0, 0]);
});

Deno.test("rule 7: a delay of zero or less adds the item at once", () => {
  using _time = new FakeTime();
  using queue = createDelayingQueue<string>();
  queue.addAfter("a", 0);
  queue.addAfter("b", -1);
  queue.addAfter("c", -0);
  assertEquals([queue.length, queue.delayed], [3, 0]);
});

Deno.test("rule 7: the earlier of two deadlines of an item counts, in either order", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>();
  queue.addAfter("sooner later", 10);
  queue.addAfter("sooner later", 1000);
  queue.addAfter("later sooner", 1000);
  queue.addAfter("later sooner", 20);
  assertEquals(queue.delayed, 2);
  time.tick(10);
  assertEquals(takeAll(queue), ["sooner later"]);
  time.tick(10);
  assertEquals(takeAll(queue), ["later sooner"]);
  time.tick(10_000);
  assertEquals([queue.length, queue.delayed], [0, 0], "neither comes a second time");
});

Deno.test("rule 7: an item can be delayed, ready and processing at the same time, and is handed out for each", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>();
  queue.add("a");
  const lease = take(queue);
  queue.addAfter("a", 10);
  time.tick(10);
  assertEquals([queue.length, queue.delayed], [0, 0], "due, but processing");
  lease[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a"]);
  queue.add("a");
  queue.addAfter("a", 10);
  time.tick(10);
  assertEquals(takeAll(queue), ["a"], "folded into the one that was ready");
});

Deno.test("rule 7: items with equal deadlines come out in the order in which they were added", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<number>();
  for (let i = 0; i < 100; i++) queue.addAfter(i, 10);
  time.tick(10);
  assertEquals(takeAll(queue), Array.from({ length: 100 }, (_, i) => i));
});

Deno.test("rule 7: items that became due together come out by deadline", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<number>();
  const random = randomNumbers(1);
  const delays = Array.from({ length: 1000 }, () => 1 + Math.floor(random() * 500));
  for (const [item, delay] of delays.entries()) queue.addAfter(item, delay);
  time.tick(500);
  const byDelay = [...delays.keys()].sort((a, b) => delays[a]! - delays[b]!);
  assertEquals(takeAll(queue), byDelay);
});

Deno.test("rule 7: there is one timer per queue, however many items are delayed, and none if nothing is delayed", () => {
  using time = new FakeTime();
  const clock = new CountingClock();
  using queue = createDelayingQueue<number>({ clock });
  assertEquals(clock.active.size, 0);
  for (let i = 0; i < 1000; i++) {
    queue.addAfter(i, 1000 - i);
    assertEquals(clock.active.size, 1);
  }
  const timersSet = clock.delays.length;
  for (let i = 0; i < 1000; i++) queue.addAfter(i + 1000, 2000);
  assertEquals(clock.delays.length, timersSet, "a later deadline needs no new timer");
  time.tick(1000);
  assertEquals(clock.active.size, 1);
  time.tick(1000);
  assertEquals([clock.active.size, queue.delayed, queue.length], [0, 0, 2000]);
});

Deno.test("rule 7: the timer never sleeps longer than maxSleep, so a delay may be longer than a timer's maximum", () => {
  using time = new FakeTime();
  const clock = new CountingClock();
  using queue = createDelayingQueue<string>({ clock });
  const century = 100 * 365 * 24 * 3600 * 1000;
  assert(century > 2 ** 31);
  queue.addAfter("a", century);
  queue.addAfter("b", 2 ** 31 + 5);
  time.tick(25_000);
  assertEquals(clock.delays, [10_000, 10_000, 10_000]);
  assertEquals([queue.length, queue.delayed], [0, 2]);
});

Deno.test("rule 7: a delay longer than 2^31 ms ends on time", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>({ maxSleep: 2 ** 31 - 1 });
  queue.addAfter("a", 2 ** 31 + 5);
  time.tick(2 ** 31 + 4);
  assertEquals(queue.length, 0);
  time.tick(1);
  assertEquals(queue.length, 1);
});

Deno.test("rule 7: the timer never sleeps longer than maxSleep, not even by a fraction of the clock's time", () => {
  const maxSleep = 2 ** 31 - 1; // the longest timer: a longer one would fire at once
  for (let time = 0; time < 100; time += 0.7) {
    const clock = new HandClock(time);
    using queue = createDelayingQueue<string>({ clock, maxSleep });
    queue.addAfter("a", 1e12);
    assertEquals(clock.delays, [maxSleep]);
  }
});

Deno.test("rule 7: after the machine slept, all due items are ready once maxSleep has passed", () => {
  let now = 0;
  const timers: { callback: () => void; ms: number }[] = [];
  const clock: Clock = {
    now: () => now,
    setTimeout: (callback, ms) => timers.push({ callback, ms }),
    clearTimeout() {},
  };
  using queue = createDelayingQueue<string>({ clock, maxSleep: 1000 });
  queue.addAfter("a", 5000);
  assertEquals(timers.map(({ ms }) => ms), [1000]);
  now = 1_000_000; // the machine slept, and the timer did not run
  timers[0]!.callback();
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("rule 7: a timer that fires early hands out nothing early and is set again", () => {
  let now = 0;
  const timers: { callback: () => void; ms: number }[] = [];
  const clock: Clock = {
    now: () => now,
    setTimeout: (callback, ms) => timers.push({ callback, ms }),
    clearTimeout() {},
  };
  using queue = createDelayingQueue<string>({ clock });
  queue.addAfter("a", 100);
  now = 99.2;
  timers.at(-1)!.callback();
  assertEquals(queue.length, 0);
  assertEquals(timers.at(-1)!.ms, 1, "whole milliseconds, rounded up");
  now = 100;
  timers.at(-1)!.callback();
  assertEquals([queue.length, timers.length], [1, 2]);
});

Deno.test("rule 7: an item is on time although an earlier one was delayed when it was added", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>();
  queue.addAfter("late", 500);
  time.tick(100);
  queue.addAfter("soon", 50);
  time.tick(50);
  assertEquals(takeAll(queue), ["soon"]);
  time.tick(350);
  assertEquals(takeAll(queue), ["late"]);
});

Deno.test("a value that is not a duration is refused as a delay and changes nothing", () => {
  using queue = createDelayingQueue<string>();
  for (const delay of [NaN, Infinity, -Infinity, "5", "soon", undefined as never]) {
    assertThrows(() => queue.addAfter("a", delay), Error, "Cannot add item: 'delay' must be a duration such as");
  }
  assertEquals([queue.length, queue.delayed], [0, 0]);
});

Deno.test("maxSleep has bounds", () => {
  for (const maxSleep of [0, -1, NaN, 2 ** 31, Infinity]) {
    const message =
      `'maxSleep' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms, got ${maxSleep}`;
    assertThrows(() => createDelayingQueue({ maxSleep }), RangeError, message);
  }
  assertThrows(() => createDelayingQueue({ maxSleep: "100" as unknown as number }), TypeError, `got "100"`);
});

Deno.test("invalid drain options are refused", async () => {
  using queue = createDelayingQueue<string>();
  queue.addAfter("a", 1000);
  const message = `Cannot drain queue: 'options' must be an object, got "flush"`;
  await assertRejects(() => queue.shutDownWithDrain("flush" as never), TypeError, message);
  assertEquals([queue.shuttingDown, queue.delayed], [false, 1]);
});

Deno.test("rule 6: shutDown drops delayed items and clears the timer; later adds of every kind are ignored", async () => {
  using time = new FakeTime();
  const clock = new CountingClock();
  const queue = createDelayingQueue<string>({ clock });
  queue.add("ready");
  queue.addAfter("a", 10);
  queue.shutDown();
  assertEquals([clock.active.size, queue.delayed, queue.length], [0, 0, 1]);
  queue.add("b");
  queue.addAfter("c", 0);
  queue.addAfter("d", 10);
  assertEquals([clock.active.size, queue.delayed, queue.length], [0, 0, 1]);
  time.tick(100_000);
  assertEquals(takeAll(queue), ["ready"]);
  assertEquals(await outcome(queue.get()), "shutdown");
});

Deno.test("rule 6: shutDown during a delay ends waiting calls of get; a second shutDown changes nothing", async () => {
  using _time = new FakeTime();
  const queue = createDelayingQueue<string>();
  queue.addAfter("a", 10);
  const waiting = queue.get();
  queue.shutDown();
  queue.shutDown();
  assertEquals(await outcome(waiting), "shutdown");
});

Deno.test("rule 6: draining drops delayed items by default", async () => {
  using _time = new FakeTime();
  const clock = new CountingClock();
  const queue = createDelayingQueue<string>({ clock });
  queue.add("ready");
  queue.addAfter("a", 10);
  const drained = queue.shutDownWithDrain();
  assertEquals([clock.active.size, queue.delayed], [0, 0]);
  assertFalse(await isSettled(drained));
  assertEquals(takeAll(queue), ["ready"]);
  assert(await isSettled(drained));
});

Deno.test('rule 6: draining with delayed: "flush" makes everything ready now, the earliest first', async () => {
  using _time = new FakeTime();
  const clock = new CountingClock();
  const queue = createDelayingQueue<string>({ clock });
  queue.addAfter("late", 1000);
  queue.addAfter("soon", 10);
  queue.add("ready");
  const drained = queue.shutDownWithDrain({ delayed: "flush" });
  assertEquals([clock.active.size, queue.delayed, queue.length], [0, 0, 3]);
  assertFalse(await isSettled(drained));
  assertEquals(takeAll(queue), ["ready", "soon", "late"]);
  assert(await isSettled(drained));
});

Deno.test('rule 6: draining with delayed: "wait" waits for each item until it is due', async () => {
  using time = new FakeTime();
  const clock = new CountingClock();
  const queue = createDelayingQueue<string>({ clock });
  queue.addAfter("soon", 10);
  queue.addAfter("late", 20_000);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  assert(queue.shuttingDown);
  queue.add("x");
  queue.addAfter("x", 5);
  assertEquals([queue.delayed, queue.length], [2, 0]);
  const waiting = queue.get();
  time.tick(10);
  assertEquals(await outcome(waiting), "soon");
  queue.done("soon");
  const next = queue.get();
  assertFalse(await isSettled(next), "no Shutdown while something is delayed");
  time.tick(20_000);
  assertEquals(await outcome(next), "late");
  assertFalse(await isSettled(drained), "it is processing");
  queue.done("late");
  assert(await isSettled(drained));
  assertEquals(await outcome(queue.get()), "shutdown");
  assertEquals(clock.active.size, 0);
});

Deno.test('rule 6: draining with "wait" and nothing delayed is an ordinary drain', async () => {
  const queue = createDelayingQueue<string>();
  await queue.shutDownWithDrain({ delayed: "wait" });
  assertEquals(await outcome(queue.get()), "shutdown");
});

Deno.test("rule 6: a later shutDown, or a drain that drops, ends a drain with wait", async () => {
  using _time = new FakeTime();
  for (const end of ["shutDown", "shutDownWithDrain"] as const) {
    const clock = new CountingClock();
    const queue = createDelayingQueue<string>({ clock });
    queue.addAfter("a", 10);
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    assertFalse(await isSettled(drained));
    queue[end]();
    assert(await isSettled(drained), end);
    assertEquals([clock.active.size, queue.delayed], [0, 0]);
    assertEquals(await outcome(queue.get()), "shutdown");
  }
});

Deno.test("rule 6: a later shutDown ends a drain although an item is processing", async () => {
  const queue = createDelayingQueue<string>();
  queue.add("a");
  take(queue);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  assertFalse(await isSettled(drained));
  queue.shutDown();
  assert(await isSettled(drained));
});

Deno.test("an unknown drain policy is refused and changes nothing", async () => {
  using queue = createDelayingQueue<string>();
  const message = `Cannot drain queue: 'delayed' must be one of "drop", "flush", "wait", got "later"`;
  await assertRejects(() => queue.shutDownWithDrain({ delayed: "later" as "wait" }), TypeError, message);
  assertFalse(queue.shuttingDown);
});

Deno.test("rule 8: keys are folded while delayed, and the newest item with a key is handed out", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<{ id: number; version: number }>({ keyOf: ({ id }) => id });
  queue.addAfter({ id: 1, version: 1 }, 10);
  queue.addAfter({ id: 1, version: 2 }, 1000);
  assertEquals(queue.delayed, 1);
  time.tick(10);
  assertEquals(takeAll(queue), [{ id: 1, version: 2 }]);
});

Deno.test("rule 8: a delayed item does not come after a newer one that was added in between", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<{ id: number; version: number }>({ keyOf: ({ id }) => id });
  queue.addAfter({ id: 1, version: 1 }, 10);
  queue.add({ id: 2, version: 1 });
  assertEquals(takeAll(queue), [{ id: 2, version: 1 }], "another item is none of its business");
  queue.add({ id: 1, version: 2 });
  time.tick(10);
  assertEquals(takeAll(queue), [{ id: 1, version: 2 }]);
});

Deno.test("items that become due together are ready before any is handed out", async () => {
  const clock = new HandClock();
  const discipline = new HighestFirst<string>();
  const queue = createDelayingQueue<string>({ clock, discipline, addWhileDelayed: "replace" });
  const getter = queue.get();
  queue.addAfter("low", 10, { priority: 1 });
  queue.addAfter("high", 10, { priority: 2 });
  await clock.advance(10);
  assertEquals(await outcome(getter), "high");
  queue.addAfter("low", 10); // no effect, because the item is already ready
  assertEquals([queue.delayed, takeAll(queue)], [0, ["low"]]);
});

Deno.test("if a discipline throws when an item becomes due, that item and the others are ready, and no timer is left", () => {
  using _console = new Console();
  using time = new FakeTime();
  const clock = new CountingClock();
  const discipline = new HighestFirst<string>();
  const queue = createDelayingQueue<string>({ clock, discipline });
  const { push } = discipline;
  discipline.push = ({ item }) => {
    discipline.push = push;
    throw new Error(`no room for ${item}`);
  };
  queue.addAfter("a", 10);
  queue.addAfter("b", 10);
  time.tick(10);
  assertEquals([queue.length, queue.delayed, clock.active.size], [2, 0, 0]);
  assertEquals(takeAll(queue), ["a", "b"]);
  queue.shutDown();
});
