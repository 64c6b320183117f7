/**
 * Tests of `addWhileDelayed: "fold"` with pools: from a failure until its retry is due, adds of the key are folded into
 * the retry.
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  InMemoryMetrics,
  type Outcome,
  type RateLimiter,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { RecordHeap } from "../../lib/structures/record_heap.ts";
import { Console, HandClock } from "../helpers.ts";
import { courseOf, type Outage } from "../limiters/outage.ts";
import { flush, HighestFirst, takeAll } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const other = await loadSecondCopy();

interface Event {
  readonly id: string;
  readonly version: number;
}

const down = () => new Error("down");
const keyOf = ({ id }: Event) => id;
const limiter = () => createExponentialLimiter<Event>({ baseDelay: 1000, maxDelay: 64_000 });

type Options = RateLimitingQueueOptions<Event>;

type Make = (options: Options, limiter?: RateLimiter<Event>) => RateLimitingQueue<Event>;

const queues: Record<string, Make> = {
  "ours": (options, by = limiter()) => createRateLimitingQueue(by, options),
  "ours with a discipline": (options, by = limiter()) =>
    createRateLimitingQueue(by, { ...options, discipline: createPriorityDiscipline({ maxHeadStart: "1h" }) }),
  "ours with a discipline of the user": (options, by = limiter()) =>
    createRateLimitingQueue(by, { ...options, discipline: new HighestFirst() }),
  "under another copy's pool": (options, by = limiter()) => other.createRateLimitingQueue(by, options),
};

for (const [name, make] of Object.entries(queues)) {
  /** Creates a queue and a pool whose attempts last until `end` is called. */
  const setUp = (options: Options = {}) => {
    const clock = new HandClock();
    const queue = make({ clock, keyOf, addWhileDelayed: "fold", ...options });
    const attempts: { version: number; priority: number; at: number }[] = [];
    let end: (outcome: Error | Outcome | undefined) => void = () => {};
    const pool = runWorkers(queue, async ({ version }, { priority }) => {
      attempts.push({ version, priority, at: clock.time });
      const outcome = await new Promise<Error | Outcome | undefined>((resolve) => end = resolve);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    }, { clock, onError() {}, onGiveUp() {} });
    const finish = async (outcome?: Error | Outcome) => {
      await flush();
      end(outcome);
      await flush();
    };
    const counts = () => [queue.length, queue.delayed, queue.processing];
    const add = (version: number, priority?: number) => queue.add({ id: "a", version }, { priority });
    return { clock, queue, pool, attempts, finish, counts, add };
  };

  Deno.test(`fold, ${name}: until a retry is due, an add changes only its item and priority`, async () => {
    const { clock, attempts, finish, counts, add } = setUp();
    add(1, 2);
    await finish(down());
    add(2, 5);
    add(3, 1);
    await clock.advance(999);
    assertEquals([counts(), attempts.length], [[0, 1, 0], 1]);
    await clock.advance(1);
    assertEquals(attempts[1], { version: 3, priority: 5, at: 1000 });
    await finish();
    assertEquals([counts(), clock.timers], [[0, 0, 0], 0]);
  });

  Deno.test(`fold, ${name}: an add during an attempt that fails is folded into its retry`, async () => {
    const { clock, queue, attempts, finish, counts, add } = setUp();
    add(1);
    await flush();
    add(2, 5);
    assertEquals(queue.snapshot().processingItems.map(({ addedAgain }) => addedAgain), [true]);
    await finish(down());
    assertEquals([counts(), attempts.length], [[0, 1, 0], 1]);
    assertEquals(queue.snapshot().delayedItems, [{ item: { id: "a", version: 2 }, priority: 5, dueInMs: 1000 }]);
    await clock.advance(1000);
    assertEquals(attempts[1], { version: 2, priority: 5, at: 1000 });
    await finish();
    assertEquals([counts(), attempts.length], [[0, 0, 0], 2]);
  });

  for (
    const [outcome, value] of [["success", undefined], ["requeueAfter", { requeueAfter: "1h" }], [
      "requeue",
      { requeue: true },
    ], ["giving up", new TerminalError("no")]] as const
  ) {
    Deno.test(`fold, ${name}: after ${outcome}, a key that was added during the attempt is ready`, async () => {
      const { attempts, finish, add } = setUp();
      add(1);
      await flush();
      add(2, 5);
      await finish(value);
      assertEquals(attempts, [{ version: 1, priority: 0, at: 0 }, { version: 2, priority: 5, at: 0 }]);
    });
  }

  Deno.test(`fold, ${name}: if a limiter throws, a key that was added again stays marked`, async () => {
    const broken: RateLimiter<Event> = {
      when() {
        throw new Error("broken");
      },
      forget() {},
      numRequeues: () => 0,
    };
    const clock = new HandClock();
    const queue = make({ clock, keyOf, addWhileDelayed: "fold" }, broken);
    const versions: number[] = [];
    const pool = runWorkers(queue, ({ version }) => {
      versions.push(version);
      if (version > 1) return;
      queue.add({ id: "a", version: 2 });
      throw down();
    }, { clock, onError() {}, onGiveUp() {} });
    queue.add({ id: "a", version: 1 });
    await flush();
    assertEquals([versions, queue.delayed], [[1, 2], 0]);
    await pool.stop();
  });

  Deno.test(`fold, ${name}: adding a key that is delayed without a failure replaces the delay`, async () => {
    const { queue, finish, counts, add, pool } = setUp();
    await pool.stop();
    const item = { id: "a", version: 1 };
    for (const delay of [() => queue.addAfter(item, 10), () => queue.addRateLimited(item)]) {
      delay();
      add(2);
      assertEquals(counts(), [1, 0, 0]);
      assertEquals(takeAll(queue), [{ id: "a", version: 2 }]);
    }
    await finish();
  });

  Deno.test(`fold, ${name}: adding a key that its handler asked to add again later replaces the delay`, async () => {
    for (const outcome of [{ requeueAfter: "1h" }, { requeue: true }]) {
      const { attempts, finish, add } = setUp();
      add(1);
      await finish(outcome);
      add(2);
      await flush();
      assertEquals(attempts.map(({ version }) => version), [1, 2]);
    }
  });

  Deno.test(`fold, ${name}: an earlier deadline wins, and until then adds are folded`, async () => {
    const { clock, queue, attempts, finish, add } = setUp();
    add(1);
    await finish(down());
    queue.addAfter({ id: "a", version: 2 }, 2000);
    queue.addAfter({ id: "a", version: 3 }, 400);
    await clock.advance(300);
    add(4);
    await clock.advance(99);
    assertEquals(attempts.length, 1);
    await clock.advance(1);
    assertEquals(attempts[1], { version: 4, priority: 0, at: 400 });
    await finish();
    add(5);
    await flush();
    assertEquals(attempts.length, 3);
  });

  Deno.test(`fold, ${name}: an earlier deadline set during the attempt wins`, async () => {
    const { clock, queue, attempts, finish, add } = setUp();
    add(1);
    await flush();
    queue.addAfter({ id: "a", version: 2 }, 400);
    await finish(down());
    add(3);
    await clock.advance(399);
    assertEquals(attempts.length, 1);
    await clock.advance(1);
    assertEquals(attempts[1], { version: 3, priority: 0, at: 400 });
  });

  Deno.test(`fold, ${name}: after forget, an add is ready at once`, async () => {
    const { queue, attempts, finish, counts, add } = setUp();
    add(1);
    await finish(down());
    queue.forget({ id: "a", version: 1 });
    assertEquals(counts(), [0, 1, 0]);
    add(2);
    await flush();
    assertEquals([attempts.length, counts()], [2, [0, 0, 1]]);
  });

  Deno.test(`fold, ${name}: cancelDelayed cancels the folded add, too`, async () => {
    const { clock, queue, attempts, finish, counts, add } = setUp();
    add(1);
    await finish(down());
    add(2);
    assert(queue.cancelDelayed({ id: "a", version: 1 }));
    await clock.advance(2000);
    assertEquals([attempts.length, counts()], [1, [0, 0, 0]]);
    add(3);
    await flush();
    assertEquals(attempts.length, 2);
  });

  Deno.test(`fold, ${name}: once the retry is due, an add is an ordinary add`, async () => {
    const { clock, attempts, finish, counts, add, pool } = setUp();
    add(1);
    await finish(down());
    pool.pause();
    await clock.advance(1000);
    add(2);
    assertEquals(counts(), [1, 0, 0]);
    pool.resume();
    await flush();
    add(3);
    await finish();
    assertEquals(attempts.map(({ version }) => version), [1, 2, 3]);
  });

  for (const how of ["a drain that drops", "a shutdown", "an aborted drain"]) {
    Deno.test(`rule 6, fold, ${name}: ${how} makes keys that were added ready, and drops other retries`, async () => {
      const dropped: Event[] = [];
      const { clock, queue, attempts, finish, counts, add } = setUp({ onDrop: (item) => void dropped.push(item) });
      for (const id of ["a", "b"]) {
        queue.add({ id, version: 1 });
        await finish(down());
      }
      add(2);
      queue.addAfter({ id: "c", version: 1 }, 10);
      const controller = new AbortController();
      if (how === "a drain that drops") void queue.shutDownWithDrain();
      else if (how === "a shutdown") queue.shutDown();
      else {
        queue.shutDownWithDrain({ delayed: "wait", signal: controller.signal }).catch(() => {});
        controller.abort();
      }
      await finish();
      assertEquals(attempts.map(({ version }) => version), [1, 1, 2]);
      assertEquals(dropped.map(({ id }) => id).toSorted(), ["b", "c"]);
      assertEquals([counts(), clock.timers], [[0, 0, 0], 0]);
    });
  }

  for (const delayed of ["flush", "wait"] as const) {
    Deno.test(`rule 6, fold, ${name}: a drain with "${delayed}" processes the newest item of a failing key`, async () => {
      const { clock, queue, attempts, finish, counts, add } = setUp();
      add(1);
      await flush();
      add(2);
      const drained = queue.shutDownWithDrain({ delayed });
      await finish(down());
      assertEquals(counts(), [0, 1, 0]);
      await clock.advance(1000);
      await finish();
      await drained;
      assertEquals(attempts.map(({ version }) => version), [1, 2]);
    });
  }
}

Deno.test("fold: if the discipline refuses a key with a folded add during a drain, the key is ready nevertheless", async () => {
  using _console = new Console();
  const clock = new HandClock();
  const discipline = new HighestFirst<string>();
  const queue = createRateLimitingQueue<string>(limiter() as never, { clock, addWhileDelayed: "fold", discipline });
  let isDown = true;
  const seen: string[] = [];
  const pool = runWorkers(queue, (key) => {
    seen.push(key);
    if (isDown) throw new Error("down");
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  queue.add("a");
  isDown = false;
  const push = discipline.push.bind(discipline);
  discipline.push = () => {
    throw new Error("full");
  };
  const drained = queue.shutDownWithDrain();
  discipline.push = push;
  await flush();
  await drained;
  assertEquals(seen, ["a", "a"]);
  await pool.stop();
});

Deno.test("fold: the work of a shutdown grows with the number of added keys, not of delayed keys", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter() as never, { clock, addWhileDelayed: "fold" });
  const keys = Array.from({ length: 1000 }, (_, i) => `key ${i}`);
  for (const key of keys) queue.add(key);
  const pool = runWorkers(queue, () => Promise.reject(down()), { clock, onError() {} });
  await flush();
  await pool.stop();
  assertEquals(queue.delayed, 1000);
  const added = ["key 700", "key 20", "key 333"];
  for (const key of added) queue.add(key);
  let moves = 0;
  const { add, shift, delete: remove } = RecordHeap.prototype;
  for (const [name, method] of Object.entries({ add, shift, delete: remove })) {
    Object.assign(RecordHeap.prototype, {
      [name](...args: never[]) {
        moves++;
        return (method as (...args: never[]) => unknown).apply(this, args);
      },
    });
  }
  try {
    queue.shutDown();
  } finally {
    Object.assign(RecordHeap.prototype, { add, shift, delete: remove });
  }
  assert(moves <= 4 * added.length, `${moves} changes of heaps`);
  assertEquals(takeAll(queue), ["key 20", "key 333", "key 700"], "in the order of their deadlines");
});

Deno.test("fold: without keyOf, an add during and after the attempt is folded", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter() as never, { clock, addWhileDelayed: "fold" });
  let attempts = 0;
  const pool = runWorkers(queue, (key) => {
    attempts++;
    queue.add(key, { priority: 3 });
    if (attempts < 3) throw new Error("down");
    queue.shutDown();
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  queue.add("a", { priority: 1 });
  assertEquals(queue.snapshot().delayedItems, [{ item: "a", priority: 3, dueInMs: 1000 }]);
  await clock.advance(3000);
  assertEquals(attempts, 4, "after the success, the key was ready once more");
  await pool.stop();
});

Deno.test("fold: the depth does not count an add that was folded", async () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createRateLimitingQueue<string>(limiter() as never, {
    clock,
    addWhileDelayed: "fold",
    name: "q",
    metrics,
    priorityLevels: { high: 5 },
  });
  const pool = runWorkers(queue, (key) => {
    queue.add(key, { priority: 5 });
    assertEquals(metrics.value("workqueue_depth", "q"), 1);
    throw new Error("down");
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  const value = (name: string, ...labels: string[]) => metrics.value(`workqueue_${name}`, "q", ...labels);
  assertEquals([value("depth"), value("depth_by_priority", "high"), value("delayed")], [0, 0, 1]);
  await clock.advance(999);
  assertEquals([value("depth"), value("depth_by_priority", "high"), value("delayed")], [0, 0, 1]);
  await pool.stop();
  queue.shutDown();
});

Deno.test("fold: with events, the attempts during an outage are the same as without them", async () => {
  const load = fc.record({
    ignoring: fc.boolean(),
    baseDelay: fc.constantFrom(5, 100, 1000, 100_000),
    interval: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 30_000 })),
    lasts: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3000 })),
    duration: fc.integer({ min: 1000, max: 60_000 }),
  });
  await fc.assert(
    fc.asyncProperty(load, async ({ ignoring, baseDelay, ...rest }) => {
      const backoff = { type: "exponential", baseDelay, maxDelay: "1000s" } as const;
      const limiter = ignoring ? { type: "ignore-early", limiter: backoff } as const : backoff;
      const outage: Outage = { ...rest, limiter, addWhileDelayed: "fold", hasLaterEvents: true };
      const without = await courseOf({ ...outage, interval: Infinity });
      assertEquals((await courseOf(outage)).attempts, without.attempts);
    }),
    { seed: 1, numRuns: 30 }, // planted bugs were found within 3 runs
  );
});

Deno.test("fold: one attempt in a backoff of 100 s, despite an event during each attempt of 50 ms", async () => {
  const limiter = { type: "exponential", baseDelay: "100s", maxDelay: "100s" } as const;
  const { attempts } = await courseOf({
    limiter,
    addWhileDelayed: "fold",
    duration: 1000,
    interval: 20,
    hasLaterEvents: true,
    lasts: 50,
  });
  assertEquals(attempts.slice(0, 2), [0, 100_050]);
});
