/** Rule 13 in the queue: groups that are paused, and disciplines that block items until a time. */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  adaptDiscipline,
  createDefaultItemLimiter,
  createDelayingQueue,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type QueueDiscipline,
  type ReadyEntry,
  runWorkers,
  TokenBucket,
  type WorkQueue,
  type WorkQueueOptions,
} from "@workqueue/core";
import { FakeTime } from "@std/testing/time";
import { HandClock } from "../helpers.ts";
import { heldLineOf } from "../../lib/queue/held_line.ts";
import { flush, insideOf, isSettled, Lifo, outcome, PlainLifo, take, takeAll } from "../queue_helpers.ts";

const layers: Record<string, (options: WorkQueueOptions<string>) => WorkQueue<string>> = {
  "layer 1": (options) => createWorkQueue(options),
  "layer 2": (options) => createDelayingQueue(options),
  "layer 3": (options) => createRateLimitingQueue(createDefaultItemLimiter(), options),
};

/** Returns a discipline that does what `discipline` does, through its methods. */
function wrapped(discipline: QueueDiscipline<string>): QueueDiscipline<string> {
  return adaptDiscipline<QueueDiscipline<string>>({
    push: (entry) => discipline.push(entry),
    pop: () => discipline.pop(),
    touch: (entry) => discipline.touch(entry),
    done: (entry, work) => discipline.done!(entry, work),
    pauseGroup: (group, until) => discipline.pauseGroup!(group, until),
    resumeGroup: (group) => discipline.resumeGroup!(group),
    groupOf: (entry) => discipline.groupOf!(entry),
    get length() {
      return discipline.length;
    },
    get blocked() {
      return discipline.blocked!;
    },
    get nextChangeAt() {
      return discipline.nextChangeAt!;
    },
  });
}

const fair = () => createFairDiscipline<string>({ separator: "/" });

for (const [name, make] of Object.entries(layers)) {
  const setUp = (...items: string[]) => {
    const clock = new HandClock(1000);
    const queue = make({ clock, discipline: fair() });
    for (const item of items) queue.add(item);
    const counts = () => {
      const { ready, blocked, processing } = queue.snapshot();
      assertEquals(queue.length, ready);
      return [ready, blocked, processing];
    };
    return { clock, queue, counts };
  };

  Deno.test(`rule 13, ${name}: the items of a paused group are blocked, and other groups continue`, () => {
    const { clock, queue, counts } = setUp("a/1", "a/2", "b/1", "b/2");
    const processing = take(queue); // a/1
    queue.pauseGroup("a", "30s");
    assertEquals(counts(), [2, 1, 1]);
    assertEquals(queue.snapshot().readyItems.map(({ item }) => item), ["b/1", "b/2"]);
    queue.add("a/3");
    processing[Symbol.dispose]();
    assertEquals(counts(), [2, 2, 0]);
    assertEquals(takeAll(queue), ["b/1", "b/2"]);
    clock.time += 29_999;
    assertEquals([queue.tryGet(), counts()], [undefined, [0, 2, 0]]);
    clock.time += 1;
    assertEquals(counts(), [1, 1, 0]);
    assertEquals(takeAll(queue), ["a/2", "a/3"]);
    assertEquals(clock.timers, 0);
  });

  Deno.test(`rule 13, ${name}: after a pause one item is a probe, and the others follow when it is done`, () => {
    const { clock, queue, counts } = setUp("a/1", "a/2", "a/3");
    queue.pauseGroup("a", 100);
    clock.time += 100;
    const probe = take(queue);
    assertEquals([probe.item, queue.tryGet(), counts()], ["a/1", undefined, [0, 2, 1]]);
    queue.add("a/4");
    assertEquals(counts(), [0, 3, 1]);
    probe[Symbol.dispose]();
    assertEquals(counts(), [3, 0, 0]);
  });

  Deno.test(`rule 13, ${name}: a pause that begins while the probe runs needs another probe`, () => {
    const { clock, queue, counts } = setUp("a/1", "a/2", "a/3");
    queue.pauseGroup("a", 100);
    clock.time += 100;
    const first = take(queue);
    queue.pauseGroup("a", 50);
    first[Symbol.dispose]();
    assertEquals(counts(), [0, 2, 0]);
    clock.time += 50;
    const second = take(queue);
    assertEquals([second.item, counts()], ["a/2", [0, 1, 1]]);
    first[Symbol.dispose]();
    assertEquals(counts(), [0, 1, 1]);
    queue.pauseGroup("a", 10);
    clock.time += 10;
    const third = take(queue);
    second[Symbol.dispose](); // the probe of an earlier pause
    queue.add("a/4");
    assertEquals([third.item, counts()], ["a/3", [0, 1, 1]]);
    third[Symbol.dispose]();
    assertEquals(counts(), [1, 0, 0]);
  });

  Deno.test(`rule 13, ${name}: get is served when the pause ends, with one timer, set for the earliest change`, async () => {
    const { clock, queue } = setUp("a/1", "a/2", "b/1");
    queue.pauseGroup("a", 300);
    queue.pauseGroup("b", 100);
    assertEquals(clock.timers, 0); // nobody waits
    const gets = [queue.get(), queue.get(), queue.get()].map(outcome);
    assertEquals([clock.timers, clock.delays], [1, [100]]);
    clock.fireNext();
    assertEquals([await gets[0], clock.timers, clock.delays], ["b/1", 1, [100, 200]]);
    clock.fireNext();
    assertEquals([await gets[1], clock.time, clock.timers], ["a/1", 1300, 0]);
    assertFalse(await isSettled(gets[2]!));
    queue.done("a/1");
    assertEquals(await gets[2], "a/2");
    assertEquals([clock.timers, clock.delays.length], [0, 2]);
  });

  Deno.test(`rule 13, ${name}: the later end of two pauses counts, and resumeGroup ends a pause at once`, async () => {
    const { clock, queue, counts } = setUp("a/1", "a/2");
    queue.pauseGroup("a", "1s");
    queue.pauseGroup("a", 500);
    for (const none of [0, -5, "-1s"]) queue.pauseGroup("a", none);
    const got = outcome(queue.get());
    assertEquals(clock.delays, [1000]);
    queue.pauseGroup("a", "2s");
    assertEquals([clock.timers, clock.delays], [1, [1000, 2000]]);
    queue.resumeGroup("a");
    assertEquals([await got, counts(), clock.timers], ["a/1", [1, 0, 1], 0]);
    queue.resumeGroup("a");
    queue.resumeGroup("unknown");
    assertEquals(counts(), [1, 0, 1]);
    queue.pauseGroup("a", -1);
    assertEquals(counts(), [1, 0, 1]);
  });

  Deno.test(`rule 13, ${name}: a group may be paused before it has items, and is not forgotten`, () => {
    const { clock, queue, counts } = setUp();
    queue.pauseGroup("a", 1000);
    for (let i = 0; i < 30_000; i++) queue.add(`other${i}/x`);
    assertEquals(takeAll(queue).length, 30_000);
    clock.time += 999;
    queue.add("a/1");
    queue.add("a/2");
    assertEquals(counts(), [0, 2, 0]);
    clock.time += 1;
    assertEquals(counts(), [1, 1, 0]);
  });

  Deno.test(`rule 13, ${name}: the first item after a pause is a probe even if the group was idle meanwhile`, () => {
    const { clock, queue, counts } = setUp();
    queue.pauseGroup("a", 1000);
    clock.time += 5000;
    queue.add("b/1");
    takeAll(queue);
    queue.add("a/1");
    queue.add("a/2");
    assertEquals(counts(), [1, 1, 0]);
  });

  Deno.test(`rule 6, ${name}: a drain waits for paused groups, and shutDown leaves no timer unless a get waits`, async () => {
    const { clock, queue } = setUp("a/1", "a/2");
    queue.pauseGroup("a", 100);
    const drained = queue.shutDownWithDrain();
    const got = outcome(queue.get());
    assertFalse(await isSettled(drained));
    await clock.advance(100);
    assertEquals(await got, "a/1");
    queue.done("a/1");
    assertEquals(take(queue).item, "a/2");
    const end = outcome(queue.get());
    queue.done("a/2");
    await drained;
    assertEquals([await end, clock.timers], ["shutdown", 0]);

    const other = setUp("a/1");
    other.queue.pauseGroup("a", 100);
    const controller = new AbortController();
    const aborted = other.queue.get({ signal: controller.signal });
    assertEquals(other.clock.timers, 1);
    controller.abort("enough");
    assertEquals([await aborted.catch((reason) => reason), other.clock.timers], ["enough", 0]);
    other.queue.shutDown();
    assertEquals(other.clock.timers, 0);
    const late = outcome(other.queue.get()); // blocked items are still handed out
    assertEquals(other.clock.timers, 1);
    await other.clock.advance(100);
    assertEquals([await late, other.clock.timers], ["a/1", 0]);
    other.queue.done("a/1");
    assertEquals(await outcome(other.queue.get()), "shutdown");
  });

  Deno.test(`rule 13, ${name}: a discipline without groups, and invalid durations, are refused`, () => {
    const message = "there must be a discipline with pauseGroup, such as createFairDiscipline()";
    for (const discipline of [undefined, createPriorityDiscipline(), new Lifo<string>()]) {
      const queue = make({ discipline });
      assertThrows(() => queue.pauseGroup("a", "30s"), Error, `Cannot pause group: ${message}`);
      assertThrows(() => queue.resumeGroup("a"), Error, `Cannot resume group: ${message}`);
    }
    const { queue, counts } = setUp("a/1");
    assertThrows(() => queue.pauseGroup("a", NaN), RangeError, "Cannot pause group: 'duration' must be a duration");
    assertThrows(() => queue.pauseGroup("a", "soon"), TypeError, "Cannot pause group: 'duration' must be a duration");
    assertThrows(() => queue.pauseGroup("a", undefined as never), TypeError, "Cannot pause group: 'duration' must be");
    assertEquals(counts(), [1, 0, 0]);
  });

  Deno.test(`rule 13, ${name}: a discipline that wraps the fair one can pause its groups`, async () => {
    using time = new FakeTime(0);
    const queue = make({ discipline: wrapped(fair()) });
    for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
    queue.pauseGroup("a", 100);
    assertEquals(takeAll(queue), ["b/1"]);
    const got = outcome(queue.get());
    await time.tickAsync(99);
    assertFalse(await isSettled(got));
    await time.tickAsync(1);
    assertEquals([await got, queue.length], ["a/1", 0]);
    queue.done("a/1");
    assertEquals(queue.length, 1);
  });
}

/** Last in, first out, from a time on. Uses the clock of its queue. */
class FromTime extends PlainLifo<string> {
  constructor(readonly clock: HandClock, readonly opensAt: number) {
    super();
    adaptDiscipline(this);
  }

  override get length(): number {
    return this.clock.now() < this.opensAt ? 0 : this.entries.length;
  }

  get blocked(): number {
    return this.entries.length - this.length;
  }

  get nextChangeAt(): number {
    return this.blocked > 0 ? this.opensAt : Infinity;
  }
}

for (const [name, make] of Object.entries(layers)) {
  Deno.test(`rule 13, ${name}: a user's discipline says when its items become ready, and get is served then`, async () => {
    const clock = new HandClock();
    const queue = make({ clock, discipline: new FromTime(clock, 5000) });
    const gets = [queue.get(), queue.get(), queue.get()].map(outcome);
    assertEquals(clock.timers, 0);
    queue.add("x");
    queue.add("y");
    assertEquals([queue.length, queue.snapshot().blocked, clock.delays], [0, 2, [5000]]);
    clock.fireNext();
    assertEquals([await gets[0], await gets[1], clock.timers], ["y", "x", 0]);
    queue.shutDown();
    assertEquals(await gets[2], "shutdown");
  });
}

Deno.test("rule 13: a discipline inside the fair one may also block items until a time", async () => {
  const clock = new HandClock(1_000_000);
  const queue = createWorkQueue<string>({
    clock,
    discipline: createFairDiscipline({ separator: "/", within: () => new FromTime(clock, 1_000_700) }),
  });
  const got = outcome(queue.get());
  queue.add("a/1");
  queue.add("b/1");
  assertEquals([queue.snapshot().blocked, clock.delays], [2, [700]]);
  clock.fireNext();
  assertEquals([await got, queue.length], ["a/1", 1]);
});

Deno.test("rule 11: a discipline that reports a time in the past does not make the queue spin", async () => {
  const clock = new HandClock(50);
  class Late extends FromTime {
    override get nextChangeAt(): number {
      return 10;
    }
  }
  const queue = createWorkQueue<string>({ clock, discipline: new Late(clock, 53) });
  const got = outcome(queue.get());
  queue.add("x");
  await clock.advance(100);
  assertEquals([await got, clock.delays], ["x", [1, 1, 1]]);
});

Deno.test("rule 13: whenBelow and whenIdle count the items of a paused queue", async () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock });
  queue.add("x");
  heldLineOf(insideOf(queue)).pauseFor(100);
  const waits = [queue.whenBelow(1), queue.whenIdle()];
  for (const wait of waits) assertFalse(await isSettled(wait));
  clock.time = 100;
  assertEquals(takeAll(queue), ["x"]);
  await Promise.all(waits);
});

Deno.test("rule 13: watchers of the queue are called when blocked items become ready", async () => {
  const clock = new HandClock();
  const queue = createDelayingQueue<string>({ clock, discipline: fair() });
  queue.add("a/1");
  queue.pauseGroup("a", 100);
  let told = 0;
  const stop = insideOf(queue).watch(() => told++);
  assertEquals([clock.timers, told], [1, 0]);
  await clock.advance(100);
  assertEquals([clock.timers, told], [0, 1]);
  queue.pauseGroup("a", 100);
  assertEquals(clock.timers, 1);
  stop();
  assertEquals(clock.timers, 0);
});

Deno.test("rule 11: a discipline that throws when its time has come fails one get, and nothing else", async () => {
  const clock = new HandClock();
  let isBroken = false;
  class Broken extends FromTime {
    override get length(): number {
      if (isBroken) throw new Error("broken");
      return super.length;
    }
  }
  const queue = createWorkQueue<string>({ clock, discipline: new Broken(clock, 100) });
  const got = queue.get();
  queue.add("x");
  isBroken = true;
  clock.fireNext();
  assertEquals(await got.catch((error) => error.message), "broken");
  isBroken = false;
  assertEquals(takeAll(queue), ["x"]);
});

Deno.test("a discipline is told how long the work on each entry took", () => {
  const clock = new HandClock();
  const durations: unknown[] = [];
  class Told extends Lifo<string> {
    done({ key }: ReadyEntry<string>, work?: { durationMs: number }) {
      durations.push([key, work]);
    }
  }
  for (
    const discipline of [new Told(), createFairDiscipline<string>({ separator: "/", within: () => new Told() })]
  ) {
    const queue = createWorkQueue<string>({ clock, discipline });
    queue.add("x");
    clock.time += 5;
    const x = take(queue);
    clock.time += 7;
    queue.add("y");
    const y = take(queue);
    clock.time += 100;
    x[Symbol.dispose]();
    y[Symbol.dispose]();
  }
  const expected = [["x", { durationMs: 107 }], ["y", { durationMs: 100 }]];
  assertEquals(durations, [...expected, ...expected]);
});

Deno.test("workqueue_blocked counts the items of paused groups", () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createWorkQueue<string>({ name: "q", metrics, clock, discipline: fair() });
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  queue.pauseGroup("a", "1m");
  clock.fireNext();
  assertEquals([metrics.value("workqueue_blocked", "q"), metrics.value("workqueue_depth", "q")], [2, 3]);
});

Deno.test("rule 13: pools take the items of a paused group when its time comes, and end with a drain", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { clock, discipline: fair() });
  for (const item of ["a/1", "a/2", "a/3", "b/1", "b/2"]) queue.add(item);
  queue.pauseGroup("a", "10s");
  const begun: [number, string][] = [];
  const pool = runWorkers(queue, (item) => {
    begun.push([clock.time, item]);
    return new Promise((resolve) => clock.setTimeout(() => resolve(), 100));
  }, { concurrency: 5 });
  await flush();
  await clock.advance(9999);
  assertEquals([begun, pool.active], [[[0, "b/1"], [0, "b/2"]], 0]);
  const drained = queue.shutDownWithDrain();
  await clock.advance(1000);
  await drained;
  await pool.finished;
  assertEquals(begun.slice(2).sort(), [[10_000, "a/1"], [10_100, "a/2"], [10_100, "a/3"]]);
  assertEquals([clock.timers, clock.delays], [0, [100, 100, 10_000, 100, 100, 100]]);
});

Deno.test("rule 13: a pool with a throttle takes the items of a paused group when its time comes, without polling", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { clock, discipline: fair() });
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  queue.pauseGroup("a", "10s");
  const begun: [number, string][] = [];
  const pool = runWorkers(queue, (item) => void begun.push([clock.time, item]), {
    concurrency: 5,
    throttle: new TokenBucket(1000, 5, { clock }),
  });
  await flush();
  await clock.advance(9999);
  assertEquals(begun, [[0, "b/1"]]);
  assertEquals(clock.timers, 1);
  await clock.advance(1);
  assertEquals(begun.slice(1), [[10_000, "a/1"], [10_000, "a/2"]]);
  queue.pauseGroup("a", "10s");
  queue.add("a/3");
  await flush();
  await pool.stop();
  assertEquals([clock.timers, queue.snapshot().blocked], [0, 1]);
});

Deno.test("rule 7: the timer of blocked items sleeps no longer than maxSleep, in each layer", async () => {
  for (const wait of ["get", "whenIdle"] as const) {
    const clock = new HandClock();
    const queues = [
      createDelayingQueue<string>({ clock, discipline: fair(), maxSleep: 1000 }),
      createRateLimitingQueue<string>(createDefaultItemLimiter(), { clock, discipline: fair(), maxSleep: 1000 }),
    ];
    for (const queue of queues) {
      queue.add("a/1");
      queue.pauseGroup!("a", 2500);
      void queue[wait]();
    }
    await clock.advance(2499);
    assertEquals(queues.map(({ length }) => length), [0, 0]);
    await clock.advance(1);
    assertEquals(queues.map(({ length, processing }) => length + processing), [1, 1]);
    assertEquals(Math.max(...clock.delays), 1000);
  }
});
