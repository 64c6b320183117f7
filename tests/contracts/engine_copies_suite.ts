/** Tests of copies: what one engine lists of a queue, another queue has after it was restored. */

import { assertEquals } from "@std/assert";
import type { Engine, StoredKey, TakenKey } from "@workqueue/engine";
import { addRateLimited, type EngineTest, keysOf, LEASE } from "./engine_bench.ts";

async function storedIn(engine: Engine, withProcessing = false): Promise<StoredKey[]> {
  const found: StoredKey[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await engine.stored(withProcessing, cursor);
    found.push(...page.entries);
    cursor = page.cursor;
  }
  return found;
}

/** Returns stored keys by key. Their times are rounded, because each call has a time of its own. */
function byKey(keys: readonly StoredKey[]): Record<string, unknown> {
  const rounded = JSON.stringify(keys, (_, value) => typeof value === "number" ? Math.round(value) : value);
  return Object.fromEntries((JSON.parse(rounded) as StoredKey[]).map((each) => [each.key, each]));
}

/** Registers the tests of an engine. `engineTest` registers a test that has its own queue and clock. */
export function engineCopiesSuite(engineTest: EngineTest): void {
  engineTest("copies: keys keep all of their data", async (bench) => {
    const engine = bench.open({ hasItems: true, folds: true, replaces: true });
    const entry = { payload: `{"n":1}`, delay: 0, priority: 0 };
    const trace = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
    await engine.addEach([{ ...entry, key: "failed" }]);
    const { taken: [{ key, token }] } = await bench.take("o", 1, 0, engine) as unknown as { taken: [TakenKey] };
    await bench.turn("o", [{ key, token, kind: "failed", reason: "it broke", delay: 500_000 }], 0, 0, engine);
    await bench.add("stalled");
    await bench.take("gone");
    await bench.pass(LEASE + 1);
    await bench.take("reaper");
    await engine.release("reaper", []);
    await addRateLimited(engine, { key: "retry", payload: "2" }, { minDelay: 7000 });
    await engine.addEach([
      { ...entry, key: "plain" },
      { ...entry, key: "urgent", priority: 2.5, trace },
      { ...entry, key: "later", delay: 60_000, priority: -1 },
    ]);
    bench.jump(500);
    const found = await storedIn(engine);
    const other = bench.open({ name: `${engine.settings.name} copy`, hasItems: true, folds: true, replaces: true });
    await other.restore(found);
    await other.restore(found); // changes nothing
    assertEquals(byKey(await storedIn(other)), byKey(found));
    const { urgent, failed, later, stalled } = Object.fromEntries(found.map((each) => [each.key, each]));
    assertEquals([urgent!.priority, urgent!.trace, urgent!.payload], [2.5, trace, `{"n":1}`]);
    assertEquals([failed!.failures!.count, failed!.failures!.error, failed!.isFolding], [1, "it broke", true]);
    const dueIn = Math.round((later!.dueAtMs! - bench.time / 1000 + 500) / 1000);
    assertEquals([later!.readyAtMs, dueIn, later!.duePriority], [undefined, 60, -1]);
    assertEquals([stalled!.stalls, urgent!.stalls], [1, 0]);
    assertEquals((await other.counts()).failing, 2);
    assertEquals((await other.snapshot(9)).failingItems.map(({ key }) => key).sort(), ["failed", "retry"]);
  });

  engineTest("copies: a key that failed may be listed after keys that did not", async (bench) => {
    const { engine } = bench;
    await engine.addEach([{ key: "later", payload: "1", delay: 1000, priority: 0 }]);
    await addRateLimited(engine, { key: "retry", payload: "2" }, { minDelay: 60_000 });
    const found = byKey(await storedIn(engine)) as Record<string, StoredKey>;
    assertEquals([found.later!.failures?.count ?? 0, found.retry!.failures!.count], [0, 1]);
    const other = bench.open({ name: `${engine.settings.name} copy`, hasItems: true });
    await other.restore(Object.values(found));
    assertEquals((await other.counts()).failing, 1);
  });

  engineTest("copies: the order is kept, over many pages, and ready keys are handed out", async (bench) => {
    const keys = Array.from({ length: 450 }, (_, i) => `key ${i * 7 % 450}`);
    for (const key of keys) await bench.add(key);
    const delayed = Array.from({ length: 150 }, (_, i) => `late ${i * 7 % 150}`);
    await bench.addAfter(1000, ...delayed);
    await bench.addAfter(1e15, ...delayed.map((key) => `never ${key}`)); // all at the largest time
    const other = bench.open({ name: `${bench.engine.settings.name} copy` });
    await other.restore(await storedIn(bench.engine));
    assertEquals((await other.counts()).delayed, 300);
    bench.jump(2000);
    const found: string[] = [];
    while (found.length < 600) found.push(...keysOf(await bench.take("o", 100, found.length, other)));
    assertEquals(found, [...keys, ...delayed]);
  });

  engineTest("copies: keys that came back keep their places, and are ready since their hand-out", async (bench) => {
    const keys = ["z", "b", "y", "a"];
    await bench.add(...keys, "x");
    await bench.take("o", 4);
    await bench.engine.leave("process of o", "o");
    bench.jump(500);
    const other = bench.open({ name: `${bench.engine.settings.name} copy` });
    await other.restore(await storedIn(bench.engine));
    assertEquals(Math.round((await other.counts()).oldestReadyMs), 500);
    assertEquals(keysOf(await bench.take("p", 5, 0, other)), [...keys, "x"]);
  });

  engineTest("copies: keys that the target queue already has are left as they are", async (bench) => {
    const end = { kind: "givenUp", why: "terminal", reason: "no" } as const;
    await bench.add("ready", "held", "dead", "new");
    const found = await storedIn(bench.engine);
    const other = bench.open({ name: `${bench.engine.settings.name} copy` });
    await other.add([{ key: "held", payload: "" }, { key: "dead", payload: "" }]);
    const { taken: [held, dead] } = await bench.take("o", 2, 0, other);
    await bench.turn("o", [{ key: dead!.key, token: dead!.token, ...end }], 0, 0, other);
    await other.add([{ key: "ready", payload: "" }], 1000);
    await other.restore(found);
    const { ready, delayed, processing, givenUp } = await other.counts();
    assertEquals({ ready, delayed, processing, givenUp }, { ready: 1, delayed: 1, processing: 1, givenUp: 1 });
    assertEquals(await bench.finish(held!.key, held!.token, "succeeded", other), true);
    assertEquals((await other.counts()).ready, 1, "it was not added again");
  });

  engineTest("copies: processing keys are listed on request", async (bench) => {
    await bench.add("a", "b");
    await bench.take("o");
    assertEquals((await storedIn(bench.engine)).map(({ key }) => key), ["b"]);
    const all = await storedIn(bench.engine, true);
    assertEquals(Object.keys(byKey(all)).sort(), ["a", "b"]);
    const other = bench.open({ name: `${bench.engine.settings.name} copy` });
    await other.restore(all);
    assertEquals((await bench.take("o", 5, 0, other)).taken.map(({ key, failures }) => [key, failures]).sort(), [
      ["a", 0],
      ["b", 0],
    ]);
  });

  engineTest("copies: a processing key that was cancelled is listed only if it was added again", async (bench) => {
    await bench.add("a", "b", "c");
    await bench.take("o", 3);
    for (const key of ["a", "b"]) await bench.engine.cancel(key, "");
    await bench.add("b");
    assertEquals((await storedIn(bench.engine, true)).map(({ key }) => key).sort(), ["b", "c"]);
  });

  engineTest("copies: given-up keys keep their errors, times and payloads, and can be redriven", async (bench) => {
    const engine = bench.open({ hasItems: true });
    await engine.add([{ key: "a", payload: "1" }, { key: "b", payload: "2" }]);
    const { taken: [a, b] } = await bench.take("o", 2, 0, engine);
    const end = { kind: "givenUp", why: "maxRetries", attempts: 4 } as const;
    await bench.turn("o", [{ key: "a", token: a!.token, ...end, reason: "no a" }], 0, 0, engine);
    bench.jump(3000);
    await bench.turn("o", [{ key: "b", token: b!.token, ...end, reason: "no b" }], 0, 0, engine);
    const list = async (engine: Engine) => {
      const { entries } = await engine.givenUp({ search: "", limit: 9, cursor: undefined });
      const text = JSON.stringify(entries, (_, value) => typeof value === "number" ? Math.round(value / 10) : value);
      return JSON.parse(text);
    };
    const { entries } = await engine.givenUp({ search: "", limit: 9, cursor: undefined });
    const other = bench.open({ name: `${engine.settings.name} copy`, hasItems: true });
    await other.restoreGivenUp(entries);
    await other.restoreGivenUp(entries); // changes nothing
    assertEquals(await list(other), await list(engine));
    await other.redrive({ search: "", keys: undefined }, undefined);
    const { taken } = await bench.take("o", 5, 0, other);
    assertEquals(taken.map(({ key, payload }) => [key, payload]), [["a", "1"], ["b", "2"]]);
  });

  engineTest("copies: a retry without budget stays a retry without budget", async (bench) => {
    for (const retriesFirst of [false, true]) {
      const settings = { retryBudget: { ratio: 0, minRate: 0 }, retriesFirst } as object;
      const engine = bench.open({ name: `${bench.engine.settings.name} ${retriesFirst}`, ...settings });
      await addRateLimited(engine, { key: "a", payload: "" });
      bench.jump(1000);
      assertEquals((await engine.counts()).blocked, 1);
      const other = bench.open({ name: `${engine.settings.name} copy`, ...settings });
      await other.counts();
      await other.restore(await storedIn(engine));
      const { blocked, failing } = await other.counts();
      assertEquals([blocked, failing], [1, 1]);
      assertEquals(byKey(await storedIn(other)), byKey(await storedIn(engine)));
    }
  });

  engineTest("copies: retries that go first still do", async (bench) => {
    const engine = bench.open({ retriesFirst: true });
    for (const key of ["due", "later"]) {
      await addRateLimited(engine, { key, payload: "" }, { minDelay: key === "due" ? 0 : 1000 });
    }
    bench.jump(100);
    await engine.add([{ key: "x", payload: "" }]);
    const other = bench.open({ name: `${engine.settings.name} copy` });
    await other.restore(await storedIn(engine));
    bench.jump(1000);
    assertEquals(keysOf(await bench.take("o", 3, 0, other)).at(-1), "x");
  });
}
