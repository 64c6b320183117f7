/** A metrics provider, a discipline, a `keyOf` or a limiter that throws: who sees it, and what the queue is like then. */

import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createRateLimitingQueue,
  loadConfig,
  type RateLimiter,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, isSettled, outcome, take, takeAll } from "../queue_helpers.ts";
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
  return {
    queue: createRateLimitingQueue<string>(limiter(), { discipline, clock }),
    discipline,
    hooks: discipline.hooks,
    clock,
  };
}

function keyed(options: RateLimitingQueueOptions<Keyed> = {}) {
  const keys = new HookedKeys();
  const queue = createRateLimitingQueue<Keyed>(limiter(), { keyOf: keys.keyOf, clock: new HandClock(), ...options });
  return { queue, keys, hooks: keys.hooks };
}

/** The queue is as good as new: each item is handed out once, and a drain ends. */
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

for (const call of ["adds.inc", "depth.inc"] as const) {
  Deno.test(`${call} that throws: the item is in the queue all the same, and add throws`, async () => {
    const { queue, hooks } = measured();
    hooks.throwOnce(call);
    assertThrows(() => queue.add("a"), Error, `${call} is broken`);
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws: those who wait are served, and add throws`, async () => {
    const { queue, hooks } = measured();
    const waiters = [queue.get(), queue.get()];
    hooks.throwOnce(call);
    assertThrows(() => queue.add("a"), Error, `${call} is broken`);
    assertEquals(await outcome(waiters[0]!), "a");
    queue.add("b");
    assertEquals(await outcome(waiters[1]!), "b");
    queue.done("a");
    queue.done("b");
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws when a held item is added again: it comes back all the same`, async () => {
    const { queue, hooks } = measured();
    queue.add("a");
    const lease = take(queue);
    hooks.throwOnce(call);
    assertThrows(() => queue.add("a"), Error, `${call} is broken`);
    assertEquals(queue.length, 0);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws when a delay ends: the clock sees it, and nothing that is due is lost`, async () => {
    const { queue, hooks, clock } = measured();
    for (const item of ["a", "b", "c"]) queue.addAfter(item, 10);
    hooks.throwOnce(call);
    await assertRejects(() => clock.advance(10), Error, `${call} is broken`);
    assertEquals(clock.delays.at(-1), 0, "the others that are due are not kept waiting");
    await clock.advance(1);
    assertEquals([takeAll(queue), queue.waiting, clock.timers <= 1], [["a", "b", "c"], 0, true]);
    await assertUsable(queue);
  });
}

for (const call of ["depth.dec", "queueLatency.observe"] as const) {
  Deno.test(`${call} that throws: the item is ready again, at the tail, and tryGet throws`, async () => {
    const { queue, hooks } = measured();
    for (const item of ["a", "b"]) queue.add(item);
    hooks.throwOnce(call);
    assertThrows(() => queue.tryGet(), Error, `${call} is broken`);
    assertEquals([queue.length, takeAll(queue)], [2, ["b", "a"]]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws: get rejects, and nothing is lost`, async () => {
    const { queue, hooks } = measured();
    queue.add("a");
    hooks.throwOnce(call);
    await assertRejects(() => queue.get(), Error, `${call} is broken`);
    assertEquals(await outcome(queue.get()), "a");
    queue.done("a");
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws: get rejects for one who waits, the next is served, and add knows nothing of it`, async () => {
    const { queue, hooks } = measured();
    const waiters = [queue.get(), queue.get()];
    const rejected = assertRejects(() => waiters[0]!, Error, `${call} is broken`);
    hooks.throwOnce(call);
    queue.add("a");
    await rejected;
    assertEquals(await outcome(waiters[1]!), "a");
    queue.done("a");
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws for the only one who waits: the item is there for the next`, async () => {
    const { queue, hooks } = measured();
    const rejected = assertRejects(() => queue.get(), Error, `${call} is broken`);
    hooks.throwOnce(call);
    queue.add("a");
    await rejected;
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws when an item comes back to one who waits: get rejects, and done knows nothing of it`, async () => {
    const { queue, hooks } = measured();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    const rejected = assertRejects(() => queue.get(), Error, `${call} is broken`);
    hooks.throwOnce(call);
    lease[Symbol.dispose]();
    await rejected;
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that finishes the item it is told of, adds it again and throws: it is there once`, async () => {
    const { queue, hooks } = measured();
    for (const item of ["a", "b"]) queue.add(item);
    hooks.once(call, () => {
      queue.done("a");
      queue.add("a");
      throw new Error(`${call} is broken`);
    });
    assertThrows(() => queue.tryGet(), Error, `${call} is broken`);
    assertEquals([queue.length, takeAll(queue)], [2, ["b", "a"]]);
    await assertUsable(queue);
  });

  Deno.test(`${call} that aborts the one who is being served comes too late: the item was handed out`, async () => {
    const { queue, hooks } = measured();
    const controller = new AbortController();
    const waiters = [queue.get({ signal: controller.signal }), queue.get()];
    hooks.once(call, () => controller.abort());
    queue.add("a");
    queue.add("b");
    assertEquals([await outcome(waiters[0]!), await outcome(waiters[1]!)], ["a", "b"]);
    queue.done("a");
    queue.done("b");
    await assertUsable(queue);
  });

  Deno.test(`${call} that throws: for await throws, and the item is there for the next loop`, async () => {
    const { queue, hooks } = measured();
    queue.add("a");
    hooks.throwOnce(call);
    await assertRejects(
      async () => {
        for await (const _ of queue) throw new Error("nothing is handed out");
      },
      Error,
      `${call} is broken`,
    );
    queue.shutDown();
    const seen: string[] = [];
    for await (const item of queue) seen.push(item);
    assertEquals(seen, ["a"]);
  });

  Deno.test(`${call} that throws: the pool's finished rejects, and nothing is lost for the next pool`, async () => {
    for (const wait of [false, true]) {
      const { queue, hooks } = measured();
      const seen: string[] = [];
      if (wait) {
        queue.add("a");
        queue.add("b");
      }
      const pool = runWorkers(queue, (item) => void seen.push(item), { concurrency: 2 });
      const rejected = assertRejects(() => pool.finished, Error, `${call} is broken`);
      hooks.throwOnce(call);
      if (!wait) {
        await flush();
        queue.add("a");
        queue.add("b");
      }
      await rejected;
      runWorkers(queue, (item) => void seen.push(item));
      await queue.shutDownWithDrain();
      assertEquals(seen.sort(), ["a", "b"]);
    }
  });

  Deno.test(`${call} that throws: the depth is that of the queue all the same`, () => {
    const { queue, hooks } = measured();
    let depth = 0;
    hooks.always("depth.inc", () => depth++);
    hooks.always("depth.dec", () => depth--);
    queue.add("a");
    hooks.once(call, () => {
      hooks.always("depth.dec", () => depth--); // whichever call it is that throws, this one counts from then on
      throw new Error(`${call} is broken`);
    });
    assertThrows(() => queue.tryGet(), Error, `${call} is broken`);
    assertEquals(depth, 1);
    takeAll(queue);
    assertEquals(depth, 0);
  });

  Deno.test(`${call} that throws: an item that was not handed out is no work in progress`, async () => {
    const { queue, hooks, clock } = measured();
    queue.add("a");
    hooks.throwOnce(call);
    assertThrows(() => queue.tryGet(), Error, `${call} is broken`);
    await clock.advance(500);
    assertEquals(clock.timers, 0);
  });
}

Deno.test("workDuration that throws: the item is done all the same, and the error comes out of done", async () => {
  for (const way of ["done", "dispose"] as const) {
    const { queue, hooks } = measured();
    queue.add("a");
    const lease = take(queue);
    hooks.throwOnce("workDuration.observe");
    assertThrows(() => way === "done" ? queue.done("a") : lease[Symbol.dispose](), Error, "observe is broken");
    lease[Symbol.dispose]();
    queue.add("a");
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  }
});

Deno.test("workDuration that throws: an item that was added again comes back, to one who waits too", async () => {
  for (const waits of [false, true]) {
    const { queue, hooks } = measured();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    const waiter = waits ? queue.get() : undefined;
    hooks.throwOnce("workDuration.observe");
    assertThrows(() => lease[Symbol.dispose](), Error, "observe is broken");
    if (waiter === undefined) assertEquals(takeAll(queue), ["a"]);
    else (await waiter)[Symbol.dispose]();
    await assertUsable(queue);
  }
});

Deno.test("workDuration that throws: a drain that waits for the item ends", async () => {
  const { queue, hooks } = measured();
  queue.add("a");
  const lease = take(queue);
  const drained = queue.shutDownWithDrain();
  hooks.throwOnce("workDuration.observe");
  assertThrows(() => lease[Symbol.dispose](), Error, "observe is broken");
  assert(await isSettled(drained));
});

Deno.test("workDuration that throws: a pool reports it through onError and goes on", async () => {
  const { queue, hooks } = measured();
  const errors: string[] = [];
  const seen: string[] = [];
  for (const item of ["a", "b"]) queue.add(item);
  hooks.throwOnce("workDuration.observe");
  const pool = runWorkers(queue, (item) => void seen.push(item), {
    onError: (error, item) => errors.push(`${error} for ${item}`),
  });
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals([seen, errors], [["a", "b"], ["Error: workDuration.observe is broken for a"]]);
});

Deno.test("retries that throws: the item is added all the same, and the error comes out of addAfter and addRateLimited", async () => {
  const adds: [(queue: RateLimitingQueue<string>) => void, number][] = [
    [(queue) => queue.addAfter("a", 10), 1],
    [(queue) => queue.addAfter("a", 0), 0],
    [(queue) => queue.addRateLimited("a"), 1],
  ];
  for (const [add, waiting] of adds) {
    const { queue, hooks, clock } = measured();
    hooks.throwOnce("retries.inc");
    assertThrows(() => add(queue), Error, "retries.inc is broken");
    assertEquals([queue.waiting, queue.length], [waiting, 1 - waiting]);
    await clock.advance(100);
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  }
});

Deno.test("a metric that throws when a pool puts a failed item back is reported, and the pool goes on", async () => {
  const { queue, hooks, clock } = measured();
  const errors: string[] = [];
  hooks.throwOnce("retries.inc");
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error("no");
  }, { onError: (error) => errors.push(String(error)) });
  queue.add("a");
  await flush();
  assertEquals(errors, ["Error: no", "Error: retries.inc is broken"]);
  await clock.advance(1000);
  queue.add("b");
  await queue.shutDownWithDrain();
  await pool.finished;
});

Deno.test("a metric that throws when an interrupted item goes back is reported, and the pool still finishes", async () => {
  const { queue, hooks } = measured();
  const errors: string[] = [];
  const controller = new AbortController();
  const pool = runWorkers(queue, async (_item, { signal }) => {
    await flush();
    signal.throwIfAborted();
  }, { signal: controller.signal, onError: (error) => errors.push(String(error)) });
  queue.add("a");
  await flush();
  hooks.throwOnce("adds.inc");
  controller.abort(new Error("stop"));
  await flush();
  await flush();
  assert(await isSettled(pool.finished));
  assertEquals(errors, ["Error: adds.inc is broken"]);
  assertEquals(takeAll(queue), ["a"]);
});

for (const call of ["unfinishedWork.set", "longestRunningProcessor.set"] as const) {
  Deno.test(`${call} that throws: the clock sees it, and the metrics of work in progress go on`, async () => {
    const { queue, hooks, clock } = measured();
    queue.add("a");
    const lease = take(queue);
    hooks.throwOnce(call);
    await assertRejects(() => clock.advance(500), Error, `${call} is broken`);
    let calls = 0;
    hooks.always(call, () => calls++);
    await clock.advance(1000);
    assertEquals(calls, 2);
    lease[Symbol.dispose]();
    await clock.advance(1000);
    assertEquals([calls, clock.timers], [3, 0]);
  });
}

Deno.test("oldestReady that throws: the clock sees it, and the metric goes on", async () => {
  const metrics = new HookedAges();
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { name: "q", metrics, clock });
  queue.add("a");
  metrics.hooks.throwOnce("oldestReady.set");
  await assertRejects(() => clock.advance(500), Error, "oldestReady.set is broken");
  let calls = 0;
  metrics.hooks.always("oldestReady.set", () => calls++);
  await clock.advance(1000);
  assertEquals(calls, 2);
  takeAll(queue);
  await clock.advance(1000);
  assertEquals([calls, clock.timers], [3, 0]);
  await assertUsable(queue);
});

Deno.test("waiting that throws: nothing that waits is lost, comes twice, or is kept waiting", async () => {
  const { queue, hooks, clock } = measured();
  hooks.throwOnce("waiting.set");
  assertThrows(() => queue.addAfter("a", 10), Error, "waiting.set is broken");
  assertEquals(queue.waiting, 1);
  queue.addAfter("b", 20);
  queue.addAfter("c", 10);
  hooks.throwOnce("waiting.set");
  assertThrows(() => queue.cancelAfter("c"), Error, "waiting.set is broken");
  assertEquals(queue.waiting, 2);
  hooks.throwOnce("waiting.set");
  await assertRejects(() => clock.advance(10), Error, "waiting.set is broken");
  assertEquals([takeAll(queue), queue.waiting], [["a"], 1]);
  await clock.advance(10);
  assertEquals(takeAll(queue), ["b"]);
  await assertUsable(queue);
});

Deno.test("waiting that throws at shutdown, or in a drain: it comes out of the call, and the shutdown is one", async () => {
  for (const end of ["shutDown", "drop", "flush"] as const) {
    const { queue, hooks, clock } = measured();
    queue.addAfter("a", 10);
    const waiter = queue.get();
    hooks.throwOnce("waiting.set");
    if (end === "shutDown") assertThrows(() => queue.shutDown(), Error, "waiting.set is broken");
    else await assertRejects(() => queue.shutDownWithDrain({ waiting: end }), Error, "waiting.set is broken");
    assertEquals(await outcome(waiter), end === "flush" ? "a" : "shutdown");
    assertEquals([queue.waiting, queue.shuttingDown, clock.timers], [0, true, 0]);
  }
});

Deno.test("gone that throws: it comes out of the call, and the queue is shut down all the same", async () => {
  for (const end of ["shutDown", "shutDownWithDrain", "done"] as const) {
    const metrics = Object.assign(new HookedMetrics(), {
      gone() {
        throw new Error("gone is broken");
      },
    });
    const queue = createRateLimitingQueue<string>(limiter(), { name: "q", metrics, clock: new HandClock() });
    queue.add("a");
    const lease = take(queue);
    const waiter = queue.get();
    let drained: Promise<void> | undefined;
    if (end === "done") {
      drained = queue.shutDownWithDrain();
      assertThrows(() => lease[Symbol.dispose](), Error, "gone is broken");
    } else {
      lease[Symbol.dispose]();
      if (end === "shutDown") assertThrows(() => queue.shutDown(), Error, "gone is broken");
      else await assertRejects(() => queue.shutDownWithDrain(), Error, "gone is broken");
    }
    await drained;
    assertEquals([await outcome(waiter), queue.shuttingDown, queue.held], ["shutdown", true, 0]);
  }
});

Deno.test("a clock whose setTimeout throws while an item is handed out: it is ready again, and no work in progress", async () => {
  const { queue, hooks, clock } = measured();
  queue.add("a");
  const { setTimeout } = clock;
  clock.setTimeout = () => {
    throw new Error("setTimeout is broken");
  };
  assertThrows(() => queue.tryGet(), Error, "setTimeout is broken");
  clock.setTimeout = setTimeout;
  takeAll(queue);
  let updates = 0;
  hooks.always("longestRunningProcessor.set", () => updates++);
  await clock.advance(2000);
  assertEquals([updates, clock.timers], [1, 0], "the last update says that there is none");
});

Deno.test("a clock whose clearTimeout throws at shutdown: those who wait are told of the shutdown all the same", async () => {
  const { queue, clock } = measured();
  const waiter = queue.get();
  clock.clearTimeout = () => {
    throw new Error("clearTimeout is broken");
  };
  assertThrows(() => queue.shutDown(), Error, "clearTimeout is broken");
  assertEquals(await outcome(waiter), "shutdown");
});

Deno.test("a clock that adds and finishes the item it is asked for: there is nothing in the queue but items", async () => {
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

Deno.test("a metrics provider that cannot make a metric: no queue is made", () => {
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

Deno.test("a discipline whose push throws when an item comes back: done throws, and the item is not held any more", async () => {
  for (const draining of [false, true]) {
    const { queue, hooks } = disciplined();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    const drained = draining ? queue.shutDownWithDrain() : undefined;
    hooks.throwOnce("push");
    assertThrows(() => lease[Symbol.dispose](), Error, "push is broken");
    assertEquals(queue.length, 0);
    if (drained !== undefined) {
      assert(await isSettled(drained));
      continue;
    }
    queue.add("a");
    assertEquals(takeAll(queue), ["a"]);
    await assertUsable(queue);
  }
});

/** The ways a discipline can fail to give out an item, and the message. */
const badPops: [name: string, arm: (discipline: HookedDiscipline<string>) => void, message: string][] = [
  ["throws", (discipline) => discipline.hooks.throwOnce("pop"), "pop is broken"],
  [
    "gives a stranger",
    (discipline) => discipline.stranger = { entry: { key: "?", item: "?", priority: 0, readyAt: 0 } },
    "gave out one that is not ready",
  ],
  [
    "gives a copy of an entry",
    (discipline) => discipline.stranger = { entry: { ...discipline.pushed.at(-1)! } },
    "gave out one that is not ready",
  ],
  [
    "gives a held item",
    (discipline) => discipline.stranger = { entry: discipline.pushed[0] },
    "gave out one that is not ready",
  ],
  [
    "gives what is no entry",
    (discipline) => discipline.stranger = { entry: "a" as never },
    "gave out one that is not ready",
  ],
  ["gives nothing", (discipline) => discipline.stranger = { entry: undefined }, "gave out one that is not ready"],
];

for (const [name, arm, message] of badPops) {
  const faulty = () => {
    const made = disciplined();
    made.queue.add("held");
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

  Deno.test(`a discipline whose pop ${name}: get rejects for one who waits, and add knows nothing of it`, async () => {
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

Deno.test("a discipline that throws when a delay ends: the clock sees it, and the others that are due are added", async () => {
  const { queue, hooks, clock } = disciplined();
  for (const item of ["a", "b"]) queue.addAfter(item, 10);
  hooks.throwOnce("push");
  await assertRejects(() => clock.advance(10), Error, "push is broken");
  await clock.advance(1);
  assert(takeAll(queue).includes("b"));
  await assertUsable(queue);
});

Deno.test("a discipline that throws when a delay ends: the item is not lost, and added again a second later", async () => {
  const { queue, hooks, clock } = disciplined();
  queue.addAfter("a", 10);
  hooks.throwOnce("push");
  await assertRejects(() => clock.advance(10), Error, "push is broken");
  assertEquals([queue.length, queue.waiting], [0, 1]);
  await clock.advance(1000);
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("a discipline that throws at each of thousands of adds while a drain flushes: the drain rejects, and ends", async () => {
  const { queue, hooks } = disciplined();
  for (let i = 0; i < 30_000; i++) queue.addAfter(`${i}`, 10);
  hooks.always("push", () => {
    throw new Error("push is broken");
  });
  await assertRejects(() => queue.shutDownWithDrain({ waiting: "flush" }), Error, "push is broken");
  assertEquals(queue.waiting, 0);
  assertEquals((await queue.get()).shutdown, true);
});

Deno.test("keyOf that throws: out of every call that needs it, and nothing is changed", async () => {
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
    const [held, ready, waiting] = ["held", "ready", "waiting"].map((key) => ({ key })) as [Keyed, Keyed, Keyed];
    queue.add(held);
    const lease = take(queue);
    queue.add(ready);
    queue.addRateLimited(waiting);
    const state = () => [queue.length, queue.waiting, queue.numRequeues(waiting), queue.numRequeues({ key: "new" })];
    const before = state();
    for (const item of [held, ready, waiting, { key: "new" }]) {
      hooks.throwOnce("keyOf");
      assertThrows(() => call(queue, item), Error, "keyOf is broken");
      assertEquals(state(), before);
    }
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), [ready]);
    assert(await isSettled(queue.shutDownWithDrain()));
  }
});

Deno.test("keyOf that throws at any of its calls leaves one entry a key at most, and adding again works", () => {
  for (const add of ["add", "addAfter", "addRateLimited"] as const) {
    for (let broken = 1;; broken++) {
      const { queue, keys, hooks } = keyed();
      const item = { key: "a" };
      queue.addAfter({ key: "a" }, 10); // so that add looks among those that wait
      keys.calls = 0;
      hooks.always("keyOf", () => {
        if (keys.calls === broken) throw new Error("keyOf is broken");
      });
      const act = () => add === "addAfter" ? queue.addAfter(item, 5) : queue[add](item);
      if (keysNeeded(act, keys) < broken) break;
      hooks.always("keyOf", () => {});
      assert(queue.length <= 1 && queue.waiting <= 1);
      queue.add(item);
      assertEquals([takeAll(queue), queue.length], [[item], 0]);
    }
  }
});

/** How often `keyOf` was called until it threw or the action ended. */
function keysNeeded(action: () => void, keys: HookedKeys): number {
  try {
    action();
  } catch (error) {
    assertEquals(String(error), "Error: keyOf is broken");
  }
  return keys.calls;
}

Deno.test("keyOf is not asked while a discipline's item is handed out", () => {
  const { queue, keys } = keyed({ discipline: new HookedDiscipline<Keyed>() });
  for (const key of ["a", "b"]) queue.add({ key });
  const { calls } = keys;
  assertEquals(queue.tryGet()?.item, { key: "a" });
  assertEquals(keys.calls, calls);
});

Deno.test("keyOf that throws in a pool: finished rejects, and the item is held by nobody", async () => {
  for (const waits of [false, true]) {
    const { queue, keys, hooks } = keyed();
    if (!waits) queue.add({ key: "a" });
    const pool = runWorkers(queue, () => {});
    const rejected = assertRejects(() => pool.finished, Error, "keyOf is broken");
    if (waits) await flush();
    const calls = keys.calls;
    hooks.always("keyOf", () => {
      if (keys.calls > calls + (waits ? 1 : 0)) throw new Error("keyOf is broken");
    });
    if (waits) queue.add({ key: "a" });
    await rejected;
    hooks.always("keyOf", () => {});
    takeAll(queue);
    assert(await isSettled(queue.shutDownWithDrain()));
  }
});

Deno.test("keyOf that throws in a pool, and metrics that throw when the item is given back: finished rejects", async () => {
  const metrics = new HookedMetrics();
  const { queue, hooks } = keyed({ name: "q", metrics });
  queue.add({ key: "a" });
  metrics.hooks.throwOnce("workDuration.observe");
  hooks.throwOnce("keyOf");
  await assertRejects(() => runWorkers(queue, () => {}).finished, Error, "keyOf is broken");
  assert(await isSettled(queue.shutDownWithDrain()));
});

/** A limiter, one of whose methods throws once. */
function limiterThatThrows(method: keyof RateLimiter): RateLimiter<string> {
  const whole = limiter();
  const broken = Object.create(whole) as RateLimiter<string>;
  for (const each of ["when", "forget", "numRequeues"] as const) {
    let isBroken = each === method;
    broken[each] = (item: string, key?: unknown) => {
      if (isBroken) {
        isBroken = false;
        throw new Error(`${method} is broken`);
      }
      return whole[each](item, key) as never;
    };
  }
  return broken;
}

/** A limiter as it is, and behind the limiters that ask others. */
const wrappings: ((limiter: RateLimiter<string>) => RateLimiter<string>)[] = [
  (limiter) => limiter,
  (limiter) => createMaxOfLimiter<string>(createBucketLimiter({ rate: 1, burst: 1, clock: new HandClock() }), limiter),
  (limiter) => createMaxWaitLimiter(limiter, 50),
];

Deno.test("a limiter that throws: the error comes out of the call that asked it, and the queue goes on", async () => {
  for (const wrap of wrappings) {
    for (
      const [method, call] of [
        ["when", "addRateLimited"],
        ["forget", "forget"],
        ["numRequeues", "numRequeues"],
      ] as const
    ) {
      const clock = new HandClock();
      const queue = createRateLimitingQueue<string>(wrap(limiterThatThrows(method)), { clock });
      assertThrows(() => queue[call]("a"), Error, `${method} is broken`);
      assertEquals([queue.length, queue.waiting], [0, 0]);
      queue[call]("a");
      await clock.advance(1000);
      assertEquals(takeAll(queue).includes("a"), method === "when");
      await assertUsable(queue);
    }
  }
});

Deno.test("a limiter that throws when a handler asks to requeue: reported, and the item given up once", async () => {
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
