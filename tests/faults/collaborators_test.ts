/**
 * Tests of metrics providers, disciplines, `keyOf` functions and limiters that throw. The tests check which caller
 * receives the error, and the queue's state afterwards.
 */

import { assert, assertEquals, assertFalse, assertMatch, assertRejects, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDelayingQueue,
  createExponentialLimiter,
  createGivenUpStore,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  loadConfig,
  type RateLimiter,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
} from "@workqueue/core";
import { Console, HandClock } from "../helpers.ts";
import { flush, isSettled, Lifo, outcome, sourceOf, take, takeAll, withoutNext } from "../queue_helpers.ts";
import { HookedAges, HookedDiscipline, HookedKeys, HookedMetrics, type Keyed } from "./hooks.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 });

function measured(options: RateLimitingQueueOptions<string> = {}) {
  const metrics = new HookedMetrics();
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "q", metrics, clock, ...options });
  return { queue, hooks: metrics.hooks, clock };
}

function disciplined() {
  const discipline = new HookedDiscipline<string>();
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  return {
    queue: createRateLimitingQueue<string>(limiter(), { name: "q", discipline, clock, metrics }),
    discipline,
    hooks: discipline.hooks,
    clock,
    metrics,
  };
}

function keyed(options: RateLimitingQueueOptions<Keyed> = {}) {
  const keys = new HookedKeys();
  const queue = createRateLimitingQueue<Keyed>(limiter(), { keyOf: keys.keyOf, clock: new HandClock(), ...options });
  return { queue, keys, hooks: keys.hooks };
}

/** Checks that the queue works: each item is handed out once, and a drain ends. */
async function assertUsable(queue: RateLimitingQueue<string>): Promise<void> {
  for (const item of ["x", "y", "x"]) queue.add(item);
  assertEquals(takeAll(queue).filter((item) => item > "w").sort(), ["x", "y"]);
  const waiter = queue.get();
  queue.add("z");
  using lease = await waiter;
  assertEquals(lease.item, "z");
  queue.add("z");
  lease[Symbol.dispose]();
  assertEquals(takeAll(queue), ["z"]);
  assert(await isSettled(queue.shutDownWithDrain()));
}

for (const call of ["depth.dec", "queueLatency.observe"] as const) {
  for (const throws of [false, true]) {
    const ends = throws ? ", and throws" : "";

    Deno.test(`${call} that finishes the item it gets and adds it again${ends}: it is there once`, async () => {
      using _console = new Console();
      const { queue, hooks } = measured();
      for (const item of ["a", "b"]) queue.add(item);
      hooks.once(call, () => {
        queue.done("a");
        queue.add("a");
        if (throws) throw new Error(`${call} is broken`);
      });
      using stale = take(queue);
      assertEquals([stale.item, queue.length, takeAll(queue)], ["a", 2, ["b", "a"]]);
      await assertUsable(queue);
    });

    Deno.test(`${call} that aborts the call being served${ends} comes too late: the item was handed out`, async () => {
      using _console = new Console();
      const { queue, hooks } = measured();
      const controller = new AbortController();
      const waiters = [queue.get({ signal: controller.signal }), queue.get()];
      hooks.once(call, () => {
        controller.abort();
        if (throws) throw new Error(`${call} is broken`);
      });
      queue.add("a");
      queue.add("b");
      assertEquals([await outcome(waiters[0]!), await outcome(waiters[1]!)], ["a", "b"]);
      queue.done("a");
      queue.done("b");
      await assertUsable(queue);
    });
  }
}

for (const call of ["unfinishedWork.set", "longestRunningProcessor.set"] as const) {
  Deno.test(`${call} that throws: the metrics of work in progress continue`, async () => {
    using _console = new Console();
    const { queue, hooks, clock } = measured();
    queue.add("a");
    const lease = take(queue);
    hooks.throwOnce(call);
    await clock.advance(500);
    let calls = 0;
    hooks.always(call, () => calls++);
    await clock.advance(1000);
    assertEquals(calls, 2);
    lease[Symbol.dispose]();
    await clock.advance(1000);
    assertEquals([calls, clock.timers], [3, 0]);
  });
}

Deno.test("oldestReady that throws: the metric continues", async () => {
  using _console = new Console();
  const metrics = new HookedAges();
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "q", metrics, clock });
  queue.add("a");
  metrics.hooks.throwOnce("oldestReady.set");
  await clock.advance(500);
  let calls = 0;
  metrics.hooks.always("oldestReady.set", () => calls++);
  await clock.advance(1000);
  assertEquals(calls, 2);
  takeAll(queue);
  await clock.advance(1000);
  assertEquals([calls, clock.timers], [3, 0]);
  await assertUsable(queue);
});

Deno.test("a clock that adds and finishes the item during a reading: the queue holds only real items", async () => {
  const { queue, clock } = measured();
  queue.add("a");
  const script = [
    () => {
      queue.add("a");
      queue.done("a");
    },
    () => {},
    () => queue.add("a"),
  ];
  const { now } = clock;
  clock.now = () => {
    script.shift()?.();
    return now.call(clock);
  };
  queue.tryGet();
  assertEquals(takeAll(queue), ["a"]);
  await assertUsable(queue);
});

Deno.test("a metrics provider that can't create a metric: no queue is created", () => {
  for (const metric of Object.keys(new HookedMetrics()).filter((name) => name !== "hooks")) {
    const metrics = Object.assign(new HookedMetrics(), {
      [metric]() {
        throw new Error(`no ${metric}`);
      },
    });
    assertThrows(() => createRateLimitingQueue(limiter(), { name: "q", metrics }), Error, `no ${metric}`);
    const config = loadConfig({ queues: { q: {} } }, { metrics, clock: new HandClock() });
    assertThrows(() => config.queue("q"), Error, `no ${metric}`);
  }
});

Deno.test("a discipline whose push throws: nothing was added, add throws, and adding again works", async () => {
  const { queue, hooks } = disciplined();
  hooks.throwOnce("push");
  assertThrows(() => queue.add("a"), Error, "push is broken");
  assertEquals([queue.length, queue.tryGet()], [0, undefined]);
  const waiter = queue.get();
  hooks.throwOnce("push");
  assertThrows(() => queue.add("a"), Error, "push is broken");
  assertFalse(await isSettled(waiter));
  queue.add("a");
  assertEquals(await outcome(waiter), "a");
  queue.done("a");
  await assertUsable(queue);
});

Deno.test("a discipline that keeps an entry although its push throws: the item is not handed out", () => {
  const discipline = new Lifo<string>();
  const queue = createWorkQueue<string>({ discipline });
  const { entries } = discipline;
  discipline.push = (entry) => {
    entries.push(entry);
    throw new Error("push is broken");
  };
  assertThrows(() => queue.add("a"), Error, "push is broken");
  assertThrows(() => queue.tryGet(), Error, "returned no ready item");
  assertEquals(queue.processing, 0);
});

for (const call of ["push", "done"] as const) {
  Deno.test(`rule 11: a discipline whose ${call} throws when an item comes back: done throws, and the item is ready`, async () => {
    for (const draining of [false, true]) {
      const { queue, hooks } = disciplined();
      queue.add("a");
      const lease = take(queue);
      queue.add("a", { priority: 5 });
      const drained = draining ? queue.shutDownWithDrain() : undefined;
      hooks.throwOnce(call);
      assertThrows(() => lease[Symbol.dispose](), Error, `${call} is broken`);
      assertEquals([queue.length, queue.processing], [1, 0]);
      assertEquals(queue.snapshot().readyItems, [{ item: "a", priority: 5 }]);
      using again = take(queue);
      assertEquals([again.item, again.priority, queue.length], ["a", 5, 0]);
      again[Symbol.dispose]();
      if (drained !== undefined) assert(await isSettled(drained));
      else await assertUsable(queue);
    }
  });
}

Deno.test("rule 11: items that a discipline refused go before its own items, first in, first out, in snapshots as well", async () => {
  const { queue, discipline, hooks, metrics } = disciplined();
  for (const item of ["a", "b", "c"]) queue.add(item);
  const leases = Array.from({ length: 3 }, () => take(queue));
  for (const item of ["ready", "a", "b", "c"]) queue.add(item);
  const waiter = queue.whenBelow(1);
  for (const lease of leases) {
    hooks.throwOnce("push");
    assertThrows(() => lease[Symbol.dispose](), Error, "push is broken");
  }
  hooks.always("touch", () => {
    throw new Error("the discipline does not have it");
  });
  queue.add("b", { priority: 7 });
  const order = [["a", 0], ["b", 7], ["c", 0], ["ready", 0]] as const;
  for (const limit of [1, 2, 100]) {
    const expected = order.slice(0, limit).map(([item, priority]) => ({ item, priority }));
    assertEquals(queue.snapshot({ limit }).readyItems, expected);
  }
  assertEquals([queue.length, metrics.value("workqueue_depth", "q")], [4, 4]);
  assertFalse(await isSettled(waiter));
  assertEquals(discipline.ended, ["a", "b", "c"]);
  assertEquals(takeAll(queue), order.map(([item]) => item));
  assertEquals(discipline.ended, ["a", "b", "c", "ready"], "done is called once for each entry that pop gave out");
  assertEquals(metrics.value("workqueue_depth", "q"), 0);
  await waiter;
  hooks.always("touch", () => {});
  await assertUsable(queue);
});

Deno.test("rule 2: a discipline hands out an item as it comes back and then throws: the item has one holder", async () => {
  const { queue, discipline, clock, metrics } = disciplined();
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  const { push } = discipline;
  discipline.push = (entry) => {
    discipline.push = push;
    push.call(discipline, entry);
    queue.tryGet();
    throw new Error("push is broken");
  };
  assertThrows(() => lease[Symbol.dispose](), Error, "push is broken");
  assertEquals([queue.length, queue.processing], [0, 1]);
  queue.done("a");
  await clock.advance(1000);
  assertEquals(metrics.value("workqueue_oldest_ready_seconds", "q"), 0);
  await assertUsable(queue);
});

Deno.test("a discipline has another item handed out and then throws: nothing was added, and adding again works", async () => {
  const discipline = new HookedDiscipline<string>();
  const queue = createWorkQueue<string>({ discipline });
  queue.add("a");
  discipline.hooks.once("push", () => {
    take(queue)[Symbol.dispose]();
    throw new Error("push is broken");
  });
  assertThrows(() => queue.add("b"), Error, "push is broken");
  assertEquals(queue.snapshot().blocked, 0);
  await queue.whenIdle();
  queue.add("b");
  assertEquals(takeAll(queue), ["b"]);
});

Deno.test("a discipline that has an item handed out and added again, and then throws: the newer item is handed out", () => {
  const discipline = new HookedDiscipline<{ key: string; version: number }>();
  const queue = createWorkQueue({ keyOf: ({ key }: { key: string }) => key, discipline });
  const { push } = discipline;
  discipline.push = (entry) => {
    discipline.push = push;
    push.call(discipline, entry);
    queue.tryGet();
    queue.add({ key: "a", version: 2 });
    throw new Error("push is broken");
  };
  assertThrows(() => queue.add({ key: "a", version: 1 }), Error, "push is broken");
  assertEquals([queue.length, queue.processing], [0, 1]);
  queue.done({ key: "a", version: 1 });
  assertEquals(takeAll(queue), [{ key: "a", version: 2 }]);
});

for (const [name, other] of [["another key", "b"], ["the key again", "a"]] as const) {
  Deno.test(`a discipline that cancels a key whose add ends its delay, and delays ${name}: none is lost`, () => {
    const clock = new HandClock();
    const discipline = new Lifo<string>();
    const queue = createRateLimitingQueue(limiter(), { clock, discipline, addWhileDelayed: "replace" });
    const { push } = discipline;
    discipline.push = (entry) => {
      push.call(discipline, entry);
      queue.cancel("a");
      queue.addAfter(other, 10);
    };
    queue.addAfter("a", 1000);
    queue.add("a");
    assertEquals(queue.snapshot().delayedItems, [{ item: other, priority: 0, dueInMs: 10 }]);
    queue.cancel(other);
    assertEquals([queue.length, queue.delayed, clock.timers], [0, 0, 0]);
  });
}

Deno.test("a discipline that delays the key which is cancelled: this is cancelled too, and later adds count", () => {
  const clock = new HandClock();
  class Delaying extends Lifo<string> {
    remove(): void {
      this.pop();
      queue.addAfter("a", 10);
    }
  }
  const queue = createRateLimitingQueue<string>(limiter(), { clock, discipline: new Delaying() });
  queue.add("a");
  assertEquals([queue.cancel("a"), queue.length, queue.delayed, clock.timers], ["ready", 0, 0, 0]);
  for (const item of ["x", "y", "a"]) queue.add(item);
  assertEquals(takeAll(queue), ["a", "y", "x"]);
});

Deno.test("a discipline whose done adds the key that comes back: the newest item and the highest priority are handed out", () => {
  const discipline = new HookedDiscipline<{ key: string; version: number }>();
  const metrics = new InMemoryMetrics();
  const keyOf = ({ key }: { key: string }) => key;
  const queue = createWorkQueue({ name: "q", keyOf, discipline, clock: new HandClock(), metrics });
  queue.add({ key: "a", version: 1 });
  const lease = take(queue);
  queue.add({ key: "a", version: 2 }, { priority: 5 });
  discipline.hooks.once("done", () => queue.add({ key: "a", version: 3 }, { priority: 2 }));
  lease[Symbol.dispose]();
  using newest = take(queue);
  assertEquals([newest.item.version, newest.priority, queue.length], [3, 5, 0]);
  assertEquals(metrics.value("workqueue_adds_total", "q"), 2);
  assertEquals(metrics.value("workqueue_depth", "q"), 0);
});

Deno.test("rule 4: a discipline whose done finishes the same item: the second finish changes nothing", async () => {
  for (const finish of ["done", "dispose"] as const) {
    const { queue, hooks } = disciplined();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    hooks.once("done", () => finish === "done" ? queue.done("a") : lease[Symbol.dispose]());
    queue.done("a");
    assertEquals([queue.length, queue.processing, takeAll(queue)], [1, 0, ["a"]]);
    await assertUsable(queue);
  }
});

Deno.test("if a discipline refuses an item that was added again, the item counts as ready from the end of its attempt", async () => {
  const { queue, hooks, clock, metrics } = disciplined();
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  clock.time = 3000;
  hooks.throwOnce("push");
  assertThrows(() => lease[Symbol.dispose](), Error, "push is broken");
  await clock.advance(1000);
  assertEquals(metrics.value("workqueue_oldest_ready_seconds", "q"), 1);
  take(queue);
  assertEquals(metrics.value("workqueue_queue_duration_seconds", "q"), 4, "in sum, from the adds on");
});

/** Ways in which a discipline can fail to return an item, each with the expected message. */
const badPops: [name: string, arm: (discipline: HookedDiscipline<string>) => void, message: string][] = [
  ["throws", (discipline) => discipline.hooks.throwOnce("pop"), "pop is broken"],
  [
    "gives a stranger",
    (discipline) => discipline.stranger = { entry: { key: "?", item: "?", priority: 0, readyAt: 0 } },
    "returned no ready item",
  ],
  [
    "gives a copy of an entry",
    (discipline) => discipline.stranger = { entry: { ...discipline.pushed.at(-1)! } },
    "returned no ready item",
  ],
  [
    "gives a processing item",
    (discipline) => discipline.stranger = { entry: discipline.pushed[0] },
    "returned no ready item",
  ],
  [
    "gives what is no entry",
    (discipline) => discipline.stranger = { entry: "a" as never },
    "returned no ready item",
  ],
  ["gives nothing", (discipline) => discipline.stranger = { entry: undefined }, "returned no ready item"],
  ["gives null", (discipline) => discipline.stranger = { entry: null as never }, "returned no ready item"],
];

for (const [name, arm, message] of badPops) {
  const faulty = () => {
    const made = disciplined();
    made.queue.add("processing");
    const lease = take(made.queue);
    return { ...made, lease, arm: () => arm(made.discipline), mend: () => made.discipline.stranger = undefined };
  };

  Deno.test(`a discipline whose pop ${name}: tryGet throws, nothing is lost, and the next try works`, async () => {
    const { queue, arm, mend, lease } = faulty();
    for (const item of ["a", "b"]) queue.add(item);
    arm();
    assertThrows(() => queue.tryGet(), Error, message);
    mend();
    assertEquals([queue.length, takeAll(queue)], [2, ["a", "b"]]);
    lease[Symbol.dispose]();
    await assertUsable(queue);
  });

  Deno.test(`a discipline whose pop ${name}: get rejects, and the next get works`, async () => {
    const { queue, arm, mend, lease } = faulty();
    queue.add("a");
    arm();
    await assertRejects(() => queue.get(), Error, message);
    mend();
    assertEquals(await outcome(queue.get()), "a");
    queue.done("a");
    lease[Symbol.dispose]();
    await assertUsable(queue);
  });

  Deno.test(`a discipline whose pop ${name}: a waiting get rejects, and add is not affected`, async () => {
    const { queue, arm, mend, lease } = faulty();
    const rejected = assertRejects(() => queue.get(), Error, message);
    arm();
    queue.add("a");
    await rejected;
    mend();
    assertEquals(takeAll(queue), ["a"]);
    lease[Symbol.dispose]();
    await assertUsable(queue);
  });
}

Deno.test("a discipline whose touch throws: add throws, and the item is ready once", async () => {
  const { queue, hooks } = disciplined();
  queue.add("a");
  hooks.throwOnce("touch");
  assertThrows(() => queue.add("a"), Error, "touch is broken");
  assertEquals(takeAll(queue), ["a"]);
  await assertUsable(queue);
});

Deno.test("rule 11: a discipline that throws when a delay ends: all due items are ready, with one console line per second", async () => {
  using console = new Console();
  const { queue, hooks, clock, metrics } = disciplined();
  for (const item of ["a", "b", "c"]) queue.addAfter(item, 10, { priority: item === "b" ? 5 : 0 });
  queue.addAfter("d", 2000);
  hooks.always("push", () => {
    throw new Error("push is broken");
  });
  const waiter = queue.get();
  await clock.advance(10);
  assertEquals([await outcome(waiter), queue.length, queue.delayed], ["a", 2, 1]);
  assertEquals(queue.snapshot().readyItems, [{ item: "b", priority: 5 }, { item: "c", priority: 0 }]);
  assertEquals(metrics.value("workqueue_depth", "q"), 2);
  assertEquals(console.lines.length, 1);
  assertMatch(
    console.lines[0]!,
    /^Delayed item "a" of queue "q" is ready, but its add failed: Error: push is broken at .*collaborators_test.ts:\d+/,
  );
  await clock.advance(1990);
  assertEquals(console.lines.length, 2);
  assertMatch(console.lines[1]!, /^Delayed item "d" .*\(2 earlier errors omitted\)$/);
  hooks.always("push", () => {});
  queue.done("a");
  assertEquals(takeAll(queue), ["b", "c", "d"]);
  await assertUsable(queue);
});

Deno.test("rule 11: a discipline and a console that throw when a delay ends: the item is ready", async () => {
  using console = new Console(() => {
    throw new Error("the console is broken");
  });
  const { queue, hooks, clock } = disciplined();
  queue.addAfter("a", 10);
  hooks.throwOnce("push");
  await clock.advance(10);
  assertEquals([takeAll(queue), console.lines.length], [["a"], 1]);
});

Deno.test("rule 11: a discipline whose touch throws when a delay ends: the newer item is handed out", async () => {
  using console = new Console();
  const discipline = new HookedDiscipline<{ key: string; version: number }>();
  const clock = new HandClock();
  const queue = createDelayingQueue({ keyOf: ({ key }: { key: string }) => key, discipline, clock });
  queue.add({ key: "a", version: 1 });
  queue.addAfter({ key: "a", version: 2 }, 10);
  discipline.hooks.throwOnce("touch");
  await clock.advance(10);
  assertEquals(console.lines.length, 1);
  assertEquals(takeAll(queue), [{ key: "a", version: 2 }]);
  assertEquals(queue.delayed, 0);
});

Deno.test("a discipline that throws at each of thousands of adds while a drain flushes: none is lost, and the drain rejects", async () => {
  const { queue, hooks, clock } = disciplined();
  const items = 30_000;
  for (let i = 0; i < items; i++) queue.addAfter(`${i}`, 10);
  let pushes = 0;
  hooks.always("push", () => {
    if (pushes++ < items) throw new Error("push is broken");
  });
  const rejected = assertRejects(() => queue.shutDownWithDrain({ delayed: "flush" }), Error, "push is broken");
  assertEquals([pushes, queue.length, queue.delayed], [items, items, 0], "each item is tried once");
  assertEquals(takeAll(queue).length, items);
  await rejected;
  assertEquals([queue.delayed, clock.timers], [0, 0]);
  assertEquals((await queue.get()).shutdown, true);
});

Deno.test("keyOf that throws: every call that needs it throws, and nothing changes", async () => {
  const calls: ((queue: RateLimitingQueue<Keyed>, item: Keyed) => unknown)[] = [
    (queue, item) => queue.add(item),
    (queue, item) => queue.addAfter(item, 10),
    (queue, item) => queue.addAfter(item, 0),
    (queue, item) => queue.addRateLimited(item),
    (queue, item) => queue.forget(item),
    (queue, item) => queue.numRequeues(item),
    (queue, item) => queue.done(item),
  ];
  for (const call of calls) {
    const { queue, hooks } = keyed();
    const [processing, ready, delayed] = ["processing", "ready", "delayed"].map((key) => ({ key })) as [
      Keyed,
      Keyed,
      Keyed,
    ];
    queue.add(processing);
    const lease = take(queue);
    queue.add(ready);
    queue.addRateLimited(delayed);
    const state = () => [queue.length, queue.delayed, queue.numRequeues(delayed), queue.numRequeues({ key: "new" })];
    const before = state();
    for (const item of [processing, ready, delayed, { key: "new" }]) {
      hooks.throwOnce("keyOf");
      assertThrows(() => call(queue, item), Error, "keyOf is broken");
      assertEquals(state(), before);
    }
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), [ready]);
    assert(await isSettled(queue.shutDownWithDrain()));
  }
});

Deno.test("keyOf that throws in any of its calls leaves at most one entry per key, and adding again works", () => {
  for (const add of ["add", "addAfter", "addRateLimited"] as const) {
    for (let broken = 1;; broken++) {
      const { queue, keys, hooks } = keyed();
      const item = { key: "a" };
      queue.addAfter({ key: "a" }, 10); // with an item delayed, `add` also has to search the delayed items
      keys.calls = 0;
      hooks.always("keyOf", () => {
        if (keys.calls === broken) throw new Error("keyOf is broken");
      });
      const act = () => add === "addAfter" ? queue.addAfter(item, 5) : queue[add](item);
      if (keysNeeded(act, keys) < broken) break;
      hooks.always("keyOf", () => {});
      assert(queue.length <= 1 && queue.delayed <= 1);
      queue.add(item);
      assertEquals([takeAll(queue), queue.length], [[item], 0]);
    }
  }
});

/** Runs the action, which may throw. Returns how many times `keyOf` was called. */
function keysNeeded(action: () => void, keys: HookedKeys): number {
  try {
    action();
  } catch (error) {
    assertEquals(String(error), "Error: keyOf is broken");
  }
  return keys.calls;
}

Deno.test("keyOf is not called while a discipline's item is handed out", () => {
  const { queue, keys } = keyed({ discipline: new HookedDiscipline<Keyed>() });
  for (const key of ["a", "b"]) queue.add({ key });
  const { calls } = keys;
  assertEquals(queue.tryGet()?.item, { key: "a" });
  assertEquals(keys.calls, calls);
});

Deno.test("rule 11: keyOf is called once for each add, however many layers, delays and attempts there are", async () => {
  for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
    for (const add of ["add", "addAfter", "addAfter 0", "addRateLimited"] as const) {
      for (const attempts of [1, 3]) {
        const clock = new HandClock();
        const { queue, keys } = keyed({ clock, addWhileDelayed });
        queue.addAfter({ key: "delayed" }, 10_000);
        const pool = runWorkers(queue, ({ key }, { attempt }) => {
          if (key === "a" && attempt < attempts) throw new Error("no");
        }, { onError() {} });
        keys.calls = 0;
        if (add === "addAfter 0") queue.addAfter({ key: "a" }, 0);
        else if (add === "addAfter") queue.addAfter({ key: "a" }, 10);
        else queue[add]({ key: "a" });
        await flush();
        await clock.advance(1000);
        assertEquals([queue.delayed, queue.processing, keys.calls], [1, 0, 1], `${addWhileDelayed}, ${add}`);
        await pool.stop();
      }
    }
  }
});

Deno.test("rule 11: keyOf that throws once, at any call, loses no item that was added", async () => {
  using _console = new Console();
  for (let broken = 1;; broken++) {
    const clock = new HandClock();
    const discipline = new HookedDiscipline<Keyed>();
    const { queue, keys, hooks } = keyed({ clock, discipline });
    hooks.always("keyOf", () => {
      if (keys.calls === broken) throw new Error("keyOf is broken");
    });
    const expected = new Map<string, number>();
    const seen = new Map<string, number>();
    const errors: string[] = [];
    const pool = runWorkers(queue, async ({ key }, { attempt }) => {
      await undefined;
      seen.set(key, attempt);
      if (key === "fails" && attempt < 3) throw new Error("no");
      if (key === "again" && attempt < 3) return { requeue: true };
    }, { onError: (error) => errors.push(String(error)), onGiveUp: () => errors.push("given up") });
    const add = (key: string, attempts: number, action: (item: Keyed) => void) => {
      try {
        action({ key });
        expected.set(key, attempts);
      } catch (error) {
        assertEquals(String(error), "Error: keyOf is broken");
      }
    };
    add("now", 1, (item) => queue.add(item));
    add("later", 1, (item) => queue.addAfter(item, 10));
    add("limited", 2, (item) => queue.addRateLimited(item));
    add("fails", 3, (item) => queue.add(item));
    add("again", 3, (item) => queue.add(item));
    discipline.hooks.throwOnce("push"); // the call that throws adds an item again, or adds an item that is due
    await flush();
    for (let i = 0; i < 2; i++) await clock.advance(5000);
    await queue.shutDownWithDrain();
    await pool.finished;
    assertEquals([...seen].sort(), [...expected].sort(), `call ${broken}`);
    assertEquals(new Set(errors), new Set(expected.has("fails") ? ["Error: no"] : []));
    if (expected.size === 5) break;
  }
});

/** Creates a limiter as users write them, with one method that throws on its first call. */
function limiterThatThrows(method: "when" | "forget" | "numRequeues"): RateLimiter<string> {
  const whole = withoutNext(limiter());
  let isBroken = true;
  const breaking = (item: string, key?: unknown) => {
    if (!isBroken) return whole[method](item, key) as never;
    isBroken = false;
    throw new Error(`${method} is broken`);
  };
  return { ...whole, [method]: breaking };
}

/** Functions that return a limiter unchanged or wrapped in other limiters. */
const wrappings: ((limiter: RateLimiter<string>) => RateLimiter<string>)[] = [
  (limiter) => limiter,
  (limiter) => createMaxOfLimiter<string>(createBucketLimiter({ rate: 1, burst: 1, clock: new HandClock() }), limiter),
  (limiter) => createMaxWaitLimiter(limiter, 50),
];

Deno.test("a limiter that throws: the call that asked it throws the error, and the queue continues", async () => {
  for (const [i, wrap] of wrappings.entries()) {
    for (
      const [method, call] of [
        ["when", "addRateLimited"],
        ["forget", "forget"],
        ["numRequeues", "numRequeues"],
      ] as const
    ) {
      const clock = new HandClock();
      const queue = createRateLimitingQueue<string>(wrap(limiterThatThrows(method)), { clock });
      if (method === "numRequeues" && i > 0) {
        assertEquals(queue.numRequeues("a"), 0); // the queue counts itself, and doesn't ask
        continue;
      }
      assertThrows(() => queue[call]("a"), Error, `${method} is broken`);
      assertEquals([queue.length, queue.delayed], [0, 0]);
      queue[call]("a");
      await clock.advance(1000);
      assertEquals(takeAll(queue).includes("a"), method === "when");
      await assertUsable(queue);
    }
  }
});

/** Answers of `next` that are errors. */
const BROKEN_NEXT: Readonly<Record<string, [message: string, next: () => number]>> = {
  "throws": ["next is broken", () => {
    throw new Error("next is broken");
  }],
  "returns NaN": [
    "Cannot add item: 'next' of the limiter must return a finite number of milliseconds, got NaN",
    () => NaN,
  ],
  "returns Infinity": [
    "Cannot add item: 'next' of the limiter must return a finite number of milliseconds, got Infinity",
    () => Infinity,
  ],
  "returns a text": [
    `Cannot add item: 'next' of the limiter must return a finite number of milliseconds, got "1s"`,
    () => "1s" as never,
  ],
};

for (const [name, [message, broken]] of Object.entries(BROKEN_NEXT)) {
  /** Creates a limiter with a `next` that is broken while `state.isBroken`. */
  const breaking = () => {
    const whole = limiter();
    const state = { isBroken: true };
    const numbers: number[] = [];
    const next: NonNullable<RateLimiter<string>["next"]> = (failures, ...rest) => {
      numbers.push(failures);
      return state.isBroken ? broken() : whole.next!(failures, ...rest);
    };
    return { state, numbers, limiter: { ...withoutNext(whole), next } };
  };

  Deno.test(`a limiter whose next ${name}: addRateLimited throws, and nothing is counted or added`, async () => {
    for (const wrap of wrappings) {
      const { state, numbers, limiter } = breaking();
      const clock = new HandClock();
      const wrapped = wrap(limiter);
      const queue = createRateLimitingQueue<string>(wrapped, { clock });
      if (name === "returns a text" && wrapped !== limiter) continue; // a combining limiter turns it into a number
      if (name === "returns Infinity" && wrap === wrappings[2]) continue; // max-wait caps it
      assertThrows(() => queue.addRateLimited("a"), Error, message);
      assertEquals([queue.length, queue.delayed, queue.numRequeues("a")], [0, 0, 0]);
      state.isBroken = false;
      queue.addRateLimited("a");
      assertEquals([queue.numRequeues("a"), numbers], [1, [1, 1]]);
      state.isBroken = true;
      assertThrows(() => queue.addRateLimited("a"), Error, message);
      assertEquals([queue.delayed, queue.numRequeues("a")], [1, 1]);
      state.isBroken = false;
      await clock.advance(1000);
      assertEquals(takeAll(queue), ["a"]);
      queue.forget("a");
      await assertUsable(queue);
    }
  });

  Deno.test(`a limiter whose next ${name}: an item that fails is given up once, with the error`, async () => {
    const { state, numbers, limiter } = breaking();
    state.isBroken = false;
    const queue = createRateLimitingQueue<string>(limiter, {
      clock: new HandClock(),
      keepGivenUp: createGivenUpStore({ max: 5 }),
    });
    const log: string[] = [];
    const pool = runWorkers(queue, () => {
      throw new Error("no");
    }, {
      onError: (error, item) => log.push(`${(error as Error).message} for ${item}`),
      onGiveUp: (error, item, attempts, reason) =>
        log.push(`gave up ${item} after ${attempts}: ${reason}, ${(error as Error).message}`),
    });
    queue.addRateLimited("a");
    queue.cancelDelayed("a"); // otherwise, the item would come again, and would not be kept
    state.isBroken = true;
    queue.add("a");
    await flush();
    assertEquals(log, ["no for a", `${message} for a`, `gave up a after 2: limiter, ${message}`]);
    assertEquals(numbers, [1, 2]);
    assertEquals([queue.numRequeues("a"), queue.processing, sourceOf(queue).failing], [0, 0, 0]);
    assertEquals((await queue.givenUp()).items.map(({ item, attempts }) => [item, attempts]), [["a", 2]]);
    await pool.stop();
    queue.shutDown();
  });
}

Deno.test("a limiter that throws when a cancelled item is forgotten: cancel throws, and the wait for the item ends", async () => {
  const broken = withoutNext<string>(limiter());
  broken.forget = () => {
    throw new Error("forget is broken");
  };
  const queue = createRateLimitingQueue<string>(broken, { clock: new HandClock() });
  const wait = queue.addAndWait("a");
  assertThrows(() => queue.cancel("a"), Error, "forget is broken");
  assertEquals(queue.length, 0);
  const error = await assertRejects(() => wait, Error, "The item was cancelled");
  assertEquals((error as { code?: string }).code, "WQ_CANCELLED");
});

Deno.test("a limiter that throws when a handler asks to requeue: the error is reported, and the item is given up once", async () => {
  const queue = createRateLimitingQueue<string>(
    {
      ...limiterThatThrows("when"),
      when: () => {
        throw new Error("when is broken");
      },
    },
    { clock: new HandClock() },
  );
  const errors: string[] = [];
  const givenUp: string[] = [];
  const pool = runWorkers(queue, (item) => item === "a" ? { requeue: true } : undefined, {
    onError: (error, item) => errors.push(`${error} for ${item}`),
    onGiveUp: (error, item, attempts) => givenUp.push(`${error} for ${item} after ${attempts}`),
  });
  for (const item of ["a", "b"]) queue.add(item);
  await flush();
  await pool.stop();
  assertEquals([...new Set(errors)], ["Error: when is broken for a"]);
  assertEquals(givenUp, ["Error: when is broken for a after 1"]);
});

for (const fails of ["throws", "asks to requeue"] as const) {
  for (const broken of [1, 2]) {
    Deno.test(`rule 11: a delay that fails to begin ${broken} times: an item whose handler ${fails} is retried, counted once`, async () => {
      const clock = new HandClock();
      const queue = createRateLimitingQueue<string>(limiter(), { clock });
      const inside = queue as unknown as { delayItem(...args: unknown[]): void };
      const { delayItem } = inside;
      let calls = 0;
      inside.delayItem = (...args) => {
        if (++calls <= broken) throw new Error("delayItem is broken");
        delayItem.apply(queue, args);
      };
      const log: string[] = [];
      const pool = runWorkers(queue, (item, { attempt, priority }) => {
        log.push(`${item} ${attempt} at ${clock.time}, counted ${queue.numRequeues(item)}, priority ${priority}`);
        if (attempt === 3) return;
        if (fails === "throws") throw new Error("no");
        return { requeue: true };
      }, {
        maxRetries: 3,
        onError: (error) => log.push(String(error)),
        onGiveUp: (_error, item, _attempts, reason) => log.push(`gave up ${item}: ${reason}`),
      });
      queue.add("a", { priority: 5 });
      await flush();
      await clock.advance(2000);
      assertEquals(log.filter((line) => line !== "Error: no"), [
        "a 1 at 0, counted 0, priority 5",
        "Error: delayItem is broken",
        `a 2 at ${broken === 1 ? 1000 : 0}, counted 1, priority 5`,
        `a 3 at ${broken === 1 ? 1200 : 200}, counted 2, priority 5`,
      ]);
      assertEquals([queue.numRequeues("a"), queue.delayed, queue.processing], [0, 0, 0]);
      queue.shutDown();
      await pool.finished;
    });
  }
}
