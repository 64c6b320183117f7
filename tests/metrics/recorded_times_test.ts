/** Recorded times: how long items wait, how long the work on them takes, and the age of the oldest ready item. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type QueueDiscipline,
  runWorkers,
} from "@workqueue/core";
import { INSPECTION } from "@workqueue/core/hooks";
import { recordTimes } from "@workqueue/core/metrics";
import { Console, HandClock } from "../helpers.ts";
import { flush, randomNumbers, take } from "../queue_helpers.ts";

const QUARTER = 15 * 60_000;

/** Recorder that keeps all times. */
function recorder() {
  const times: string[] = [];
  return {
    waited: (ms: number) => void times.push(`waited ${ms}`),
    worked: (ms: number) => void times.push(`worked ${ms}`),
    /** Returns the times since the previous call. */
    taken: () => times.splice(0),
  };
}

const DISCIPLINES: Record<string, () => QueueDiscipline<string> | undefined> = {
  fifo: () => undefined,
  strict: () => createPriorityDiscipline({ maxHeadStart: Infinity }),
  fair: () => createFairDiscipline<string>({ groupOf: (item) => item[0]!, maxPerGroup: 1 }),
};

for (const [name, discipline] of Object.entries(DISCIPLINES)) {
  Deno.test(`recorded times: the oldest ready item is known for longer than samples are kept: ${name}`, async () => {
    const clock = new HandClock();
    const queue = createRateLimitingQueue(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
      clock,
      discipline: discipline(),
    });
    const heard = recorder();
    using times = recordTimes(queue, heard)!;
    assertEquals(times.oldestReadyMs, undefined);
    queue.addAfter("a1", 1000);
    assertEquals(times.oldestReadyMs, undefined, "a delayed item is not ready");
    await clock.advance(1000);
    await clock.advance(2 * QUARTER);
    queue.add("a2", { priority: 5 });
    assertEquals(times.oldestReadyMs, 2 * QUARTER);
    await clock.advance(QUARTER);
    assertEquals(times.oldestReadyMs, 3 * QUARTER);
    const first = take(queue);
    // With strict priorities, "a2" is first and "a1" is still the oldest.
    const oldest = first.item === "a1" ? QUARTER : 3 * QUARTER;
    assertEquals([times.oldestReadyMs, heard.taken()], [oldest, [`waited ${4 * QUARTER - oldest}`]]);
    await clock.advance(500);
    first[Symbol.dispose]();
    assertEquals([times.oldestReadyMs, heard.taken()], [oldest + 500, ["worked 500"]], "blocked items count as well");
    take(queue);
    assertEquals([times.oldestReadyMs, heard.taken()], [undefined, [`waited ${oldest + 500}`]]);
    queue.shutDown();
  });
}

Deno.test("recorded times: an item that is added while processing is ready from the end of its attempt", async () => {
  for (const metrics of [undefined, new InMemoryMetrics()]) {
    const clock = new HandClock();
    const queue = createWorkQueue<string>({ name: "q", clock, metrics });
    const heard = recorder();
    using times = recordTimes(queue, heard)!;
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    await clock.advance(500);
    assertEquals(times.oldestReadyMs, undefined);
    lease[Symbol.dispose]();
    await clock.advance(500);
    assertEquals(times.oldestReadyMs, 500);
    if (metrics !== undefined) assertEquals(metrics.value("workqueue_oldest_ready_seconds", "q"), 0.5);
    take(queue)[Symbol.dispose]();
    assertEquals(heard.taken(), ["waited 0", "worked 500", "waited 500", "worked 0"]);
    // client-go measures the latency from the add.
    if (metrics !== undefined) assertEquals(metrics.value("workqueue_queue_duration_seconds", "q"), 1);
  }
});

Deno.test("recorded times: items that were ready before count from the start of the recording, or exactly with metrics", async () => {
  for (const metrics of [undefined, new InMemoryMetrics()]) {
    for (const discipline of Object.values(DISCIPLINES)) {
      const clock = new HandClock();
      const queue = createWorkQueue<string>({ name: "q", clock, metrics, discipline: discipline() });
      for (const item of ["a1", "b1", "a2"]) queue.add(item);
      const running = take(queue);
      await clock.advance(1000);
      const heard = recorder();
      using times = recordTimes(queue, heard)!;
      const before = metrics === undefined ? 0 : 1000;
      await clock.advance(100);
      queue.add("c1");
      assertEquals(times.oldestReadyMs, before + 100);
      running[Symbol.dispose]();
      assertEquals(heard.taken(), [], "the length of this attempt is unknown");
      for (const earlier = new Set(["a2", "b1"]); queue.length > 0;) {
        assertEquals(times.oldestReadyMs, earlier.size > 0 ? before + 100 : 0);
        const lease = take(queue);
        assertEquals(heard.taken(), [earlier.delete(lease.item) ? "waited 100" : "waited 0"]);
        lease[Symbol.dispose]();
        assertEquals(heard.taken(), ["worked 0"]);
      }
      assertEquals(times.oldestReadyMs, undefined);
      queue.shutDown();
    }
  }
});

Deno.test("recorded times: several recorders get the same calls until each is disposed, and metrics continue", async () => {
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });
  const queue = createRateLimitingQueue<string>(limiter, { name: "q", clock, metrics });
  const [one, two] = [recorder(), recorder()];
  const first = recordTimes(queue, one)!;
  queue.add("a");
  await clock.advance(100);
  const second = recordTimes(queue, two)!;
  assertEquals([first.oldestReadyMs, second.oldestReadyMs], [100, 100]);
  take(queue)[Symbol.dispose]();
  assertEquals([one.taken(), two.taken()], [["waited 100", "worked 0"], ["waited 100", "worked 0"]]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  queue.add("b");
  take(queue)[Symbol.dispose]();
  assertEquals([one.taken(), two.taken()], [[], ["waited 0", "worked 0"]]);
  second[Symbol.dispose]();
  const { now } = clock;
  let looks = 0;
  clock.now = () => {
    looks++;
    return now.call(clock);
  };
  queue.add("c");
  take(queue)[Symbol.dispose]();
  assertEquals([two.taken(), looks], [[], 3], "only the metrics look at the clock");
  assertEquals(metrics.count("workqueue_queue_duration_seconds", "q"), 3);
  queue.shutDown();
});

Deno.test("recorded times: a queue without watchers does not read the clock", () => {
  const clock = new HandClock();
  let looks = 0;
  clock.now = () => ++looks;
  const queue = createWorkQueue<string>({ clock });
  looks = 0; // the clock is checked at creation
  queue.add("a");
  take(queue)[Symbol.dispose]();
  assertEquals(looks, 0);
});

Deno.test("rule 11: recorded times: a recorder that throws is reported once, and loses no item", async () => {
  using printed = new Console();
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), { clock });
  const fail = () => {
    throw new Error("full");
  };
  using _bad = recordTimes(queue, { waited: fail, worked: fail });
  const heard = recorder();
  using _good = recordTimes(queue, heard);
  const worked: string[] = [];
  const pool = runWorkers(queue, (item) => void worked.push(item));
  queue.add("a");
  queue.add("b");
  await flush();
  assertEquals([worked, heard.taken().length], [["a", "b"], 4]);
  assertEquals(printed.lines, ['Cannot record times of queue: "Error: full"']);
  await pool.stop();
});

Deno.test("recorded times: a queue outside this process reports its times; other queues have none", () => {
  const heard = recorder();
  let ends = 0;
  const recordInQueue = (given: unknown) => {
    assertEquals(given, heard);
    return () => void ends++;
  };
  recordTimes({ [INSPECTION]: { recordTimes: recordInQueue } }, heard)?.[Symbol.dispose]();
  assertEquals(ends, 1);
  assertEquals([recordTimes({}, heard), recordTimes({ [INSPECTION]: undefined }, heard)], [undefined, undefined]);
});

Deno.test("recorded times: under random loads, the oldest ready item is the one with the earliest time", () => {
  for (const [name, discipline] of Object.entries(DISCIPLINES)) {
    const random = randomNumbers(27);
    const clock = new HandClock();
    const queue = createWorkQueue<string>({ clock, discipline: discipline() });
    using times = recordTimes(queue, recorder())!;
    const readyAt = new Map<string, number>();
    const processing = new Map<string, Disposable>();
    const again = new Set<string>();
    for (let step = 0; step < 5000; step++) {
      clock.time += Math.floor(random() * 10);
      const act = Math.floor(random() * 4);
      const item = `${"abc"[Math.floor(random() * 3)]}${Math.floor(random() * 40)}`;
      if (act < 2) {
        queue.add(item, { priority: Math.floor(random() * 5) });
        if (processing.has(item)) again.add(item);
        else if (!readyAt.has(item)) readyAt.set(item, clock.time);
      } else if (act === 2) {
        const lease = queue.tryGet();
        if (lease !== undefined) {
          readyAt.delete(lease.item);
          processing.set(lease.item, lease);
        }
      } else if (processing.size > 0) {
        const [done, lease] = [...processing][Math.floor(random() * processing.size)]!;
        processing.delete(done);
        lease[Symbol.dispose]();
        if (again.delete(done)) readyAt.set(done, clock.time);
      }
      const oldest = readyAt.size === 0 ? undefined : clock.time - Math.min(...readyAt.values());
      assertEquals(times.oldestReadyMs, oldest, `${name}, step ${step}`);
    }
  }
});
