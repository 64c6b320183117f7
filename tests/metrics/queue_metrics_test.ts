/**
 * Queue metrics that client-go doesn't have: delayed items, the age of the oldest ready item, and queues that are gone.
 */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, Lifo, take, takeAll } from "../queue_helpers.ts";

/** Metrics that record the values of two gauges, and which queues are gone. */
class Notes extends InMemoryMetrics {
  readonly clock = new HandClock();
  notes: string[] = [];

  override delayed(queue: string) {
    return { set: (value: number) => void this.notes.push(`delayed of ${queue}: ${value}`) };
  }

  override oldestReady(queue: string) {
    return { set: (value: number) => void this.notes.push(`${this.clock.time} ms: oldest of ${queue}: ${value}`) };
  }

  gone(queue: string) {
    this.notes.push(`${queue} is gone`);
  }

  queue(options: RateLimitingQueueOptions<string> = {}): RateLimitingQueue<string> {
    const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 });
    return createRateLimitingQueue<string>(limiter, { name: "q", metrics: this, clock: this.clock, ...options });
  }

  /** Returns the notes made since the previous call. */
  taken(): string[] {
    return this.notes.splice(0);
  }
}

const delayed = (...counts: number[]) => counts.map((count) => `delayed of q: ${count}`);

Deno.test("delayed: set whenever the number of delayed items changes, once for all items that are due together", async () => {
  const metrics = new Notes();
  const queue = metrics.queue();
  queue.addAfter("a", 100);
  queue.addAfter("b", 100);
  queue.addRateLimited("c");
  assertEquals(metrics.taken(), delayed(1, 2, 3));
  queue.addAfter("a", 50); // already delayed
  queue.addAfter("now", 0);
  queue.add("a"); // "a" is now both ready and delayed
  assertEquals([metrics.taken(), queue.delayed], [[], 3]);
  assertEquals(queue.cancelDelayed("a"), true);
  assertEquals(queue.cancelDelayed("a"), false);
  assertEquals(metrics.taken(), delayed(2));
  await metrics.clock.advance(100);
  assertEquals(metrics.taken(), delayed(0));
  queue.addAfter("d", 100);
  queue.addAfter("e", 300);
  await metrics.clock.advance(200);
  assertEquals(metrics.taken().slice(0, 3), delayed(1, 2, 1));
  queue.shutDown();
  assertEquals(metrics.taken(), delayed(0));
});

Deno.test('delayed: with "replace", adding a delayed key changes the number', () => {
  const metrics = new Notes();
  const queue = metrics.queue({ addWhileDelayed: "replace" });
  queue.addAfter("a", 100);
  queue.add("a");
  queue.addAfter("a", 100); // no effect, because the item is already ready
  assertEquals([metrics.taken(), queue.delayed], [delayed(1, 0), 0]);
  queue.shutDown();
});

Deno.test("delayed: drains that drop, flush and wait", async () => {
  for (const how of ["drop", "flush", "wait"] as const) {
    const metrics = new Notes();
    const queue = metrics.queue();
    const worked: string[] = [];
    runWorkers(queue, (item) => void worked.push(item), { concurrency: 5 });
    queue.addAfter("a", 100);
    queue.addAfter("b", 200);
    const drained = queue.shutDownWithDrain({ delayed: how });
    await metrics.clock.advance(200);
    await drained;
    await flush();
    const counts = how === "wait" ? [1, 2, 1, 0] : [1, 2, 0];
    const notes = metrics.taken().filter((note) => !note.includes("oldest"));
    assertEquals([notes, worked.length], [[...delayed(...counts), "q is gone"], how === "drop" ? 0 : 2]);
    assertEquals(metrics.clock.timers, 0);
  }
});

Deno.test("blocked: set at the same times as unfinished work, as a part of the depth, and to 0 at the end", async () => {
  const metrics = new InMemoryMetrics();
  const clock = new HandClock();
  const discipline = createFairDiscipline<string>({ groupOf: (item) => item[0]!, maxPerGroup: 1 });
  const queue = createWorkQueue<string>({ name: "q", metrics, discipline, clock });
  const measured = async () => {
    await clock.advance(500);
    return [metrics.value("workqueue_blocked", "q"), metrics.value("workqueue_depth", "q"), queue.snapshot().blocked];
  };
  for (const item of ["a1", "a2", "a3", "b1"]) queue.add(item);
  assertEquals(await measured(), [2, 4, 2]);
  const a1 = take(queue);
  take(queue);
  queue.add("a4");
  assertEquals(await measured(), [3, 3, 3]);
  a1[Symbol.dispose]();
  assertEquals(await measured(), [2, 3, 2]);
  queue.shutDown();
  for (const item of ["a2", "a3", "a4", "b1"]) {
    queue.tryGet();
    queue.done(item);
  }
  assertEquals(await measured(), [0, 0, 0]);
  assertEquals(clock.timers, 0);
});

Deno.test("blocked: 0 without a discipline; a discipline that throws doesn't prevent other measurements", async () => {
  const metrics = new InMemoryMetrics();
  const clock = new HandClock();
  createWorkQueue<string>({ name: "plain", metrics, clock }).add("a");
  await clock.advance(500);
  assertEquals(metrics.value("workqueue_blocked", "plain"), 0);

  const discipline = new (class extends Lifo<string> {
    get blocked(): number {
      throw new Error("no");
    }
  })();
  const queue = createWorkQueue<string>({ name: "q", metrics, discipline, clock });
  queue.add("a");
  await clock.advance(500);
  assertEquals([metrics.value("workqueue_oldest_ready_seconds", "q"), takeAll(queue)], [0.5, ["a"]]);
});

Deno.test("oldest ready: set at the same times as unfinished work while an item is ready, and once more afterwards", async () => {
  const metrics = new Notes();
  const queue = metrics.queue();
  await metrics.clock.advance(700);
  assertEquals([metrics.taken(), metrics.clock.timers], [[], 0], "nothing is ready, and no timer runs");
  queue.add("a");
  await metrics.clock.advance(200);
  queue.add("b");
  assertEquals(metrics.clock.timers, 1);
  await metrics.clock.advance(700);
  assertEquals(metrics.taken(), ["1000 ms: oldest of q: 0.3", "1500 ms: oldest of q: 0.8"]);
  take(queue)[Symbol.dispose]();
  await metrics.clock.advance(500);
  assertEquals(metrics.taken(), ["2000 ms: oldest of q: 1.1"], "since b was added");
  const b = take(queue);
  await metrics.clock.advance(500);
  assertEquals(metrics.taken(), ["2500 ms: oldest of q: 0"]);
  b[Symbol.dispose]();
  await metrics.clock.advance(5000);
  assertEquals([metrics.taken().length, metrics.clock.timers], [1, 0]);
});

Deno.test("oldest ready: an item that comes back counts from the end of its attempt, and is younger than the items before it", async () => {
  const metrics = new Notes();
  const queue = metrics.queue();
  queue.add("a");
  const a = take(queue);
  await metrics.clock.advance(100);
  queue.add("a");
  await metrics.clock.advance(100);
  queue.add("b");
  await metrics.clock.advance(100);
  a[Symbol.dispose]();
  metrics.taken();
  await metrics.clock.advance(200);
  assertEquals(metrics.taken(), ["500 ms: oldest of q: 0.3"], "b is first in line");
  take(queue);
  await metrics.clock.advance(500);
  assertEquals(metrics.taken(), ["1000 ms: oldest of q: 0.7"], "a has been ready since its attempt ended");
  takeAll(queue);
  await metrics.clock.advance(500);
  assertEquals(metrics.taken(), ["1500 ms: oldest of q: 0"]);
  queue.shutDown();
});

Deno.test("oldest ready: with a discipline, skipped and blocked items count", async () => {
  const strict = createPriorityDiscipline({ maxHeadStart: Infinity });
  const fair = createFairDiscipline<string>({ groupOf: (item) => item[0]!, maxPerGroup: 1 });
  for (const discipline of [strict, fair]) {
    const metrics = new Notes();
    const queue = metrics.queue({ discipline });
    queue.add("a1");
    queue.add("a2");
    await metrics.clock.advance(250);
    queue.add("b1", { priority: 5 });
    queue.add("b2", { priority: 5 });
    take(queue);
    take(queue);
    await metrics.clock.advance(250);
    assertEquals(metrics.taken(), ["500 ms: oldest of q: 0.5"]);
    queue.shutDown();
  }
});

Deno.test("oldest ready: no timer is left after shutdown, and the value is 0 once no item is left", async () => {
  const metrics = new Notes();
  const queue = metrics.queue();
  queue.add("a");
  await metrics.clock.advance(500);
  queue.shutDown();
  assertEquals(metrics.clock.timers, 0);
  await metrics.clock.advance(1000);
  assertEquals(metrics.taken(), ["500 ms: oldest of q: 0.5"]);
  take(queue)[Symbol.dispose]();
  assertEquals(metrics.taken(), ["1500 ms: oldest of q: 0", "q is gone"]);
});

Deno.test("the oldest ready item needs no more readings of the clock than client-go's metrics", async () => {
  const looks: number[] = [];
  for (const oldestReady of [true, false]) {
    const metrics = new Notes();
    if (!oldestReady) metrics.oldestReady = undefined as never;
    const { clock } = metrics;
    const queue = createWorkQueue<string>({ name: "q", metrics, clock });
    const { now } = clock;
    let count = 0;
    clock.now = () => {
      count++;
      return now.call(clock);
    };
    for (let i = 0; i < 20; i++) {
      for (const item of "abc") queue.add(item);
      await clock.advance(100);
      const lease = take(queue);
      queue.add(lease.item);
      lease[Symbol.dispose]();
      takeAll(queue);
    }
    looks.push(count);
    queue.shutDown();
  }
  assertEquals(looks[0], looks[1]);
});

Deno.test("gone: called once, when the queue was shut down and no item is ready or processing", () => {
  for (const end of ["shutDown", "shutDownWithDrain"] as const) {
    const metrics = new Notes();
    const queue = createWorkQueue<string>({ name: "q", metrics });
    metrics.notes = [];
    queue.add("a");
    queue.add("b");
    const a = take(queue);
    queue.add("a");
    void queue[end]();
    take(queue)[Symbol.dispose]();
    a[Symbol.dispose]();
    const again = take(queue);
    assertEquals(metrics.taken(), [], "a came back, and is processing");
    again[Symbol.dispose]();
    assertEquals(metrics.taken().slice(-1), ["q is gone"]);
    again[Symbol.dispose]();
    queue.shutDown();
    void queue.shutDownWithDrain();
    assertEquals(metrics.taken(), []);
  }
});

Deno.test("gone: called at once for an empty queue, and after blocked items are done", () => {
  const metrics = new Notes();
  for (const make of [createWorkQueue<string>, createDelayingQueue<string>]) {
    make({ name: "one", metrics }).shutDown();
    make({ name: "two", metrics })[Symbol.dispose]();
    assertEquals(metrics.taken().filter((note) => note.includes("gone")), ["one is gone", "two is gone"]);
  }
  const discipline = createFairDiscipline<string>({ groupOf: () => "all", maxPerGroup: 1 });
  const queue = metrics.queue({ discipline });
  queue.add("a");
  queue.add("b");
  queue.shutDown();
  take(queue)[Symbol.dispose]();
  assertEquals(metrics.taken(), []);
  take(queue)[Symbol.dispose]();
  assertEquals(metrics.taken().at(-1), "q is gone");
});

Deno.test("gone: called for the last of two queues with one name, and again when the name is reused", () => {
  const metrics = new Notes();
  const queues = [1, 2].map(() => createWorkQueue<string>({ name: "q", metrics }));
  const gone = () => metrics.taken().filter((note) => note === "q is gone").length;
  queues[0]!.shutDown();
  assertEquals(gone(), 0);
  queues[1]!.shutDown();
  assertEquals(gone(), 1);
  createWorkQueue<string>({ name: "q", metrics }).shutDown();
  assertEquals(gone(), 1);
});

Deno.test("gone: a queue whose creation fails in a metric is not counted for its name", () => {
  const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 });
  const makes = {
    createWorkQueue,
    createDelayingQueue,
    createRateLimitingQueue: (options: object) => createRateLimitingQueue(limiter, options),
  };
  for (const [name, make] of Object.entries(makes)) {
    const ofDelays = name === "createWorkQueue" ? [] : ["retries", "delayed"];
    for (const method of ["depth", "blocked", ...ofDelays]) {
      const metrics = new Notes();
      Object.defineProperty(metrics, method, {
        configurable: true,
        value() {
          throw new Error("full");
        },
      });
      assertThrows(() => make({ name: "q", metrics }), Error, "full");
      Reflect.deleteProperty(metrics, method);
      metrics.taken();
      make({ name: "q", metrics }).shutDown();
      assertEquals(metrics.taken().at(-1), "q is gone", `${name}, ${method}`);
    }
  }
});

Deno.test("gone: not called before a key is done that a discipline refused when it came back", () => {
  const metrics = new Notes();
  let refuses = false;
  const groupOf = () => {
    if (refuses) throw new Error("no");
  };
  const queue = createWorkQueue<string>({ name: "q", metrics, discipline: createFairDiscipline({ groupOf }) });
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  queue.shutDown();
  refuses = true;
  assertThrows(() => lease[Symbol.dispose](), Error, "no");
  assertFalse(metrics.taken().includes("q is gone"));
  take(queue)[Symbol.dispose]();
  assertEquals(metrics.taken().at(-1), "q is gone");
});
