/**
 * Tests of given-up keys on every engine: limits that all processes share, lists of any length, and redrives that
 * any process continues. Each test sets the clock. `given_up_suite.ts` tests queue objects.
 */

import { assert, assertEquals } from "@std/assert";
import type { KeptSelection } from "@workqueue/engine";
import { type EngineBench, type EngineTest, keysOf } from "./engine_bench.ts";

const ALL: KeptSelection = { search: "", keys: undefined };

/** Adds keys and gives them up, in this order. */
async function giveUp(bench: EngineBench, ...keys: string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += 100) {
    const some = keys.slice(from, from + 100);
    await bench.add(...some);
    const { taken } = await bench.take("giver", some.length);
    const end = { kind: "givenUp", why: "terminal" } as const;
    await bench.turn("giver", taken.map(({ key, token }) => ({ key, token, ...end, reason: `no ${key}` })));
  }
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `key ${i}`);
}

async function listed(bench: EngineBench): Promise<string[]> {
  const { entries } = await bench.engine.givenUp({ search: "", limit: 1000, cursor: undefined });
  return entries.map(({ key }) => key);
}

async function dropped(bench: EngineBench): Promise<number> {
  return (await bench.engine.givenUp({ search: "", limit: 0, cursor: undefined })).dropped;
}

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineGivenUpSuite(engineTest: EngineTest): void {
  engineTest("given up: limits are shared, and the latest ones apply", async (bench) => {
    const other = bench.open({});
    await giveUp(bench, ...numbered(700));
    await other.keepGivenUp({ max: 3, maxAge: undefined });
    assertEquals([await listed(bench), await dropped(bench)], [["key 699", "key 698", "key 697"], 697]);
    await giveUp(bench, "late");
    assertEquals((await bench.engine.counts()).givenUp, 3);
    await other.keepGivenUp({ max: 2000, maxAge: 1000 });
    await bench.pass(900);
    await giveUp(bench, "later");
    await bench.pass(200);
    await giveUp(bench, "latest"); // drops by age without a look
    assertEquals((await bench.engine.counts()).givenUp, 2);
    assertEquals([await listed(bench), await dropped(bench)], [["latest", "later"], 701]);
    await bench.pass(1001);
    assertEquals([await bench.engine.discard(ALL), await dropped(bench)], [0, 703]);
  });

  engineTest("given up: limits that a process was given before do not replace those of another one", async (bench) => {
    const [one, other] = [bench.open({}), bench.open({})];
    const limits = { max: 5, maxAge: undefined };
    await one.keepGivenUp(limits);
    await other.keepGivenUp({ max: 2, maxAge: undefined });
    await one.keepGivenUp({ ...limits }); // as after a reload that changes something else
    await giveUp(bench, ...numbered(4));
    assertEquals(await listed(bench), ["key 3", "key 2"]);
  });

  engineTest(
    "given up: without limits, 10,000 keys are kept; a list checks 10,000, and can continue",
    async (bench) => {
      await giveUp(bench, "needle", ...numbered(9999));
      assertEquals((await bench.engine.counts()).givenUp, 10_000);
      const look = (search: string, cursor?: string) => bench.engine.givenUp({ search, limit: 1000, cursor });
      const found = await look("needle");
      assertEquals([found.entries.map(({ key }) => key), found.cursor], [["needle"], undefined]);
      await bench.engine.keepGivenUp({ max: 20_000, maxAge: undefined });
      await giveUp(bench, "newer");
      const part = await look("needle");
      assertEquals([part.entries, part.total], [[], 10_001]);
      const rest = await look("needle", part.cursor);
      assertEquals([rest.entries.map(({ key }) => key), rest.cursor], [["needle"], undefined]);
      const keys: string[] = [];
      for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
        const { entries, cursor: next } = await look("", cursor);
        keys.push(...entries.map(({ key }) => key));
        await bench.engine.discard({ search: "", keys: [entries.at(-1)!.key] }); // nothing is skipped because of it
        cursor = next;
      }
      assertEquals(keys, [...["needle", ...numbered(9999), "newer"].reverse()]);
      assertEquals(await bench.engine.discard({ search: "KEY 1", keys: undefined }), 1110);
      assertEquals(await bench.engine.discard(ALL), 10_001 - 11 - 1110);
    },
  );

  engineTest(
    "given up: the turns of any owner continue a redrive at its rate, and return when they are due",
    async (bench) => {
      await giveUp(bench, ...numbered(30));
      const { pauseMs, ...begun } = (await bench.engine.redrive(ALL, 10))!;
      assertEquals(begun, { redriven: 1, left: 29, running: true });
      assert(pauseMs! > 99 && pauseMs! <= 100, `${pauseMs}`);
      const taken: string[][] = [];
      for (let step = 0; step < 5; step++) {
        const reply = await bench.take(`owner ${step}`, 5);
        taken.push(keysOf(reply));
        assert(reply.pauseMs! <= 151, `${reply.pauseMs}`); // a second process may look a little later
        await bench.pass(100.1); // calls take some of the queue's time
      }
      assertEquals(taken, numbered(5).map((key) => [key]));
      await bench.pass(1_100); // nobody came: a redrive makes up for one second
      assertEquals(keysOf(await bench.take("late", 50)).length, 11);
      await bench.pass(10_000);
      assertEquals(keysOf(await bench.take("later", 50)).length, 11);
      assertEquals((await bench.engine.redriveProgress())!.left, 3);
    },
  );

  engineTest("given up: a finish continues a redrive as well, even while the queue is paused", async (bench) => {
    await bench.add("work");
    const { taken: [work] } = await bench.take("busy");
    await giveUp(bench, "a", "b");
    await bench.engine.redrive(ALL, 1);
    await bench.engine.pause();
    await bench.pass(1001);
    await bench.finish("work", work!.token);
    assertEquals((await bench.engine.redriveProgress())!.redriven, 2);
    assertEquals((await bench.engine.counts()).ready, 2);
  });

  engineTest("given up: a redrive without a rate adds any number, in steps, with search and keys", async (bench) => {
    await giveUp(bench, ...numbered(1500));
    const first = (await bench.engine.redrive({ search: "KEY 1", keys: undefined }, undefined))!;
    assert(first.running && first.left > 0 && first.pauseMs === 0, JSON.stringify(first));
    assertEquals(await bench.engine.redrive(ALL, undefined), undefined);
    while ((await bench.engine.redriveProgress())!.running);
    assertEquals(await bench.engine.redriveProgress(), { redriven: 611, left: 0, running: false, pauseMs: undefined });
    const keys = numbered(1500);
    const begun = (await bench.engine.redrive({ search: "", keys: keys.slice(0, 900) }, undefined))!;
    assert(begun.running && begun.redriven > 0, JSON.stringify(begun));
    while ((await bench.engine.redriveProgress())!.running);
    assertEquals(await listed(bench), keys.slice(900, 1000).reverse());
    assertEquals((await bench.engine.counts()).ready, 1400);
  });

  engineTest("given up: a discard during a redrive doesn't make the redrive skip keys", async (bench) => {
    await giveUp(bench, ...numbered(200), "needle");
    const { left } = (await bench.engine.redrive({ search: "needle", keys: undefined }, undefined))!;
    if (left > 0) await bench.engine.discard({ search: "", keys: [`key ${200 - left}`] }); // it was checked last
    while ((await bench.engine.redriveProgress())!.running);
    assertEquals((await bench.engine.redriveProgress())!.redriven, 1);
  });

  engineTest("given up: keys that are given up again during a redrive are not added again", async (bench) => {
    await giveUp(bench, "a", "b", "c");
    await bench.engine.redrive({ search: "", keys: ["a", "b", "c"] }, 10);
    await bench.add("b"); // by somebody else
    for (let step = 0; step < 5; step++) {
      const { taken } = await bench.take("owner", 5);
      const end = { kind: "givenUp", why: "terminal", reason: "again" } as const;
      await bench.turn("owner", taken.map(({ key, token }) => ({ key, token, ...end })));
      await bench.pass(100.1);
    }
    const { redriven, running } = (await bench.engine.redriveProgress())!;
    assertEquals([redriven, running, (await listed(bench)).sort()], [2, false, ["a", "b", "c"]]);
  });

  engineTest("given up: a key that has stalled is redriven alone, and has its payload", async (bench) => {
    const engine = bench.open({ hasItems: true });
    await engine.add([{ key: "fine", payload: '"é/\\u0000"' }]);
    const { taken: [fine] } = await bench.take("owner", 1, 0, engine);
    await bench.turn("owner", [{ key: "fine", token: fine!.token, kind: "givenUp", why: "terminal", reason: "no" }]);
    await engine.add([{ key: "poison", payload: '{"id":"poison"}' }]);
    for (let stalls = 0; stalls < 5; stalls++) {
      await bench.take(`owner ${stalls}`, 1, 0, engine);
      await bench.pass(bench.lease + 1);
    }
    await bench.take("reaper");
    const { entries } = await bench.engine.givenUp({ search: "", limit: 10, cursor: undefined });
    assertEquals(entries.map(({ key, reason, attempts }) => [key, reason, attempts]), [
      ["poison", "stalled", 5],
      ["fine", "terminal", 1],
    ]);
    await bench.engine.redrive(ALL, undefined);
    const { taken: [first, ...others] } = await bench.take("o", 5, 0, engine);
    assertEquals([others, first!.payload, first!.failures], [[], '"é/\\u0000"', 0]);
    assertEquals(await bench.finish("fine", first!.token), true);
    const alone = await bench.take("o", 5, 0, engine);
    assertEquals([alone.isAlone, alone.taken.map(({ payload }) => payload)], [true, ['{"id":"poison"}']]);
  }, { hasItems: true });

  engineTest("given up: a key with groups is listed with its group, and redriven in turns", async (bench) => {
    const engine = bench.order({ type: "fair", separator: "/" });
    await engine.counts();
    await giveUp(bench, "acme/1", "acme/2", "globex/1");
    const { entries } = await bench.engine.givenUp({ search: "", limit: 10, cursor: undefined });
    assertEquals(entries.map(({ group }) => group), ["acme", "globex", "acme"]);
    await bench.engine.redrive(ALL, undefined);
    assertEquals(keysOf(await bench.take("o", 5)), ["acme/1", "globex/1", "acme/2"]);
  });
}
