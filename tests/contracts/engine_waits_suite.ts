/** Tests of the waits of processes for keys, which every engine passes: rule 23. Each test sets the clock. */

import { assert, assertEquals } from "@std/assert";
import { addRateLimited, type EngineBench, type EngineTest, LEASE } from "./engine_bench.ts";

/** Registers the tests of an engine. */
export function engineWaitsSuite(engineTest: EngineTest): void {
  const outcomesOf = async ({ engine }: EngineBench, process: string) => {
    const { outcomes } = await engine.waits({ process, received: [], ended: [], kept: [] });
    return outcomes.map(({ ids, outcome }) => [ids.split(",").map(Number).toSorted(), outcome] as const)
      .toSorted(([[a]], [[b]]) => a! - b!);
  };
  const entryOf = (key: string) => ({ key, payload: "", delay: 0, priority: 0 });

  engineTest(
    "rule 23: waits end with the first success of a hand-out after them, and are kept until received",
    async (bench) => {
      const { engine } = bench;
      await engine.addAndWait(entryOf("a"), "one", 1);
      await engine.addAndWait(entryOf("a"), "one", 2);
      await engine.addAndWait(entryOf("a"), "two", 1);
      await bench.add("b");
      const { taken: [a, b] } = await bench.take("o", 2);
      assertEquals([a!.isAwaited, b!.isAwaited ?? false], [true, false]);
      await engine.addAndWait(entryOf("a"), "one", 3);
      await engine.addAndWait(entryOf("b"), "two", 2);
      await bench.turn("o", [{ key: "a", token: a!.token, kind: "succeeded", result: "value 1" }]);
      assertEquals(await bench.finish("b", b!.token), true);
      assertEquals(await outcomesOf(bench, "one"), [[[1, 2], "value 1"]]);
      assertEquals(await outcomesOf(bench, "two"), [[[1], "value 1"]]);
      const again = await bench.take("o", 2);
      for (const { key, token } of again.taken) await bench.finish(key, token, "requeueAfter");
      assertEquals(await outcomesOf(bench, "one"), [[[1, 2], "value 1"], [[3], "done"]]);
      assertEquals(await outcomesOf(bench, "two"), [[[1], "value 1"], [[2], "done"]]);
      const { outcomes } = await engine.waits({ process: "one", received: [], ended: [], kept: [] });
      await engine.waits({ process: "one", received: outcomes.map(({ ids }) => ids), ended: [], kept: [] });
      assertEquals(await outcomesOf(bench, "one"), []);
    },
  );

  engineTest(
    "rule 23: a lost holder ends no wait, and an item that stalls too often or is cancelled ends all",
    async (bench) => {
      const { engine } = bench;
      await engine.addAndWait(entryOf("a"), "one", 1);
      for (let time = 0; time < 5; time++) {
        await bench.take(`gone ${time}`);
        const kept = [{ key: "a", id: 1 }];
        const { outcomes, lost } = await engine.waits({ process: "one", received: [], ended: [], kept });
        assertEquals([outcomes, lost], [[], []]);
        await bench.pass(LEASE + 1);
      }
      await bench.take("last");
      assertEquals(await outcomesOf(bench, "one"), [[[1], "givenUp stalled Each of its holders was lost: 5"]]);
      await engine.addAndWait(entryOf("c"), "one", 3);
      await engine.cancel("c", "why");
      assertEquals((await outcomesOf(bench, "one")).at(-1), [[3], "cancelled why"]);
    },
  );

  engineTest("rule 23: a retry by hand keeps the waits of its hand-out, and of no other", async (bench) => {
    const { engine } = bench;
    const take = async () => (await bench.take("o")).taken[0]!;
    await engine.addAndWait(entryOf("a"), "one", 1);
    const first = await take();
    await addRateLimited(engine, { key: "a", payload: "" });
    assertEquals(await bench.finish("a", first.token, "done"), true);
    await bench.pass(10);
    await engine.addAndWait(entryOf("a"), "one", 2);
    const second = await take();
    assertEquals([second.isAwaited, await outcomesOf(bench, "one")], [true, []]);
    await addRateLimited(engine, { key: "a", payload: "" });
    await engine.cancelDelayed("a");
    assertEquals(await bench.finish("a", second.token, "handedBack"), true);
    const third = await take();
    await engine.addAndWait(entryOf("a"), "one", 3);
    assertEquals(await bench.finish("a", third.token, "done"), true);
    assertEquals(await outcomesOf(bench, "one"), [[[1, 2], "done"]]);
    const fourth = await take();
    await addRateLimited(engine, { key: "a", payload: "" });
    await engine.cancelDelayed("a");
    assertEquals(await bench.finish("a", fourth.token, "done"), true);
    assertEquals((await outcomesOf(bench, "one")).at(-1), [[3], "cancelled"]);
  });

  engineTest(
    "rule 23: waits of a process that is gone, and outcomes that nobody receives, are forgotten",
    async (bench) => {
      const { engine } = bench;
      const look = (kept: { key: string; id: number }[]) => {
        return engine.waits({ process: "one", received: [], ended: [], kept });
      };
      await engine.addAndWait(entryOf("kept"), "one", 1);
      await engine.addAndWait(entryOf("gone"), "gone", 1);
      await engine.addAndWait(entryOf("ended"), "one", 2);
      await engine.waits({ process: "one", received: [], ended: [{ key: "ended", id: 2 }], kept: [] });
      await bench.pass(40_000);
      assertEquals((await look([{ key: "kept", id: 1 }, { key: "ended", id: 2 }])).lost, [2]);
      await bench.pass(40_000);
      for (const { key, token } of (await bench.take("o", 3)).taken) {
        assertEquals((await bench.turn("o", [{ key, token, kind: "succeeded" }])).answers, [true]);
      }
      assertEquals([await outcomesOf(bench, "one"), await outcomesOf(bench, "gone")], [[[[1], "done"]], []]);
      await bench.pass(4000);
      assertEquals((await look([])).outcomes.length, 1);
      await bench.pass(2000);
      await bench.take("o");
      assertEquals((await look([])).outcomes, []);
      const contents = await bench.contents() as [name: string, unknown][];
      const text = JSON.stringify(contents.filter(([name]) => name !== "messages"));
      assert(!/"one|gone|done/.test(text), text);
      assertEquals((await look([{ key: "kept", id: 1 }])).lost, [1]);
    },
    { keepOutcomesFor: 5000 },
  );
}
