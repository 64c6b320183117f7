/**
 * Tests of workers under random interleavings of handlers, producers and interruptions.
 *
 * fast-check's scheduler decides which task continues next. `WORKQUEUE_RUNS=1000000` runs more interleavings.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import {
  createFastSlowLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  runWorkers,
  TokenBucket,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";

/** Number of interleavings. Bugs planted in pools were found within 70. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 400);

function inAnyOrder(property: fc.IAsyncProperty<unknown>): Promise<void> {
  return fc.assert(property, { numRuns: RUNS });
}

/**
 * Clock that moves only when a test advances it. Pools therefore never pause on their own, which fast-check's scheduler
 * wouldn't notice.
 */
const clock = new HandClock();

/** Creates a queue whose retries are due immediately: the tests check order, not time. */
function immediateQueue(): ReturnType<typeof createRateLimitingQueue<number>> {
  return createRateLimitingQueue<number>(createFastSlowLimiter({ fastDelay: 0, slowDelay: 0, maxFastAttempts: 0 }));
}

/** Handler that yields to the scheduler, fails a given number of times per key, and records its observations. */
class Work {
  readonly running = new Set<number>();
  most = 0;
  /** For each key, how many times it had been added when its last successful attempt began. */
  readonly covered = new Map<number, number>();
  readonly added = new Map<number, number>();

  constructor(readonly scheduler: fc.Scheduler, readonly failures: Map<number, number>) {}

  add(queue: { add(key: number): void }, key: number): void {
    this.added.set(key, (this.added.get(key) ?? 0) + 1);
    queue.add(key);
  }

  handle = async (key: number, { signal }: { signal: AbortSignal }): Promise<void> => {
    assert(!this.running.has(key), "rule 2: two handlers for one key");
    this.running.add(key);
    this.most = Math.max(this.most, this.running.size);
    const covers = this.added.get(key)!;
    await this.scheduler.schedule(Promise.resolve(), `handler of ${key}`);
    this.running.delete(key);
    signal.throwIfAborted();
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures - 1);
    if (failures > 0) throw new Error("not yet");
    this.covered.set(key, covers);
  };
}

const adds = fc.array(fc.nat(3), { minLength: 1, maxLength: 15, size: "max" });
const failures = fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }).map((counts) => new Map(counts.entries()));
const concurrency = fc.integer({ min: 1, max: 4 });

Deno.test("rules 2, 6 and 11: in any order of events, every add is followed by a success, and each key has one holder at a time", async () => {
  await inAnyOrder(
    fc.asyncProperty(fc.scheduler(), adds, failures, concurrency, async (scheduler, adds, failures, concurrency) => {
      const queue = immediateQueue();
      const work = new Work(scheduler, new Map(failures));
      const pool = runWorkers(queue, work.handle, { concurrency, clock, onError() {} });
      const steps = adds.map((key) => ({
        label: `add ${key}`,
        builder: () => Promise.resolve(work.add(queue, key)),
      }));
      await scheduler.waitFor(scheduler.scheduleSequence(steps).task);
      await scheduler.waitIdle(); // wait for all retries, because nothing is retried after a shutdown
      await scheduler.waitFor(queue.shutDownWithDrain());
      await pool.finished;
      assertEquals(work.covered, work.added);
      assert(work.most <= concurrency);
    }),
  );
});

Deno.test("rules 2 and 11: interrupting a pool at any moment loses no item for the next pool", async () => {
  await inAnyOrder(
    fc.asyncProperty(fc.scheduler(), adds, concurrency, async (scheduler, adds, concurrency) => {
      const queue = immediateQueue();
      const work = new Work(scheduler, new Map());
      const controller = new AbortController();
      const first = runWorkers(queue, work.handle, {
        concurrency,
        clock,
        signal: controller.signal,
        maxRetries: 0,
      });
      const steps = adds.map((key) => ({
        label: `add ${key}`,
        builder: () => Promise.resolve(work.add(queue, key)),
      }));
      const added = scheduler.scheduleSequence(steps).task;
      scheduler.schedule(Promise.resolve(), "interrupt").then(() => controller.abort());
      await scheduler.waitFor(added);
      await scheduler.waitFor(first.finished);
      assertEquals(work.running.size, 0);

      runWorkers(queue, work.handle, { concurrency, clock, maxRetries: 0 });
      await scheduler.waitFor(queue.shutDownWithDrain());
      assertEquals(work.covered, work.added);
    }),
  );
});

Deno.test("rules 2, 3 and 11: pausing, resuming and resizing pools at any moment loses no item", async () => {
  const step = fc.record({
    pool: fc.nat(1),
    action: fc.oneof(
      fc.constantFrom("pause" as const, "resume" as const, "pauseBucket" as const, "resumeBucket" as const),
      concurrency,
    ),
  });
  const steps = fc.array(step, { maxLength: 12, size: "max" });
  await inAnyOrder(
    fc.asyncProperty(
      fc.scheduler(),
      adds,
      failures,
      steps,
      fc.nat(3),
      async (scheduler, adds, failures, steps, burst) => {
        const queue = immediateQueue();
        const work = new Work(scheduler, new Map(failures));
        // Although the rate is infinite, each attempt takes a token. After each change, waiting pools ask for a token
        // again.
        const throttle = burst === 0 ? undefined : new TokenBucket(Infinity, burst, { clock });
        const pools = [1, 2].map(() => runWorkers(queue, work.handle, { clock, throttle, onError() {} }));
        const added = scheduler.scheduleSequence(adds.map((key) => ({
          label: `add ${key}`,
          builder: () => Promise.resolve(work.add(queue, key)),
        }))).task;
        const changed = scheduler.scheduleSequence(steps.map(({ pool, action }) => ({
          label: `pool ${pool}: ${action}`,
          builder: () => {
            if (typeof action === "number") pools[pool]!.concurrency = action;
            else if (action === "pause" || action === "resume") pools[pool]![action]();
            if (action === "pauseBucket") throttle?.pauseFor(1);
            else if (action === "resumeBucket") throttle?.resume();
            else throttle?.setRate(action === "pause" ? 0 : Infinity);
            return Promise.resolve();
          },
        }))).task;
        await scheduler.waitFor(Promise.all([added, changed]));
        throttle?.setRate(Infinity);
        for (const pool of pools) pool.resume();
        await clock.advance(1); // end the bucket's pause, if there is one
        await scheduler.waitIdle(); // wait for all retries, because nothing is retried after a shutdown
        await scheduler.waitFor(queue.shutDownWithDrain());
        await scheduler.waitFor(Promise.all(pools.map(({ finished }) => finished)));
        assertEquals(work.covered, work.added);
        assertEquals(pools.map(({ active }) => active), [0, 0]);
      },
    ),
  );
});

Deno.test("rule 11: at any moment, no more handlers begin than the concurrency allows, and none begins during a pause", async () => {
  await inAnyOrder(
    fc.asyncProperty(
      fc.scheduler(),
      adds,
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 10, size: "max" }),
      async (scheduler, adds, limits) => {
        const queue = immediateQueue();
        const work = new Work(scheduler, new Map());
        let limit = 1;
        let surplus = 0;
        const pool = runWorkers(queue, (key, context) => {
          if (pool.active > limit) surplus++;
          return work.handle(key, context);
        }, { clock, onError() {} });
        const added = scheduler.scheduleSequence(adds.map((key) => ({
          label: `add ${key}`,
          builder: () => Promise.resolve(work.add(queue, key)),
        }))).task;
        const limited = scheduler.scheduleSequence(limits.map((next) => ({
          label: `at most ${next}`,
          builder: () => {
            limit = next;
            if (next === 0) pool.pause();
            else {
              pool.concurrency = next;
              pool.resume();
            }
            return Promise.resolve();
          },
        }))).task;
        await scheduler.waitFor(Promise.all([added, limited]));
        limit = pool.concurrency;
        pool.resume();
        await scheduler.waitFor(queue.shutDownWithDrain());
        await pool.finished;
        assertEquals([surplus, work.covered], [0, work.added]);
      },
    ),
  );
});

Deno.test("rules 2 and 3: calls of get that are aborted at any moment share the items and lose none", async () => {
  const consumers = fc.integer({ min: 1, max: 5 });
  await inAnyOrder(
    fc.asyncProperty(fc.scheduler(), adds, consumers, async (scheduler, adds, consumers) => {
      const queue = createWorkQueue<number>();
      const work = new Work(scheduler, new Map());
      const consume = async (signal: AbortSignal): Promise<void> => {
        while (true) {
          const lease = await queue.get({ signal });
          if (lease.shutdown) return;
          await work.handle(lease.item, { signal: new AbortController().signal });
          lease[Symbol.dispose]();
        }
      };
      const ends: Promise<unknown>[] = [];
      for (let i = 0; i < consumers; i++) {
        const controller = new AbortController();
        ends.push(consume(controller.signal).catch((reason) => assertEquals(reason, "enough")));
        scheduler.schedule(Promise.resolve(), `abort consumer ${i}`).then(() => controller.abort("enough"));
      }
      const steps = adds.map((key) => ({
        label: `add ${key}`,
        builder: () => Promise.resolve(work.add(queue, key)),
      }));
      await scheduler.waitFor(scheduler.scheduleSequence(steps).task);
      await scheduler.waitFor(Promise.all(ends)); // each aborted consumer ends in its current or next `get`

      const last = consume(new AbortController().signal);
      await scheduler.waitFor(queue.shutDownWithDrain());
      await last;
      assertEquals(work.covered, work.added);
    }),
  );
});
