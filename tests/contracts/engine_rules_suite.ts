/**
 * Tests of the tables that say which rules hold on an engine. Each verdict is tested as far as that is possible without
 * a queue object. The page of the engine must have its table.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, defineLimiter, limiters, loadConfig, type WorkQueueConfig } from "@workqueue/core";
import { readFileSync } from "node:fs";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { countsOf } from "./counts.ts";
import { addRateLimited, type EngineBench, keysOf } from "./engine_bench.ts";
import { type RuleOnEngine, tableOfRules, type Verdict } from "./engine_rules.ts";

/** Verdict on a rule, with a function that throws if the verdict is wrong. */
type Proof = readonly [verdict: Verdict, proof: (bench: RulesBench) => Promise<void>];

const NONE = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 };

/** Bench of an engine, with what the rules need in addition. */
export interface RulesBench extends EngineBench {
  /** Returns what is stored for the queue, apart from its settings and its numbers. */
  leftovers(): Promise<string[]>;
  /** Opens a queue of a config document. */
  queueOf(config: WorkQueueConfig, name: string): AsyncDisposable;
}

const PROOFS: Readonly<Record<number, Proof>> = {
  1: ["holds", async (bench) => {
    await bench.add("a", "b", "a");
    const { taken: [a] } = await bench.take("one");
    await bench.add("a");
    await bench.add("a");
    assertEquals(await countsOf(bench.engine), { ...NONE, ready: 1, processing: 1 });
    assertEquals(await bench.finish("a", a!.token, "done"), true);
    assertEquals(keysOf(await bench.take("two", 5)), ["b", "a"]);
  }],
  2: ["holds", async (bench) => {
    await bench.add("a");
    const { taken: [a] } = await bench.take("one");
    await bench.add("a");
    await bench.pass(bench.lease - 1);
    assertEquals(keysOf(await bench.take("two")), [], "while the lease lasts");
    await bench.pass(2);
    assertEquals(keysOf(await bench.take("two")), ["a"], "but not longer");
    assertEquals(await bench.finish("a", a!.token), false, "and then one of them counts");
  }],
  3: ["holds in each process", async (bench) => {
    assertEquals(keysOf(await bench.take("waits first")), []);
    assertEquals(keysOf(await bench.take("waits second")), []);
    await bench.add("a");
    assertEquals(keysOf(await bench.take("asks first")), ["a"], "whoever waits in other processes");
  }],
  4: ["holds", async (bench) => {
    assertEquals(await bench.finish("a", "1"), false);
    await bench.add("a");
    assertEquals(await bench.finish("a", "1"), false);
    const { taken: [a] } = await bench.take("one");
    assertEquals(await bench.finish("a", a!.token), true);
    assertEquals(await bench.finish("a", a!.token), false);
    assertEquals(await countsOf(bench.engine), NONE);
  }],
  5: ["holds in each process", async (bench) => {
    await addRateLimited(bench.engine, { key: "a", payload: "" });
    await bench.pass(1000);
    const { taken: [a] } = await bench.take("one");
    assertEquals(await bench.finish("a", a!.token, "done"), true);
    assertEquals(await countsOf(bench.engine), { ...NONE, failing: 1 }, "its failures stay, as with done");
  }],
  6: ["does not hold", async (bench) => {
    await bench.add("a", "b");
    await bench.addAfter(1000, "c");
    const { taken: [a] } = await bench.take("one");
    await bench.add("d");
    assertEquals(await bench.finish("a", a!.token, "retry"), true, "what it holds is written");
    await bench.engine.leave("process of one", "one");
    assertEquals(await countsOf(bench.engine), { ...NONE, ready: 2, delayed: 2, failing: 1 });
    await bench.pass(1001);
    assertEquals(keysOf(await bench.take("two", 5)), ["b", "d", "a", "c"]);
  }],
  7: ["holds", async (bench) => {
    await bench.addAfter(2000, "z", "y", "x");
    await bench.addAfter(3000, "z"); // does not increase the delay of "z"
    await bench.addAfter(1000, "x");
    await bench.addAfter(0, "now");
    assertEquals(keysOf(await bench.take("one", 5)), ["now"]);
    await bench.pass(1001);
    assertEquals(keysOf(await bench.take("one", 5, 1)), ["x"]);
    await bench.pass(1000);
    assertEquals(keysOf(await bench.take("one", 5, 2)), ["z", "y"]);
    await bench.addAfter(Number.MAX_VALUE, "never");
    assertEquals((await bench.engine.counts()).delayed, 1);
  }],
  8: ["holds", async (bench) => {
    const engine = bench.open({ hasItems: true });
    const take = () => bench.take("one", 1, 0, engine);
    await engine.add([{ key: "a", payload: "1" }]);
    await engine.add([{ key: "a", payload: "2" }], 1000);
    const { taken: [a] } = await take();
    assertEquals(a!.payload, "2", "there is one a key");
    await addRateLimited(engine, { key: "a", payload: "of the holder" }, { isNewest: false });
    assertEquals(await bench.finish("a", a!.token, "done"), true);
    await bench.pass(1001);
    assertEquals((await take()).taken[0]!.payload, "2", "which no retry replaces");
  }],
  9: ["does not hold", async (bench) => {
    await bench.addAfter(60_000, "a");
    bench.jump(-3_600_000);
    await bench.pass(59_999);
    assertEquals(keysOf(await bench.take("one", 5)), [], "a server's clock that goes back changes nothing");
    await bench.addAfter(60_000, "b");
    bench.jump(3_600_000);
    assertEquals(keysOf(await bench.take("one", 5)), ["a", "b"], "one that jumps ahead makes the delay shorter");
  }],
  10: ["holds in each process", async () => {
    const own = defineLimiter({
      type: "own",
      description: "",
      options: {},
      create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0 }),
    });
    const registry = limiters.extend().register(own);
    const config = { type: "max-of", limiters: [{ type: "own" }, { type: "own" }] };
    const error = assertThrows(() => planLimiter("open queue", registry.describe(config as never)), ConfigError);
    assertEquals(error.issues.map(({ path }) => path), ["/limiters/0", "/limiters/1"]);
    return await Promise.resolve();
  }],
  11: ["holds", async (bench) => {
    await bench.add("a");
    for (const failures of [0, 1, 2]) {
      const { taken: [a] } = await bench.take(`process ${failures}`);
      assertEquals(a!.failures, failures, "whoever made them");
      assertEquals(await bench.finish("a", a!.token, "retry"), true);
      await bench.pass(1001);
    }
    const { taken: [a] } = await bench.take("one");
    assertEquals(await bench.finish("a", a!.token, "givenUp"), true);
    assertEquals(await countsOf(bench.engine), { ...NONE, givenUp: 1 });
    await bench.add("a");
    assertEquals(await countsOf(bench.engine), { ...NONE, ready: 1 });
  }],
  12: ["holds", async (bench) => {
    const engine = bench.order({ type: "priority", maxHeadStart: "1m" });
    await engine.addEach([
      { key: "a", payload: "", delay: 0, priority: -100 },
      { key: "b", payload: "", delay: 0, priority: 100 },
    ]);
    assertEquals([keysOf(await bench.take("one")), keysOf(await bench.take("other"))], [["b"], ["a"]]);
  }],
  13: ["holds", async (bench) => {
    bench.order({ type: "fair", separator: "/", maxPerGroup: 2 });
    const engine = bench.order({ type: "fair", separator: "/", maxPerGroup: 2 });
    await engine.add(["a/1", "a/2", "a/3", "b/1"].map((key) => ({ key, payload: "" })));
    assertEquals(keysOf(await bench.take("one", 2)), ["a/1", "b/1"]);
    assertEquals(keysOf(await bench.take("other", 2)), ["a/2"]);
  }],
  14: ["holds", async (bench) => {
    const engine = bench.open({ hasItems: true });
    for (let i = 0; i < 30; i++) {
      await engine.add([{ key: `${i}`, payload: "{}" }], i % 3);
      await addRateLimited(engine, { key: `${i}`, payload: "{}" });
      await bench.pass(1000);
      const { taken } = await bench.take("one", 5, 0, engine);
      for (const { key, token } of taken) assertEquals(await bench.finish(key, token, "succeeded", engine), true);
    }
    await engine.add([{ key: "canceled", payload: "{}" }], 1000);
    assertEquals(await engine.cancelDelayed("canceled"), true);
    await bench.take("one", 1, 0, engine);
    await engine.leave("process of one", "one");
    assertEquals(await bench.leftovers(), []);
  }],
  15: ["holds", async (bench) => {
    await bench.add("poison", "neighbor");
    await bench.take("crashes", 2);
    const done: string[] = [];
    for (let crash = 1; crash <= 5; crash++) {
      await bench.pass(bench.lease + 1);
      for (const owner of ["a", "b", "c"]) {
        const { taken } = await bench.take(`${owner}${crash}`, 5);
        assert(taken.length <= 1, "alone");
        if (taken[0]?.key !== "neighbor") continue;
        assertEquals(await bench.finish("neighbor", taken[0].token), true);
        done.push("neighbor");
      }
    }
    assertEquals(done, ["neighbor"]);
    assertEquals(await countsOf(bench.engine), { ...NONE, givenUp: 1 });
  }],
  16: ["holds in each process", async (bench) => {
    const plan = (baseDelay: number) =>
      planLimiter("reload", limiters.describe({ type: "exponential", baseDelay, maxDelay: 1e9 }));
    const other = bench.open({}); // another process with another document
    bench.engine.limiter = plan(1000);
    other.limiter = plan(60_000);
    const waits = async (engine: typeof other) => {
      await addRateLimited(engine, { key: "a", payload: "" });
      const { delayedItems: [a] } = await engine.snapshot(1);
      await engine.cancelDelayed("a");
      return Math.round(a!.dueInMs / 1000);
    };
    assertEquals([await waits(bench.engine), await waits(other), await waits(bench.engine)], [1, 120, 4]);

    const config = loadConfig({ queues: { q: {} } });
    await using _queue = bench.queueOf(config, "q");
    const shared = {
      limiters: { b: { type: "bucket", rate: 1, burst: 1 } },
      queues: { q: { limiter: "b" }, r: { limiter: "b" } },
    };
    assertThrows(() => config.reload(shared), ConfigError, "share a bucket");
    assertEquals(config.queueNames, ["q"]);
  }],
  18: ["holds", async (bench) => {
    const other = bench.open({});
    await other.limitRetries({ ratio: 0.5, minRate: 0.001 });
    await other.add([{ key: "1", payload: "" }]);
    for (const key of ["a", "b", "c"]) await addRateLimited(bench.engine, { key, payload: "" });
    await bench.pass(1000);
    await bench.add("2");
    assertEquals(keysOf(await bench.take("one", 1)), ["1"]);
    assertEquals(
      keysOf(await bench.take("other", 9, 0, other)),
      ["a", "2", "b"],
      "one retry, and half of one for each",
    );
    assertEquals(await countsOf(bench.engine), { ...NONE, blocked: 1, processing: 4, failing: 3 });
  }],
  22: ["holds", async (bench) => {
    const other = bench.open({});
    await bench.add("a", "b");
    await bench.addAfter(10, "c");
    const { taken: [a] } = await bench.take("o");
    await bench.add("a");
    const states = [];
    for (const key of ["a", "b", "c", "d"]) states.push(await other.cancel(key, `why ${key}`));
    assertEquals(states, ["running", "ready", "delayed", undefined]);
    assertEquals(await bench.engine.renew("o"), { cancelled: [{ token: a!.token, reason: "why a" }], addedAgain: [] });
    assertEquals(await bench.finish("a", a!.token, "retry"), "cancelled");
    await bench.pass(1000);
    assertEquals(await countsOf(other), NONE);
  }],
  23: ["holds", async (bench) => {
    const other = bench.open({});
    const look = (process: string) => other.waits({ process, received: [], ended: [], kept: [] });
    const entry = { key: "a", payload: "", delay: 0, priority: 0 };
    await bench.engine.addAndWait(entry, "one", 1);
    await other.addAndWait(entry, "two", 1);
    const { taken: [first] } = await bench.take("o");
    await other.addAndWait(entry, "two", 2);
    await bench.turn("o", [{ key: "a", token: first!.token, kind: "succeeded", result: "value 1" }]);
    for (const process of ["one", "two"]) {
      assertEquals((await look(process)).outcomes, [{ ids: "1", outcome: "value 1" }]);
    }
    const { taken: [second] } = await bench.take("p");
    await bench.finish("a", second!.token);
    assertEquals((await look("two")).outcomes.find(({ ids }) => ids === "2"), { ids: "2", outcome: "done" });
  }],
  24: ["holds", async (bench) => {
    const other = bench.open({});
    await bench.add("a", "b", "c");
    const { taken: [a, b] } = await bench.take("o", 3);
    assertEquals((await bench.engine.renew("o", true))!.addedAgain, []);
    await other.add([{ key: "a", payload: "" }]);
    await other.add([{ key: "c", payload: "" }], 10);
    await bench.pass(1000);
    await other.add([{ key: "b", payload: "" }]);
    const { addedAgain } = (await bench.engine.renew("o", true))!;
    assertEquals(new Set(addedAgain), new Set([a!.token, b!.token]));
    for (const { key, token } of [a!, b!]) assertEquals(await bench.finish(key, token, "handedBack"), true);
    assertEquals((await bench.engine.renew("o", true))!.addedAgain, []);
    assertEquals(keysOf(await bench.take("p", 3)).toSorted(), ["a", "b"]);
    assertEquals((await bench.engine.renew("p", true))!.addedAgain, []);
  }],
};

/**
 * Registers the tests of a table.
 *
 * @param engineTest Registers a test with a bench.
 * @param page The page that has the table, in the folder `docs`.
 */
export function testRules(
  product: string,
  rules: readonly RuleOnEngine[],
  page: string,
  engineTest: (name: string, run: (bench: RulesBench) => Promise<void>) => void,
): void {
  for (const { number, verdict } of rules) {
    const [shown, proof] = PROOFS[number] ?? [];
    if (proof === undefined) continue;
    engineTest(`rule ${number} ${verdict} on ${product}`, async (bench) => {
      assertEquals(shown, verdict);
      await proof(bench);
    });
  }

  Deno.test(`rules on ${product}: the numbers ascend without duplicates, and each proof is for one of them`, () => {
    const numbers = rules.map(({ number }) => number);
    assertEquals(numbers, [...new Set(numbers)].toSorted((one, other) => one - other));
    assertEquals(Object.keys(PROOFS).map(Number).filter((number) => !numbers.includes(number)), []);
  });

  Deno.test(`rules on ${product}: docs/${page} has the table`, () => {
    const plain = (line: string) => line.replaceAll(/ +/g, " ").replaceAll(/-{2,}/g, "---").trim();
    const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
    const lines = new Set(text.split("\n").map(plain));
    for (const line of tableOfRules(product, rules)) {
      assert(lines.has(plain(line)), `missing in docs/${page}:\n${line}`);
    }
  });
}
