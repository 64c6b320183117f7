/**
 * Tests of the retry budget of every engine, which all processes share. Each test sets the clock.
 * `tests/queue/retry_budget_test.ts` tests the budget of queues in memory.
 */

import { assertEquals } from "@std/assert";
import { limiters } from "@workqueue/core";
import type { Engine, Finish, TakenKey } from "@workqueue/engine";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { addRateLimited, type EngineBench, type EngineTest, keysOf, LEASE } from "./engine_bench.ts";

/** Budget of half a retry for each first attempt, and hardly any other. */
const HALF = { ratio: 0.5, minRate: 0.001 };
/** Limiter's delay of a key that failed once, in milliseconds, and a little more for the time of the calls. */
const DELAY = 10.1;

/** Makes retries of keys due. Those without budget are then blocked, in this order. */
async function retry(bench: EngineBench, ...keys: string[]): Promise<void> {
  for (const key of keys) await addRateLimited(bench.engine, { key, payload: `of ${key}` });
  await bench.pass(DELAY);
}

/** Puts a budget in force, and uses up its first retry, which is allowed in any case. */
async function limit(bench: EngineBench, budget = HALF): Promise<void> {
  await bench.engine.limitRetries(budget);
  await retry(bench, "reserve");
  await finishAll(bench, await bench.take("o"));
}

async function finishAll(
  bench: EngineBench,
  { taken }: { readonly taken: readonly TakenKey[] },
  end: Pick<Finish, "kind" | "delay"> = { kind: "succeeded" },
): Promise<void> {
  await bench.turn("o", taken.map(({ key, token }) => ({ key, token, ...end })));
}

/** Takes and finishes everything that is ready. Returns the keys. */
async function drain(bench: EngineBench, engine?: Engine): Promise<string[]> {
  const reply = await bench.take("o", 50, 0, engine);
  await finishAll(bench, reply);
  return keysOf(reply);
}

async function countsOf(bench: EngineBench): Promise<[ready: number, blocked: number, delayed: number]> {
  const { ready, blocked, delayed } = await bench.engine.counts();
  return [ready, blocked, delayed];
}

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineRetryBudgetSuite(engineTest: EngineTest): void {
  engineTest("rule 18: the first attempts and the retries of all processes share one budget", async (bench) => {
    const [one, other] = [bench.open({}), bench.open({})];
    await limit(bench);
    await retry(bench, "a", "b", "c");
    await bench.add("1", "2", "3");
    assertEquals(await countsOf(bench), [3, 3, 0]);
    const first = await bench.take("one", 1, 0, one);
    assertEquals([keysOf(first), await countsOf(bench)], [["1"], [2, 3, 0]]);
    const second = await bench.take("other", 1, 0, other);
    assertEquals([keysOf(second), await countsOf(bench)], [["2"], [2, 2, 0]], "half a retry for each of two");
    assertEquals(keysOf(await bench.take("one", 5, 1, one)), ["3", "a"]);
    assertEquals(keysOf(await bench.take("other", 5, 1, other)), []);
    const later = bench.open({}); // a process that started later
    await bench.add("4");
    assertEquals(keysOf(await bench.take("later", 5, 0, later)), ["4", "b"]);
    assertEquals(await countsOf(bench), [0, 1, 0]);
  });

  engineTest("rule 18: a budget that a process was given before replaces no later one", async (bench) => {
    const [one, other] = [bench.open({}), bench.open({})];
    await one.limitRetries({ ratio: 0, minRate: 0 });
    await other.limitRetries({ ratio: 0, minRate: 1_000_000 });
    await one.limitRetries({ ratio: 0, minRate: 0 }); // as after a reload that changes something else
    await retry(bench, "a");
    assertEquals(await countsOf(bench), [1, 0, 0]);
  });

  engineTest("rule 18: the attempt after a lost one is no first attempt, also after an add", async (bench) => {
    await limit(bench, { ratio: 1, minRate: 0.001 });
    await bench.add("a");
    for (let time = 0; time < 3; time++) {
      assertEquals(keysOf(await bench.take(`gone ${time}`)), ["a"]);
      if (time === 2) await bench.add("a");
      await bench.pass(LEASE + 1);
    }
    await retry(bench, "b");
    assertEquals(keysOf(await bench.take("o")), ["a"]);
    assertEquals(await countsOf(bench), [0, 1, 0]);
  }, { maxStalls: 1 });

  engineTest("rule 18: a key that was delayed before the queue had a budget is no retry", async (bench) => {
    await addRateLimited(bench.engine, { key: "a", payload: "" });
    await bench.engine.limitRetries({ ratio: 0, minRate: 0 });
    await addRateLimited(bench.engine, { key: "b", payload: "" });
    await bench.pass(DELAY);
    assertEquals(await countsOf(bench), [1, 1, 0]);
    assertEquals(keysOf(await bench.take("o", 2)), ["a"]);
  });

  engineTest("rule 15: with a budget, too, an owner gets only a few keys that stalled", async (bench) => {
    await limit(bench);
    await bench.add("a", "b", "c", "d");
    await bench.take("gone", 4);
    await bench.pass(LEASE + 1);
    assertEquals(keysOf(await bench.take("one", 8)), ["a"]);
    assertEquals(keysOf(await bench.take("two", 16)), ["b", "c"]);
  });

  engineTest("rule 18: a retry that becomes ready is taken in the same turn", async (bench) => {
    await limit(bench, { ratio: 1, minRate: 0.001 });
    await retry(bench, "a", "b", "c", "d");
    await bench.add("1", "2", "3");
    assertEquals(await drain(bench), ["1", "2", "3", "a", "b", "c"]);
    await bench.add("4", "5");
    assertEquals(keysOf(await bench.take("o", 2)), ["4", "5"]);
    assertEquals(keysOf(await bench.take("p", 2)), ["d"]);
  });

  engineTest("rule 18: minRate makes one retry ready at a time, when an idle process checks", async (bench) => {
    await limit(bench, { ratio: 0, minRate: 4 });
    await retry(bench, "a", "b", "c");
    const { pauseMs } = await bench.take("idle", 5);
    assertEquals(Math.round(pauseMs!), 240, "from the retry before, which was ready 10 ms ago");
    await bench.pass(239.5);
    assertEquals(await countsOf(bench), [0, 3, 0]);
    await bench.pass(1);
    assertEquals(await drain(bench), ["a"]);
    await bench.pass(2000); // nobody looks
    await bench.add("1");
    assertEquals(await drain(bench), ["b", "1"]);
    const { pauseMs: next } = await bench.take("idle", 5);
    assertEquals(Math.round(next!), 250);
  });

  engineTest(
    "rule 18: a budget of zero blocks every retry, and a process without a budget changes nothing",
    async (bench) => {
      await bench.open({}).limitRetries({ ratio: 0, minRate: 0 });
      await retry(bench, "a");
      const { pauseMs, taken } = await bench.take("idle", 5);
      assertEquals([pauseMs, taken], [undefined, []]);
      await bench.pass(100_000);
      await bench.add("1");
      assertEquals([await drain(bench), await countsOf(bench)], [["1"], [0, 1, 0]]);
    },
  );

  engineTest("rule 18: the credit of a first attempt expires after ten seconds", async (bench) => {
    await limit(bench);
    await bench.add("1");
    await drain(bench);
    await bench.pass(20);
    await bench.add("2");
    await drain(bench);
    await bench.pass(9985);
    await retry(bench, "a"); // the credit of 1 has expired
    assertEquals(await countsOf(bench), [0, 1, 0]);
    await bench.pass(10_000);
    await bench.add("3");
    assertEquals(await drain(bench), ["3"]);
    await bench.add("4");
    assertEquals(await drain(bench), ["4", "a"]);
  });

  engineTest("rule 18: credit that was used expires with the other credit", async (bench) => {
    await limit(bench, { ratio: 1, minRate: 0.001 });
    await bench.add("1");
    await drain(bench);
    await retry(bench, "a");
    assertEquals(await drain(bench), ["a"]);
    for (const key of ["2", "3"]) {
      await bench.pass(9000);
      await bench.add(key);
      await drain(bench);
    }
    await bench.pass(1500);
    await retry(bench, "b", "c"); // only the credit of 3 is left
    assertEquals(await countsOf(bench), [1, 1, 0]);
  });

  engineTest("rule 18: an add makes a blocked retry ready at once, as a first attempt", async (bench) => {
    await limit(bench);
    await retry(bench, "a", "b", "c");
    await bench.add("b");
    assertEquals(await countsOf(bench), [1, 2, 0]);
    await bench.add("1");
    assertEquals(await drain(bench), ["b", "1", "a"]);
  });

  engineTest("rule 18: with folds, an add leaves a blocked retry blocked, with the newest item", async (bench) => {
    await limit(bench);
    const engine = bench.open({ replaces: true, folds: true, hasItems: true });
    await retry(bench, "a");
    await engine.addEach([{ key: "a", payload: "new", delay: 0, priority: 3 }]);
    await engine.addEach([{ key: "a", payload: "newest", delay: 5, priority: 1 }]);
    assertEquals(await countsOf(bench), [0, 1, 0]);
    await engine.limitRetries({ ratio: 0, minRate: 1_000_000 });
    const { taken: [a] } = await bench.take("o", 1, 0, engine);
    assertEquals([a!.payload, a!.priority], ["newest", 3]);
  });

  engineTest("rule 18: with folds, a retry that was due during a failed attempt leaves no trace", async (bench) => {
    await limit(bench, { ratio: 1, minRate: 0.001 });
    const engine = bench.open({ replaces: true, folds: true });
    await bench.add("a");
    const { taken: [a] } = await bench.take("o", 1, 0, engine);
    await retry(bench, "a");
    await bench.engine.counts();
    assertEquals(await bench.finish("a", a!.token, "failed", engine), true);
    assertEquals(await countsOf(bench), [0, 0, 1]);
    await engine.forget("a");
    await engine.add([{ key: "a", payload: "" }]);
    await bench.pass(10_001); // credit expires
    await retry(bench, "b");
    assertEquals(await countsOf(bench), [1, 1, 0]);
    assertEquals(await drain(bench, engine), ["a", "b"], "the attempt at a is a first attempt");
  });

  engineTest("rule 18: a blocked retry that is due once more, or is not delayed, stays blocked", async (bench) => {
    await limit(bench);
    await retry(bench, "a");
    await retry(bench, "a");
    assertEquals(await countsOf(bench), [0, 1, 1]);
    await bench.pass(20);
    assertEquals(await countsOf(bench), [0, 1, 0]);
    assertEquals(await bench.engine.cancelDelayed("a"), false);
    assertEquals(await bench.engine.promoteDelayed("a"), false);
    assertEquals(await countsOf(bench), [0, 1, 0]);
  });

  engineTest("rule 18: the call with the earlier deadline decides whether a delayed key is a retry", async (bench) => {
    await limit(bench);
    for (const key of ["a", "b"]) await addRateLimited(bench.engine, { key, payload: "" });
    await bench.addAfter(5, "a");
    await bench.addAfter(15, "b");
    await bench.pass(DELAY);
    assertEquals([await countsOf(bench), await drain(bench)], [[1, 1, 0], ["a"]]);
  });

  engineTest("rule 18: promoted, requeued and redriven keys are first attempts", async (bench) => {
    await limit(bench);
    for (const key of ["x", "a", "b"]) await addRateLimited(bench.engine, { key, payload: "" });
    assertEquals(await bench.engine.promoteDelayed("x"), true);
    await bench.pass(DELAY);
    const { taken } = await bench.take("o");
    assertEquals([keysOf({ taken } as never), await countsOf(bench)], [["x"], [0, 2, 0]]);
    await finishAll(bench, { taken }, { kind: "requeueAfter", delay: 5 });
    await bench.pass(6);
    const { taken: [x, a] } = await bench.take("o", 2);
    assertEquals([x!.key, a!.key], ["x", "a"]);
    await bench.turn("o", [{ key: "x", token: x!.token, kind: "givenUp", why: "terminal" }]);
    await bench.engine.redrive({ search: "", keys: undefined }, undefined);
    await bench.add("y");
    assertEquals(await drain(bench), ["x", "y", "b"]);
  });

  engineTest(
    "rule 18: attempts that processes hand back or lose are not first attempts, and need no budget",
    async (bench) => {
      await limit(bench, { ratio: 1, minRate: 0.001 });
      await bench.add("1", "2", "3", "4");
      const { taken } = await bench.take("o", 4);
      await bench.pass(10_001); // their credit expires
      await retry(bench, "a");
      const [one, two] = taken;
      await bench.turn("o", [
        { key: "1", token: one!.token, kind: "handedBack" },
        { key: "2", token: two!.token, kind: "failed" },
      ]);
      await bench.engine.release("o", [taken[2]!.token]); // 4 goes back
      assertEquals(keysOf(await bench.take("p", 9)).sort(), ["1", "4"]);
      await bench.pass(LEASE + 1);
      const again = [...keysOf(await bench.take("q", 9)), ...keysOf(await bench.take("r", 9))];
      assertEquals(again.filter((key) => key === "a" || key === "2"), [], "blocked");
      assertEquals(await countsOf(bench).then(([, blocked]) => blocked), 2);
    },
  );

  engineTest("rules 15 and 18: a key that stalled twice is still tried alone", async (bench) => {
    await limit(bench);
    await bench.add("poison");
    for (const owner of ["one", "two"]) {
      assertEquals(keysOf(await bench.take(owner, 5)), ["poison"]);
      await bench.pass(LEASE + 1);
    }
    await bench.add("1", "2", "3");
    const { taken, isAlone } = await bench.take("three", 5);
    assertEquals([keysOf({ taken } as never), isAlone], [["poison"], true]);
    assertEquals(await drain(bench), ["1", "2", "3"]);
  });

  engineTest("rules 13 and 18: retries and attempts keep to the bucket and the limit of their group", async (bench) => {
    const engine = bench.order({ type: "fair", separator: "/", maxPerGroup: 1 });
    await limit(bench, { ratio: 1, minRate: 0.001 });
    await retry(bench, "a/1", "b/1", "c/1");
    await engine.add(["a/2", "d/1", "e/1"].map((key) => ({ key, payload: "" })));
    const throttle = { id: "bucket", rate: 1, burst: 4 };
    const reply = await engine.turn({ process: "p", owner: "o", known: 0, wanted: 9, throttle, finishes: [] });
    assertEquals(keysOf(reply), ["a/2", "d/1", "e/1", "b/1"]); // a/1 has budget, but its group has an attempt
    assertEquals(await countsOf(bench), [1, 1, 0]);
    assertEquals(Math.round(reply.pauseMs! / 100), 10, "until the next token");
  });

  engineTest("rule 18: a retry that is due while its key is processing is blocked afterwards", async (bench) => {
    await limit(bench);
    await bench.add("a");
    const { taken: [a] } = await bench.take("o");
    await retry(bench, "a");
    assertEquals(await bench.finish("a", a!.token, "done"), true);
    assertEquals(await countsOf(bench), [0, 1, 0]);
    await bench.add("1");
    assertEquals(await drain(bench), ["1", "a"]);
  });

  engineTest("rule 18: an add during an attempt starts a first attempt, also beside a retry", async (bench) => {
    await bench.engine.limitRetries({ ratio: 0, minRate: 0 });
    const [keep, replace, fold] = [{}, { replaces: true }, { replaces: true, folds: true }];
    const none = () => Promise.resolve();
    /** Works on a key that is added during the attempt, between two other calls. Returns the keys that are ready. */
    const readyAfter = async (settings: object, kind: Finish["kind"], before = none, after = none) => {
      const engine = bench.open(settings);
      await engine.add([{ key: "a", payload: "" }]);
      const { taken: [a] } = await bench.take("o", 1, 0, engine);
      await before();
      await engine.add([{ key: "a", payload: "" }]);
      await after();
      assertEquals(await bench.finish("a", a!.token, kind, engine), true);
      const ready = await drain(bench, engine);
      await engine.cancelDelayed("a");
      return ready;
    };
    for (const settings of [keep, replace, fold]) {
      for (const kind of ["done", "retry"] as const) {
        assertEquals(await readyAfter(settings, kind), ["a"]);
        assertEquals(await readyAfter(settings, kind, () => retry(bench, "a")), ["a"]);
        assertEquals(await readyAfter(settings, kind, none, () => retry(bench, "a")), ["a"]);
      }
    }
    for (const settings of [keep, replace]) {
      assertEquals(await readyAfter(settings, "failed"), ["a"]);
      assertEquals(await readyAfter(settings, "failed", () => retry(bench, "a")), ["a"]);
    }
  });

  engineTest("rule 18: with folds, an add during an attempt that fails without a delay needs budget", async (bench) => {
    await bench.engine.limitRetries({ ratio: 0, minRate: 0 });
    const engine = bench.open({ replaces: true, folds: true, hasItems: true });
    engine.limiter = planLimiter("test", limiters.describe({ type: "bucket", rate: 1000, burst: 1000 }));
    await bench.add("a");
    const { taken: [a] } = await bench.take("o", 1, 0, engine);
    await engine.addEach([{ key: "a", payload: "new", delay: 0, priority: 3 }]);
    assertEquals(await bench.finish("a", a!.token, "failed", engine), true);
    assertEquals(await countsOf(bench), [0, 1, 0]);
    await engine.limitRetries({ ratio: 0, minRate: 1_000_000 });
    const { taken: [again] } = await bench.take("o", 1, 0, engine);
    assertEquals([again!.payload, again!.priority], ["new", 3]);
  });

  engineTest("rule 18: a changed budget applies at once, in all processes, and the credit stays", async (bench) => {
    await limit(bench);
    await bench.add("1");
    await drain(bench);
    await retry(bench, "a", "b", "c");
    await bench.take("idle", 5);
    const other = bench.open({});
    await other.limitRetries({ ratio: 0.5, minRate: 10 });
    assertEquals(await countsOf(bench), [0, 3, 0]);
    const { pauseMs } = await bench.take("idle", 5);
    assertEquals(Math.round(pauseMs!), 90);
    await bench.pass(90);
    assertEquals(await drain(bench), ["a"]);
    await other.limitRetries(HALF);
    await bench.pass(1000);
    await bench.add("2");
    assertEquals(await drain(bench), ["2", "b"], "with half a retry for 1");
    await other.limitRetries({ ratio: 0, minRate: 1_000_000 });
    assertEquals(await drain(bench), ["c"]);
    await retry(bench, "a", "b", "c");
    assertEquals(await drain(bench), ["a", "b", "c"], "without limit");
  });

  engineTest("rule 18: counts and snapshots include blocked retries, with their age and errors", async (bench) => {
    assertEquals((await bench.engine.snapshot(9)).blockedRetries, undefined);
    await limit(bench);
    await bench.add("a");
    const { taken: [a] } = await bench.take("o");
    await bench.turn("o", [{ key: "a", token: a!.token, kind: "failed", reason: "down" }]);
    await bench.pass(DELAY);
    await bench.pass(5000);
    const { ready, blocked, delayed, blockedRetries, oldestReadyMs, readyItems, delayedItems, failingItems } =
      await bench.engine.snapshot(9);
    assertEquals([ready, blocked, delayed, blockedRetries, readyItems, delayedItems], [0, 1, 0, 1, [], []]);
    assertEquals(Math.round(oldestReadyMs), 5000);
    assertEquals(failingItems.map(({ key, error, dueInMs }) => [key, error, dueInMs]), [["a", "down", undefined]]);
  });

  engineTest("rules 12 and 18: a retry keeps its priority and its age while it is blocked", async (bench) => {
    const engine = bench.order({ type: "priority", min: 0, max: 10, maxHeadStart: "10s" });
    await limit(bench);
    await addRateLimited(engine, { key: "a", payload: "" }, { priority: 4 });
    await bench.pass(DELAY);
    await bench.pass(3000);
    await engine.addEach(["1", "2", "3"].map((key) => ({ key, payload: "", delay: 0, priority: key === "3" ? 6 : 8 })));
    const { taken } = await bench.take("o", 9);
    assertEquals(taken.map(({ key, priority }) => [key, priority]), [["1", 8], ["2", 8], ["a", 4], ["3", 6]]);
  });

  for (const by of ["rate", "credit"]) {
    engineTest(`rule 18: more retries than a call moves become ready in several calls, by ${by}`, async (bench) => {
      await limit(bench);
      const keys = Array.from({ length: 450 }, (_, i) => `${i}`.padStart(3, "0"));
      await retry(bench, ...keys);
      await bench.pass(50); // the time of the calls
      for (let i = 0; i < 3; i++) await bench.engine.counts();
      assertEquals(await countsOf(bench), [0, 450, 0]);
      await bench.engine.limitRetries({ ratio: 1000, minRate: by === "rate" ? 1_000_000 : 0 });
      await addRateLimited(bench.engine, { key: "late", payload: "" });
      await bench.pass(DELAY);
      const expected = [...keys, "late"];
      if (by === "credit") {
        await bench.add("first");
        expected.unshift("first");
      }
      const taken: string[] = [];
      while (taken.length < expected.length) {
        const reply = await bench.take("o", 100, taken.length);
        taken.push(...keysOf(reply));
        if (reply.taken.length < 100 && taken.length < expected.length) assertEquals(reply.pauseMs, 0);
      }
      assertEquals(taken, expected);
    });
  }
}
