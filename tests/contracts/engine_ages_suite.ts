/** Tests of how long keys have been ready, on every engine. Each test sets the clock. */

import { assert, assertEquals } from "@std/assert";
import { type EngineTest, keysOf } from "./engine_bench.ts";

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineAgesSuite(engineTest: EngineTest): void {
  engineTest("the oldest ready item has been ready since it was added, or was due", async (bench) => {
    const oldest = async () => (await bench.engine.counts()).oldestReadyMs;
    assertEquals(await oldest(), 0);
    await bench.addAfter(2000, "later");
    await bench.pass(1000);
    assertEquals(await oldest(), 0, "delayed items are not ready");
    await bench.pass(3000);
    const since = await oldest();
    assert(Math.abs(since - 2000) < 1, `${since} ms`);
    await bench.add("now");
    await bench.pass(1000);
    assertEquals(Math.round(await oldest()), 3000);
    assertEquals(keysOf(await bench.take("one")), ["later"]);
    assertEquals(Math.round(await oldest()), 1000);
  });

  engineTest("the oldest due item is known before it is in the line", async (bench) => {
    const keys = Array.from({ length: 450 }, (_, i) => `key ${i}`); // more keys than one call makes ready
    await bench.addAfter(1000, ...keys);
    await bench.pass(500);
    bench.jump(1500);
    const { ready, delayed, oldestReadyMs: oldestReady } = await bench.engine.counts();
    assertEquals([ready, delayed, Math.round(oldestReady)], [450, 0, 1000]);
  });

  engineTest(
    "an item that comes back has been ready since it was handed out to the holder that did not finish it",
    async (bench) => {
      const oldest = async () => Math.round((await bench.engine.counts()).oldestReadyMs);
      await bench.add("a", "b", "c");
      await bench.pass(1000);
      assertEquals(keysOf(await bench.take("lost")), ["a"]);
      await bench.pass(bench.lease + 1);
      assertEquals(keysOf(await bench.take("other", 1)), ["a"], "which stands in front, and is handed out alone");
      assertEquals(await oldest(), bench.lease + 1001, "b");
      await bench.engine.release("other", []);
      assertEquals(keysOf(await bench.take("third", 1)), ["a"]);
      await bench.pass(1000);
      await bench.engine.release("third", []);
      assertEquals(await oldest(), bench.lease + 2001, "b is older still");
      const fourth = await bench.take("fourth", 1);
      assertEquals(await bench.finish("a", fourth.taken[0]!.token), true);
      assertEquals(keysOf(await bench.take("fourth", 2)), ["b", "c"]);
      await bench.pass(3000);
      await bench.engine.release("fourth", []);
      assertEquals(await oldest(), 3000, "since the hand-out, and not since the add");
    },
  );

  engineTest(
    "the age of the oldest ready item is right for hours, in any line",
    async (bench) => {
      const HOUR = 3_600_000;
      const oldest = async () => {
        const { oldestReadyMs } = await bench.engine.counts();
        assert(Math.abs((await bench.engine.snapshot(0)).oldestReadyMs - oldestReadyMs) < 1);
        return Math.round(oldestReadyMs);
      };
      await bench.add("a");
      await bench.pass(HOUR);
      assertEquals(await oldest(), HOUR, "ready");
      const { taken: [first] } = await bench.take("one");
      await bench.pass(HOUR);
      assertEquals(await oldest(), 0, "processing");
      await bench.finish("a", first!.token, "handedBack");
      await bench.pass(HOUR);
      assertEquals(await oldest(), HOUR, "handed back an hour ago");
      for (const stalls of [1, 2]) { // those that have stalled once and twice stand in different lines
        assertEquals(keysOf(await bench.take(`lost before stall ${stalls}`)), ["a"]);
        await bench.pass(bench.lease + 1);
        await bench.engine.pause();
        await bench.take("finder"); // finds that the lease has expired, and takes nothing
        await bench.pass(HOUR);
        assertEquals([await bench.stallsOf("a"), await oldest()], [stalls, HOUR + bench.lease + 1]);
        await bench.engine.resume();
      }
      const { taken: [last] } = await bench.take("last");
      assertEquals(await bench.finish("a", last!.token), true);
      assertEquals(await oldest(), 0);
      await bench.addAfter(HOUR, ...Array.from({ length: 450 }, (_, i) => `due ${i}`));
      bench.jump(3 * HOUR);
      assertEquals(await oldest(), 2 * HOUR, "due, and partly moved");
    },
  );

  engineTest("the time for which keys have been ready is returned on request", async (bench) => {
    const measuring = bench.open({});
    measuring.measuresTimes = true;
    const times = async (wanted: number, owner: string) => {
      const { taken } = await bench.take(owner, wanted, 0, measuring);
      return taken.map(({ key, readyForMs }) => [key, Math.round(readyForMs!)]);
    };
    await bench.addAfter(1000, "later");
    await bench.add("a");
    await bench.pass(1500);
    await bench.add("b");
    await bench.pass(500);
    assertEquals(await times(3, "one"), [["a", 2000], ["later", 1000], ["b", 500]]);
    await bench.pass(100);
    await bench.engine.release("one", []);
    const back = [["a", 100], ["later", 100], ["b", 100]];
    assertEquals(await times(3, "two"), back, "since they were handed out to who did not end them");
    await bench.pass(bench.lease + 1);
    assertEquals(await times(3, "three"), [["a", bench.lease + 1]], "alone, as it has stalled");
  });
}
