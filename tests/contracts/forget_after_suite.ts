/** Tests of the failures that every engine counts for keys: when they are forgotten, and which leave no count. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { defineLimiter, type LimiterConfig, limiters, loadConfig, runWorkers, systemClock } from "@workqueue/core";
import type { Engine, RemoteQueue } from "@workqueue/engine";
import { setTimeout } from "node:timers/promises";
import { planLimiter, type PlanSettings } from "../../packages/engine/limiter_plan.ts";
import { issuesOf } from "../helpers.ts";
import { addRateLimited, type EngineBench, type EngineTest } from "./engine_bench.ts";
import type { RemoteTest } from "./remote_place.ts";

const BACKOFF = { type: "exponential", baseDelay: "1s", maxDelay: "1h" } as const;
const BUCKET = { type: "bucket", rate: 1000, burst: 1000 } as const;
const HOUR = 3_600_000;

function limit(engine: Engine, limiter: LimiterConfig, settings: PlanSettings): void {
  engine.limiter = planLimiter("test", limiters.describe(limiter as never), settings);
}

/** Lets an attempt at a key fail, with an error, and returns its number of earlier failures. */
async function fail(bench: EngineBench, key = "a"): Promise<number> {
  if (!await bench.engine.promoteDelayed(key)) await bench.add(key);
  const { taken: [taken] } = await bench.take("o");
  await bench.turn("o", [{
    key,
    token: taken!.token,
    kind: "failed",
    reason: "down",
    rules: bench.engine.limiter.rules,
  }]);
  return taken!.failures;
}

async function failing(bench: EngineBench): Promise<string[]> {
  const { failingItems } = await bench.engine.snapshot(10);
  return failingItems.map(({ key, attempts, error }) => `${key} ${attempts} ${error}`);
}

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineForgetAfterSuite(engineTest: EngineTest): void {
  engineTest("failures are forgotten a time after the end of the last delay, with their error", async (bench) => {
    limit(bench.engine, BACKOFF, { forgetAfter: HOUR });
    assertEquals([await fail(bench), await fail(bench)], [0, 1]); // the second delay lasts for 2 s
    await bench.pass(HOUR + 1990);
    assertEquals([await bench.engine.numRequeues("a"), await failing(bench)], [2, ["a 2 down"]]);
    await bench.pass(20);
    assertEquals([await bench.engine.numRequeues("a"), await failing(bench)], [0, []]);
    assertEquals(await fail(bench), 0, "the next attempt is the first");
    assertEquals([await bench.engine.numRequeues("a"), await failing(bench)], [1, ["a 1 down"]]);
  });

  engineTest(
    "a key that is given up has the attempts and the first failure since failures were last forgotten",
    async (bench) => {
      limit(bench.engine, BACKOFF, { forgetAfter: HOUR });
      await fail(bench);
      await bench.pass(2 * HOUR);
      const { taken: [a] } = await bench.take("o");
      await bench.turn("o", [{ key: "a", token: a!.token, kind: "givenUp", why: "terminal", reason: "no" }]);
      const { entries: [kept] } = await bench.engine.givenUp({ search: "", limit: 1, cursor: undefined });
      assertEquals([kept!.attempts, Math.round(kept!.firstFailedAgoMs)], [1, 0]);
    },
  );

  engineTest("a changed forgetAfter applies from the next failure of a key", async (bench) => {
    limit(bench.engine, BACKOFF, { forgetAfter: HOUR });
    await fail(bench, "a");
    await bench.engine.cancelDelayed("a");
    await fail(bench, "b");
    limit(bench.engine, BACKOFF, {});
    await fail(bench, "b"); // from now on, never forgotten
    await bench.pass(2 * HOUR);
    const requeues = () => Promise.all(["a", "b"].map((key) => bench.engine.numRequeues(key)));
    assertEquals(await requeues(), [0, 2]);
    limit(bench.engine, BACKOFF, { forgetAfter: 1000 });
    assertEquals(await requeues(), [0, 2]);
    assertEquals(await fail(bench, "b"), 2);
    await bench.pass(10_000);
    assertEquals(await requeues(), [0, 0]);
  });

  for (const config of [BUCKET, { type: "ignore-early", limiter: BUCKET }] as const) {
    const counts = config.type !== "bucket";
    engineTest(
      `${config.type}: whether failures by hand are counted, and that failures in a pool are`,
      async (bench) => {
        limit(bench.engine, config, {});
        const add = () => addRateLimited(bench.engine, { key: "a", payload: "" });
        await add();
        assertEquals(await bench.engine.numRequeues("a"), counts ? 1 : 0);
        assertEquals((await bench.engine.counts()).failing, counts ? 1 : 0);
        await bench.engine.forget("a");
        assertEquals([await fail(bench), await fail(bench)], [0, 1]);
        assertEquals(await bench.engine.numRequeues("a"), counts ? 2 : 0);
        assertEquals(await failing(bench), ["a 2 down"]);
      },
    );
  }

  engineTest("a failure by hand before the retry is due does not move the retry", async (bench) => {
    limit(bench.engine, { type: "ignore-early", limiter: BACKOFF }, { forgetAfter: HOUR });
    const add = () => addRateLimited(bench.engine, { key: "a", payload: "" });
    const due = async () => Math.round((await bench.engine.snapshot(1)).delayedItems[0]!.dueInMs);
    await add();
    assertEquals(await due(), 1000);
    await bench.pass(400);
    await add();
    assertEquals([await due(), await bench.engine.numRequeues("a")], [600, 1]);
    await bench.pass(700);
    await add();
    assertEquals([await due(), await bench.engine.numRequeues("a")], [2000, 2]);
    await bench.pass(HOUR + 2001);
    await add();
    assertEquals([await bench.engine.numRequeues("a")], [1], "the time when it was due is forgotten too");
  });

  engineTest(
    "rule 17: a key is not given up while it has retries left, or if its failure is not counted",
    async (bench) => {
      limit(bench.engine, { type: "ignore-early", limiter: BACKOFF }, {});
      const take = async () => (await bench.take("o")).taken[0]!.token;
      const giveUp = async (token: string, maxRetries: number, attempts?: number) => {
        const finish = { key: "a", token, kind: "givenUp", why: "maxRetries", attempts, maxRetries } as const;
        return (await bench.turn("o", [finish])).answers[0];
      };
      await fail(bench); // the retry is due after 1 s
      await bench.add("a");
      const early = await take();
      assertEquals([await giveUp(early, 0), (await bench.engine.counts()).processing], [1, 1]);
      await bench.pass(1100);
      assertEquals(await giveUp(early, 0), 1, "its retry is due only now");
      assertEquals(await bench.finish("a", early), true);
      await fail(bench);
      await bench.pass(1100);
      const retry = await take();
      assertEquals([await giveUp(retry, 2), await giveUp(retry, 1, 7), await giveUp(retry, 1)], [1, true, false]);
      const attempts = async () => {
        const { entries } = await bench.engine.givenUp({ search: "", limit: 2, cursor: undefined });
        return entries.map((each) => each.attempts);
      };
      assertEquals(await attempts(), [7]);
      await bench.add("a");
      const afresh = await take();
      assertEquals([await giveUp(afresh, 1), await giveUp(afresh, 0), await attempts()], [0, true, [1]]);
    },
  );
}

/** Registers the tests of queue objects. */
export function forgetAfterSuite(test: RemoteTest): void {
  /** Returns the number of failures after a failure by hand, and the number after these are forgotten. */
  const countsOf = async (queue: RemoteQueue) => {
    await queue.addRateLimited("a");
    const before = await queue.numRequeues("a");
    while (await queue.numRequeues("a") > 0) await setTimeout(20);
    return [before, await queue.numRequeues("a")];
  };
  const quick = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;

  test("forgetAfter is an option of a queue", async (place) => {
    await using queue = place.open({ name: "forgets", limiter: quick, forgetAfter: "1s" });
    assertEquals(await countsOf(queue), [1, 0]);
    const open = (forgetAfter: unknown) => () => place.open({ name: "forgets", forgetAfter: forgetAfter as number });
    assertThrows(open(-1), RangeError, "'forgetAfter' must be at least 0 ms, got -1");
    assertThrows(open("soon"), TypeError, "'forgetAfter' must be a duration");
  });

  test("forgetAfter in a document applies to the queue, and a reload changes it", async (place) => {
    const document = (forgetAfter?: string) => ({ queues: { q: { limiter: quick, forgetAfter } } });
    const config = loadConfig(document());
    await using queue = place.openFrom(config, "q");
    await queue.addRateLimited("b");
    config.reload(document("1s"));
    assertEquals(await countsOf(queue), [1, 0]);
    assertEquals(await queue.numRequeues("b"), 1, "counted before");
    const misplaced = { queues: { q: { limiter: { ...quick, forgetAfter: "1s" } } } };
    assertEquals(issuesOf(() => loadConfig(misplaced as never)), [{
      path: "/queues/q/limiter/forgetAfter",
      message: '"forgetAfter" is an option of the queue, not of a limiter',
    }]);
  });

  test("with a bucket, attempts are counted, and numRequeues is 0", async (place) => {
    await using queue = place.open({ name: "bucket", limiter: BUCKET });
    await queue.addRateLimited("by hand");
    assertEquals([await queue.numRequeues("by hand"), (await queue.counts()).failing], [0, 0]);
    const attempts: number[] = [];
    const pool = runWorkers(queue, (_, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length < 3) throw new Error("no");
    }, { onError() {} });
    await queue.whenIdle();
    await pool.stop();
    assertEquals(attempts, [1, 2, 3]);
  });

  test("two processes that fail and forget one key at once count the same, and don't take a token twice", async (place) => {
    const HOURS = 3_600_000;
    const limiter = {
      type: "max-of",
      limiters: [{ type: "exponential", baseDelay: "1h", maxDelay: "9h" }, { type: "bucket", rate: 1e-9, burst: 5 }],
    } as const;
    await using one = place.open({ name: "both", limiter });
    await using other = place.open({ name: "both", limiter });
    const take = async () => {
      assert(await one.promoteDelayed("a"));
      const lease = await one.get();
      assert(!lease.shutdown);
      return lease;
    };
    const state = async () => {
      const { delayedItems: [a] } = await one.snapshot();
      return [await one.numRequeues("a"), Math.round(a!.dueInMs / HOURS)];
    };
    await one.addRateLimited("a");
    await one.addRateLimited("a");

    const forgotten = await take();
    assertEquals(forgotten.attempt, 3);
    await other.forget("a");
    await forgotten.finish({ requeue: true });
    assertEquals(await state(), [1, 1]);

    const failed = await take();
    await other.addRateLimited("a");
    await other.cancelDelayed("a");
    await failed.finish({ requeue: true });
    assertEquals(await state(), [3, 4], "the fifth token is the last");
  });

  test("a custom limiter receives the item, the key and the start of each failure", async (place) => {
    const calls: unknown[][] = [];
    const registry = limiters.extend().register(defineLimiter({
      type: "own",
      description: "",
      options: {},
      create: () => ({
        when: () => 0,
        forget() {},
        numRequeues: () => 0,
        next: (failures, item, key, { startedAt, dueAt, minDelay }) => {
          calls.push([failures, item, key, dueAt, minDelay]);
          assert(Math.abs(systemClock.now() - startedAt) < 60_000, "by the clock of this process");
          return 0;
        },
      }),
    }));
    const open = <T>(keyOf?: (item: T) => string) =>
      place.open<T>({ name: "own", limiter: { type: "own" } as never, limiters: registry, keyOf, onQueueError() {} });
    await using queue = open(({ id }: { id: string }) => id);
    await queue.addRateLimited({ id: "a" }, { minDelay: 5 });
    const lease = await queue.get();
    if (!lease.shutdown) await lease.finish({ requeue: true });
    assertEquals(calls.map(([failures, item]) => [failures, item]), [[1, { id: "a" }], [2, { id: "a" }]]);
    assertEquals(calls.map(([, , ...rest]) => rest), [["a", undefined, 5], ["a", undefined, 0]]);

    await using other = open<string>(); // can't read the item
    const wait = new AbortController();
    const taken = other.get({ signal: wait.signal }).catch(() => {});
    while (await queue.numRequeues({ id: "a" }) < 3);
    wait.abort();
    await taken;
    assertEquals(calls.length, 2);
  });

  test("the time at which an attempt begins is read only for a limiter that needs it", async (place) => {
    const COUNT = 50;
    /** Returns how often the clock was read while items were taken, worked on and finished. */
    const looksWith = async (name: string, limiter: LimiterConfig) => {
      await using queue = place.open({ name, limiter, limiters: own });
      await queue.addAll(Array.from({ length: COUNT }, (_, i) => `${i}`));
      const { Date, setTimeout } = globalThis;
      let looks = 0;
      globalThis.Date = class extends Date {
        static override now(): number {
          looks++;
          return Date.now();
        }
      } as DateConstructor;
      globalThis.setTimeout = setTimeout.bind(globalThis); // otherwise, `systemClock` doesn't use another `Date`
      try {
        const leases = await Promise.all(Array.from({ length: COUNT }, () => queue.get()));
        await Promise.all(leases.map((lease) => lease.shutdown || lease.finish({ requeue: true })));
      } finally {
        Object.assign(globalThis, { Date, setTimeout });
      }
      return looks;
    };
    const own = limiters.extend().register(defineLimiter({
      type: "own",
      description: "",
      options: {},
      create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0, next: () => 1000 }),
    }));
    assert(await looksWith("own", { type: "own" } as never) >= COUNT);
    assert(await looksWith("built-in", { type: "jitter", limiter: BACKOFF, spread: 0.5 }) < COUNT / 2);
  });
}
