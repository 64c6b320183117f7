/** Tests of rule 11: a fair discipline whose `groupOf` throws, from a user's point of view. */

import { assert, assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  InMemoryMetrics,
  type Lease,
  runWorkers,
} from "@workqueue/core";
import { Console, HandClock } from "../helpers.ts";
import { flush, isSettled, randomNumbers } from "../queue_helpers.ts";

interface Job {
  readonly key: string;
  readonly version?: number;
}

/**
 * Creates a queue that groups items by the first letter of their key. `refuses` decides whether the n-th call to
 * `groupOf` throws.
 */
function fair(refuses: (call: number) => boolean) {
  let calls = 0;
  const clock = new HandClock();
  const metrics = new InMemoryMetrics();
  const queue = createRateLimitingQueue<Job>(createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 }), {
    name: "q",
    keyOf: ({ key }) => key,
    discipline: createFairDiscipline<Job>({
      groupOf({ key }) {
        if (refuses(++calls)) throw new Error("groupOf is broken");
        return key[0];
      },
      maxPerGroup: 2,
      within: () => createPriorityDiscipline(),
    }),
    clock,
    metrics,
  });
  return { queue, clock, metrics, calls: () => calls };
}

/** Reports whether an add was accepted. */
function isAccepted(add: () => void): boolean {
  try {
    add();
    return true;
  } catch (error) {
    assertEquals(String(error), "Error: groupOf is broken");
    return false;
  }
}

/**
 * Runs a pool on items, and adds them again in every possible way. From call number `first` on, `broken` calls to
 * `groupOf` throw. Returns the number of calls to `groupOf`.
 */
async function useWithPool(first: number, broken: number): Promise<number> {
  using console = new Console();
  const { queue, clock, metrics, calls } = fair((call) => call >= first && call < first + broken);
  const expected: Record<string, number> = {};
  const attempts: Record<string, number> = {};
  const reports: string[] = [];
  const pool = runWorkers(queue, async ({ key }, { attempt }) => {
    await undefined;
    attempts[key] = (attempts[key] ?? 0) + 1;
    if (key === "a fails" && attempt < 3) throw new Error("no");
    if (key === "a again" && attempt < 3) return { requeue: true };
    if (key === "b later" && attempts[key] < 3) return { requeueAfter: 50 };
    if (key === "b event" && attempts[key] < 3) queue.add({ key });
  }, {
    concurrency: 3,
    onError: (error) => reports.push(String(error)),
    onGiveUp: (_error, { key }) => reports.push(`gave up ${key}`),
  });
  const add = (key: string, count: number, action: (job: Job) => void = (job) => queue.add(job)) => {
    if (isAccepted(() => action({ key }))) expected[key] = count;
  };
  add("a fails", 3);
  add("a again", 3);
  add("b later", 3);
  add("b event", 3);
  add("b delayed", 1, (job) => queue.addAfter(job, 10));
  add("b limited", 1, (job) => queue.addRateLimited(job));
  await flush();
  for (let i = 0; i < 10; i++) await clock.advance(500);
  assertEquals(attempts, expected, `call ${first}`);
  assertEquals([queue.length, queue.processing, queue.delayed], [0, 0, 0]);
  assertEquals(metrics.value("workqueue_depth", "q"), 0);
  const expectedReports = ["Error: no", "Error: groupOf is broken"];
  assertEquals(reports.filter((report) => !expectedReports.includes(report)), []);
  const reported = reports.filter((report) => report === expectedReports[1]).length +
    (6 - Object.keys(expected).length);
  assert(calls() < first || reported + console.lines.length > 0, "it is reported");
  assert(await isSettled(queue.shutDownWithDrain()));
  await pool.finished;
  return calls();
}

for (const broken of [1, 5, Infinity]) {
  Deno.test(`rule 11: groupOf that throws ${broken} times, at any call: a pool handles each item as often as without errors`, async () => {
    for (let first = 1;; first++) if (await useWithPool(first, broken) < first) break;
  });
}

Deno.test("rule 11: if groupOf throws while a pool hands items back, the items are ready nevertheless", async () => {
  const { queue } = fair((call) => call > 4);
  const stop = new AbortController();
  const reports: string[] = [];
  const pool = runWorkers(queue, (_job, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, {
    concurrency: 3,
    signal: stop.signal,
    onError: (error) => reports.push(String(error)),
    onGiveUp: (_error, { key }) => reports.push(`gave up ${key}`),
  });
  for (const key of ["a1", "a2", "b1", "b2"]) queue.add({ key });
  await flush();
  stop.abort();
  await pool.finished;
  assertEquals(reports, Array(3).fill("Error: groupOf is broken"));
  assertEquals([queue.length, queue.processing], [4, 0]);
  const handled: string[] = [];
  runWorkers(queue, ({ key }) => void handled.push(key));
  await queue.shutDownWithDrain();
  assertEquals(handled.sort(), ["a1", "a2", "b1", "b2"]);
});

Deno.test("rule 13: an item that was handed out without a group does not count for the limit of its group", () => {
  let refuses = false;
  const { queue } = fair(() => refuses);
  const take = () => queue.tryGet()!;
  queue.add({ key: "a1" });
  const first = take();
  queue.add({ key: "a1" });
  refuses = true;
  isAccepted(() => first[Symbol.dispose]());
  refuses = false;
  for (const key of ["a2", "a3", "a4"]) queue.add({ key });
  for (const limit of [1, 2, 100]) {
    const { readyItems } = queue.snapshot({ limit });
    assertEquals(readyItems.map(({ item }) => item.key), ["a1", "a2", "a3"].slice(0, limit));
  }
  const leases = [take(), take(), take()];
  assertEquals(leases.map(({ item }) => item.key), ["a1", "a2", "a3"]);
  const { ready, blocked } = queue.snapshot();
  assertEquals([ready, blocked], [0, 1]);
  leases[0]![Symbol.dispose]();
  assertEquals(queue.length, 0);
  leases[1]![Symbol.dispose]();
  assertEquals(queue.length, 1);
});

Deno.test("rule 11: whatever a fair discipline refuses, each accepted version is handed out, to one holder per key", async () => {
  using _console = new Console();
  for (let seed = 0; seed < 50; seed++) {
    const random = randomNumbers(seed);
    let share = 0.3;
    const { queue, clock, metrics } = fair(() => random() < share);
    const accepted = new Map<string, number>();
    const handed = new Map<string, number>();
    const leases: Lease<Job>[] = [];
    const begin = () => {
      const lease = queue.tryGet();
      if (lease === undefined) return false;
      const { key, version } = lease.item;
      assert(leases.every(({ item }) => item.key !== key), "rule 2");
      handed.set(key, Math.max(handed.get(key) ?? -1, version!));
      leases.push(lease);
      return true;
    };
    const end = (lease: Lease<Job>) => void isAccepted(() => lease[Symbol.dispose]());
    for (let version = 0; version < 400; version++) {
      const job = { key: `${"abc"[Math.floor(random() * 3)]}${Math.floor(random() * 4)}`, version };
      const priority = Math.floor(random() * 3);
      const what = random();
      if (what < 0.25 && isAccepted(() => queue.add(job, { priority }))) accepted.set(job.key, version);
      else if (what < 0.5) {
        queue.addAfter(job, 1 + Math.floor(random() * 20), { priority });
        accepted.set(job.key, version);
      } else if (what < 0.7) begin();
      else if (what < 0.9) { for (const lease of leases.splice(Math.floor(random() * leases.length), 1)) end(lease); }
      else await clock.advance(10);
      const { ready, blocked, processing, readyItems, processingItems } = queue.snapshot();
      assertEquals([readyItems.length, processing], [ready, leases.length]);
      const comingBack = processingItems.filter(({ addedAgain }) => addedAgain).length;
      assertEquals(metrics.value("workqueue_depth", "q"), ready + blocked + comingBack);
    }
    if (seed % 2 === 0) share = 0;
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    await clock.advance(30);
    while (begin() || leases.length > 0) for (const lease of leases.splice(0)) end(lease);
    await drained;
    for (const [key, version] of accepted) assert(handed.get(key)! >= version, `seed ${seed}: ${key} ${version}`);
    assertEquals([queue.length, queue.processing, metrics.value("workqueue_depth", "q"), clock.timers], [0, 0, 0, 0]);
  }
});
