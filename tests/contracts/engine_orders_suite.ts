/** Tests of the orders that every engine can put its ready keys in: priorities and groups. Each test sets the clock. */

import { assert, assertEquals } from "@std/assert";
import type { DisciplineConfig } from "@workqueue/core";
import type { Engine } from "@workqueue/engine";
import { type EngineBench, type EngineTest, keysOf, LEASE } from "./engine_bench.ts";

const AGING = { type: "priority", min: 0, max: 10, maxHeadStart: "10s" } as const;
const STRICT = { type: "priority", min: 0, max: 10, maxHeadStart: "unlimited" } as const;
const FAIR = { type: "fair", separator: "/" } as const;

/** Adds keys with priorities. */
async function addRanked(engine: Engine, priorities: Readonly<Record<string, number>>, delay = 0): Promise<void> {
  await engine.addEach(
    Object.entries(priorities).map(([key, priority]) => ({ key, payload: "", delay, priority })),
  );
}

/** Takes keys, one per call, for an owner that keeps them. */
async function takeOneByOne(bench: EngineBench, engine: Engine, count: number, owner = "o"): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; i < count; i++) keys.push(...keysOf(await bench.take(owner, 1, i, engine)));
  return keys;
}

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineOrdersSuite(engineTest: EngineTest): void {
  engineTest("rule 12: a priority is a head start, and delays no item by more than that", async (bench) => {
    const engine = bench.order(AGING);
    await addRanked(engine, { old: 0, newer: 5 });
    bench.jump(4900);
    await addRanked(engine, { five: 5, clamped: -7 });
    bench.jump(5200);
    await addRanked(engine, { late: 10, clampedHigh: 99 });
    assertEquals(await takeOneByOne(bench, engine, 7), ["newer", "five", "old", "late", "clampedHigh", "clamped"]);
  });

  engineTest("rule 12: of keys with the same place, the one that became ready first goes first", async (bench) => {
    const engine = bench.order({ ...AGING, maxHeadStart: "10ms" });
    await addRanked(engine, { first: 10 });
    const names = ["d", "b", "e", "a", "c"];
    // Each of these keys is added 1 ms after the one before, and has a head start that is 1 ms longer.
    for (const [i, name] of names.entries()) {
      bench.jump(1);
      await addRanked(engine, { [name]: i });
    }
    assertEquals(keysOf(await bench.take("o", 3, 0, engine)), ["first", ...names].slice(0, 3));
    assertEquals(await takeOneByOne(bench, engine, 3), names.slice(2));
  });

  engineTest("rule 3: a key that stalled twice does not wait for older keys of a blocked group", async (bench) => {
    const engine = bench.order(FAIR);
    await addRanked(engine, { "a/1": 0 });
    await engine.pauseGroup("a", 3_600_000);
    await addRanked(engine, { "b/1": 0 });
    for (const owner of ["gone", "gone again"]) {
      assertEquals(keysOf(await bench.take(owner, 1, 0, engine)), ["b/1"]);
      await bench.pass(LEASE + 1);
    }
    const reply = await bench.take("o", 1, 0, engine);
    assertEquals([keysOf(reply), reply.isAlone], [["b/1"], true]);
  });

  engineTest(
    "rule 13: a key that stalled does not wait for hundreds of older keys of a blocked group",
    async (bench) => {
      const engine = bench.order(FAIR);
      await bench.add(...Array.from({ length: 300 }, (_, i) => `a/${i}`));
      for (let known = 0; known < 300; known += 100) await bench.take("gone", 100, known, engine);
      await bench.add("b/1");
      assertEquals(keysOf(await bench.take("gone", 1, 300, engine)), ["b/1"]);
      await engine.pauseGroup("a", 3_600_000);
      await bench.pass(2 * LEASE);
      const taken: string[] = [];
      for (let i = 0; i < 5; i++) { // a call takes away at most 200 keys
        taken.push(...keysOf(await bench.take("o", 8, taken.length, engine)));
      }
      assertEquals(taken, ["b/1"]);
    },
  );

  engineTest("a token that no key takes, because its group is blocked, stays in the bucket", async (bench) => {
    const engine = bench.order(FAIR);
    const takeByToken = async () => {
      const throttle = { id: "throttle", rate: 0.001, burst: 1 };
      return keysOf(await engine.turn({ process: "p", owner: "o", known: 0, wanted: 1, throttle, finishes: [] }));
    };
    await addRanked(engine, { "a/1": 0 });
    await bench.take("gone", 1, 0, engine);
    await engine.pauseGroup("a", 3_600_000);
    await bench.pass(LEASE + 1);
    assertEquals(await takeByToken(), []);
    await addRanked(engine, { "b/1": 0 });
    assertEquals(await takeByToken(), ["b/1"]);
  });

  engineTest("rule 12: strict priorities go first, and a raised key goes to the end of its priority", async (bench) => {
    const engine = bench.order(STRICT);
    await addRanked(engine, { a: 1, b: 2, c: 2, d: 1 });
    await addRanked(engine, { a: 2, b: 1 });
    assertEquals(await takeOneByOne(bench, engine, 4), ["b", "c", "a", "d"]);
  });

  engineTest("the higher priority counts, even if the first one of a queue is negative", async (bench) => {
    const engine = bench.order(STRICT, { replaces: true });
    await addRanked(engine, { a: 0 }, 1);
    await addRanked(engine, { a: -2 });
    assertEquals((await bench.take("o", 1, 0, engine)).taken.map(({ priority }) => priority ?? 0), [0]);
  });

  engineTest("rule 12: a raised key keeps its age", async (bench) => {
    const engine = bench.order(AGING);
    await addRanked(engine, { a: 0 });
    bench.jump(1000);
    await addRanked(engine, { b: 4 });
    await addRanked(engine, { a: 4 });
    assertEquals(await takeOneByOne(bench, engine, 2), ["a", "b"]);
  });

  for (const discipline of [AGING, STRICT, FAIR, { ...FAIR, within: AGING }]) {
    const name = JSON.stringify(discipline);
    engineTest(`priorities stay through retries, delays and marks: ${name}`, async (bench) => {
      const engine = bench.order(discipline);
      await addRanked(engine, { a: 3 });
      const { taken: [first] } = await bench.take("o", 1, 0, engine);
      assertEquals([first!.key, first!.priority], ["a", 3]);
      assertEquals(await bench.finish("a", first!.token, "failed", engine), true);
      await addRanked(engine, { a: 2 }, 5);
      await bench.pass(11);
      const { taken: [second] } = await bench.take("o", 1, 0, engine);
      assertEquals([second!.key, second!.priority, second!.failures], ["a", 3, 1], "the higher of the two");
      await addRanked(engine, { a: 7 });
      await addRanked(engine, { a: 6 });
      assertEquals(
        (await engine.snapshot(9)).processingItems.map(({ priority, addedAgain }) => [priority, addedAgain]),
        [
          [3, true],
        ],
      );
      await bench.finish("a", second!.token, "succeeded", engine);
      const { taken: [third] } = await bench.take("o", 1, 0, engine);
      assertEquals(third!.priority, 7, "of those that marked it");
      await engine.turn({
        process: "p",
        owner: "o",
        known: 0,
        wanted: 0,
        throttle: undefined,
        finishes: [{ key: "a", token: third!.token, kind: "requeueAfter", delay: 10, priority: 1 }],
      });
      assertEquals((await engine.snapshot(9)).delayedItems.map(({ priority }) => priority), [1]);
      await bench.pass(11);
      assertEquals((await bench.take("o", 1, 0, engine)).taken.map(({ priority }) => priority), [1]);
    });

    engineTest(`keys that are handed back, released or left behind keep their places: ${name}`, async (bench) => {
      const engine = bench.order(discipline);
      await addRanked(engine, { "g/a": 1, "g/b": 1, "g/c": 1 });
      const { taken } = await bench.take("o", 2, 0, engine);
      assertEquals(taken.map(({ key }) => key), ["g/a", "g/b"]);
      await bench.finish("g/b", taken[1]!.token, "handedBack", engine);
      await engine.release("o", []);
      const { taken: again } = await bench.take("p", 2, 0, engine);
      assertEquals(again.map(({ key, priority }) => [key, priority]), [["g/a", 1], ["g/b", 1]]);
      await engine.leave("process of p", "p");
      assertEquals(await takeOneByOne(bench, engine, 4, "q"), ["g/a", "g/b", "g/c"]);
    });

    engineTest(`keys of a lost owner come back before others, with their priorities: ${name}`, async (bench) => {
      const engine = bench.order(discipline);
      await addRanked(engine, { a: 2, b: 1 });
      assertEquals(keysOf(await bench.take("gone", 1, 0, engine)), ["a"]);
      await addRanked(engine, { c: 5 });
      await bench.pass(LEASE + 1);
      const { taken } = await bench.take("o", 1, 0, engine);
      assertEquals(taken.map(({ key, priority }) => [key, priority]), [["a", 2]]);
      const { ready, blocked, processing } = await engine.counts();
      assertEquals({ ready, blocked, processing }, { ready: 2, blocked: 0, processing: 1 });
    });
  }

  engineTest("rule 13: groups take turns by weight, however many keys each has", async (bench) => {
    const engine = bench.order({ ...FAIR, weights: { b: 2 } });
    await bench.add(...["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"]);
    assertEquals(await takeOneByOne(bench, engine, 6), ["a/1", "b/1", "b/2", "a/2", "b/3", "a/3"]);
  });

  engineTest("rule 13: maxPerGroup limits all owners together, also while owners are lost", async (bench) => {
    const engine = bench.order({ ...FAIR, maxPerGroup: 2 });
    await bench.add(...["a/1", "a/2", "a/3", "a/4", "b/1"]);
    assertEquals(keysOf(await bench.take("one", 1, 0, engine)), ["a/1"]);
    assertEquals(keysOf(await bench.take("two", 9, 0, engine)), ["b/1", "a/2"]);
    const { ready, blocked } = await engine.counts();
    assertEquals({ ready, blocked }, { ready: 0, blocked: 2 });
    assertEquals((await engine.snapshot(9)).blockedGroups, [
      { group: "a", reason: "limit", blocked: 2, resumesInMs: null },
    ]);
    await bench.pass(LEASE + 1); // both are lost
    assertEquals(keysOf(await bench.take("three", 9, 0, engine)).length, 1, "one that stalled, of either group");
    for (let i = 0; i < 20; i++) {
      await bench.take(`owner ${i}`, 9, 0, engine);
      const { processingItems } = await engine.snapshot(9);
      const ofGroup = processingItems.filter(({ key }) => key.startsWith("a/")).length;
      assert(ofGroup <= 2, `${ofGroup} of the group`);
      if (i % 5 === 4) await bench.pass(LEASE + 1);
    }
  });

  engineTest("rule 13: a key that stalled waits until its group has room", async (bench) => {
    const engine = bench.order({ ...FAIR, maxPerGroup: 1 });
    await bench.add("a/1");
    await bench.take("gone", 1, 0, engine);
    await bench.pass(LEASE / 2);
    await bench.add("a/2", "b/1");
    assertEquals(keysOf(await bench.take("o", 1, 0, engine)), ["b/1"]);
    await bench.pass(LEASE / 2 + 1);
    await bench.engine.renew("o");
    const { taken: [first] } = await bench.take("o", 1, 1, engine);
    assertEquals(first!.key, "a/1");
    assertEquals(keysOf(await bench.take("p", 2, 0, engine)), [], "the group is at its limit");
    assertEquals(await bench.finish("a/1", first!.token, "succeeded", engine), true);
    assertEquals(keysOf(await bench.take("p", 2, 0, engine)), ["a/2"]);
  });

  engineTest("rule 13: a group beyond its rate is blocked until its next token", async (bench) => {
    const engine = bench.order({ ...FAIR, ratePerGroup: { rate: 2, burst: 2 } });
    await bench.add("a/1", "a/2", "a/3", "b/1");
    assertEquals((await engine.snapshot(9)).blockedGroups, [
      { group: "a", reason: "rate", blocked: 1, resumesInMs: null },
    ]);
    const { taken, pauseMs } = await bench.take("o", 9, 0, engine);
    assertEquals(taken.map(({ key }) => key), ["a/1", "b/1", "a/2"]);
    assert(Math.abs(pauseMs! - 500) < 1, `${pauseMs}`);
    const [group] = (await engine.snapshot(9)).blockedGroups!;
    assertEquals([group!.group, group!.reason, group!.blocked], ["a", "rate", 1]);
    assertEquals(keysOf(await bench.take("o", 9, 3, engine)), []);
    bench.jump(501);
    assertEquals(keysOf(await bench.take("o", 9, 3, engine)), ["a/3"]);
  });

  engineTest("rule 13: a paused group is blocked, and then hands out a probe", async (bench) => {
    const engine = bench.order(FAIR);
    await bench.add("a/1", "a/2", "b/1");
    assertEquals(await engine.pauseGroup("a", 1000), true);
    const { taken, pauseMs } = await bench.take("o", 9, 0, engine);
    assertEquals(taken.map(({ key }) => key), ["b/1"]);
    assert(Math.abs(pauseMs! - 1000) < 1, `${pauseMs}`);
    bench.jump(1001);
    const { taken: [probe, ...others] } = await bench.take("o", 9, 1, engine);
    assertEquals([probe!.key, others], ["a/1", []]);
    assertEquals((await engine.snapshot(9)).blockedGroups!.map(({ reason }) => reason), ["probing"]);
    await bench.finish("a/1", probe!.token, "succeeded", engine);
    assertEquals(keysOf(await bench.take("o", 9, 1, engine)), ["a/2"]);
    await engine.pauseGroup("b", 1000);
    await bench.add("b/2");
    assertEquals(keysOf(await bench.take("o", 9, 2, engine)), []);
    assertEquals(await engine.resumeGroup("b"), true);
    assertEquals(keysOf(await bench.take("o", 9, 2, engine)), ["b/2"]);
  });

  engineTest("rule 13: a pause and a limit stay when another discipline takes effect", async (bench) => {
    const engine = bench.order({ ...FAIR, maxPerGroup: 1 });
    await bench.add("a/1", "a/2", "b/1", "c/1");
    await engine.pauseGroup("c", 60_000);
    assertEquals(keysOf(await bench.take("o", 9, 0, engine)), ["a/1", "b/1"]);
    const other = bench.order({ ...FAIR, maxPerGroup: 2, by: "items" });
    await other.counts();
    await bench.add("a/3", "a/4");
    assertEquals(keysOf(await bench.take("o", 9, 2, other)), ["a/2"], "one of the group is processing already");
  });

  engineTest("rule 13: by time, a group with slow items gets fewer of them", async (bench) => {
    const engine = bench.order({ ...FAIR, by: "time" });
    for (let i = 0; i < 100; i++) await bench.add(`fast/${i}`, `slow/${i}`);
    const spent = { fast: 0, slow: 0 };
    for (let i = 0; i < 60; i++) {
      const { taken: [key] } = await bench.take("o", 1, 0, engine);
      const group = key!.key.startsWith("fast") ? "fast" : "slow";
      const duration = group === "fast" ? 10 : 100;
      spent[group] += duration;
      bench.jump(duration);
      await bench.finish(key!.key, key!.token, "succeeded", engine);
    }
    assert(Math.abs(spent.fast - spent.slow) <= 200, JSON.stringify(spent));
  });

  engineTest("a first in, first out queue has no groups", async (bench) => {
    assertEquals([await bench.engine.pauseGroup("a", 1), await bench.engine.resumeGroup("a")], [false, false]);
  });

  engineTest("a pause with an end lasts until its end", async (bench) => {
    await bench.add("a");
    await bench.engine.pauseUntil(1000);
    const { taken, pauseMs } = await bench.take("o");
    assertEquals(taken, []);
    assert(Math.abs(pauseMs! - 1000) < 1, `${pauseMs}`);
    bench.jump(1001);
    assertEquals(keysOf(await bench.take("o")), ["a"]);
    await bench.add("b");
    await bench.engine.pauseUntil(60_000);
    await bench.engine.resume();
    assertEquals(keysOf(await bench.take("o", 1, 1)), ["b"]);
  });

  const changes: readonly DisciplineConfig[] = [
    AGING,
    STRICT,
    FAIR,
    { ...FAIR, within: STRICT, maxPerGroup: 3 },
    AGING,
  ];
  engineTest("a new discipline lets processing keys end", async (bench) => {
    await bench.add("a/1", "a/2");
    let held = (await bench.take("o", 1)).taken[0]!;
    for (const discipline of changes) {
      const engine = bench.order(discipline);
      await addRanked(engine, { [held.key]: 5 });
      await bench.finish(held.key, held.token, "succeeded", engine);
      held = (await bench.take("o", 1, 0, engine)).taken[0]!;
      assert(held);
    }
    const { ready, blocked, processing } = await bench.engine.counts();
    assertEquals([ready + blocked, processing], [1, 1]);
  });

  engineTest("a new discipline applies to keys that are already ready, however many", async (bench) => {
    const COUNT = 450;
    await bench.add(...Array.from({ length: COUNT }, (_, i) => `${i % 7}/${i}`));
    const found = new Set<string>();
    for (const discipline of changes) {
      const engine = bench.order(discipline);
      await addRanked(engine, { [`0/urgent ${found.size}`]: 9 });
      for (let i = 0; i < 4; i++) {
        for (const { key, token } of (await bench.take("o", 10, 0, engine)).taken) {
          assert(!found.has(key));
          found.add(key);
          await bench.finish(key, token, "succeeded", engine);
        }
      }
      const { ready, blocked, processing } = await engine.counts();
      assertEquals([ready + blocked + found.size, processing], [COUNT + changes.indexOf(discipline) + 1, 0]);
      if (discipline === changes.at(-1)) break;
    }
  });
}
