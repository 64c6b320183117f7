/**
 * Trials of parts that an engine lacks, such as a limiter that was added to the core and to plans only, or a discipline
 * that a process of a later release has stored. The engine must refuse each by name, before it changes anything.
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConfigError, defineLimiter, type DisciplineConfig, disciplines, limiters, loadConfig } from "@workqueue/core";
import {
  type Finish,
  type Interpreter,
  type LimiterKind,
  type OrderKind,
  planDisciplineFor,
  planLimiterFor,
} from "@workqueue/engine";
import type { EngineBench, EngineTest } from "./engine_bench.ts";

const own = defineLimiter({
  type: "own",
  description: "",
  options: {},
  create: () => ({ when: () => 1, next: () => 1, forget() {}, numRequeues: () => 0 }),
});

const bucket = { type: "bucket", rate: 1, burst: 1 };

/** Limiter in whose plan each kind occurs, and its type. A kind without a config doesn't compile. */
const LIMITERS: Readonly<Record<LimiterKind, readonly [type: string, config: unknown]>> = {
  "bucket": ["bucket", bucket],
  "exponential": ["exponential", { type: "exponential", baseDelay: 1, maxDelay: 10 }],
  "fast-slow": ["fast-slow", { type: "fast-slow", fastDelay: 1, slowDelay: 10, maxFastAttempts: 1 }],
  "given": ["own", { type: "own" }],
  "jitter": ["jitter", { type: "jitter", limiter: bucket, spread: 0.5 }],
  "max-of": ["max-of", { type: "max-of", limiters: [bucket] }],
  "max-wait": ["max-wait", { type: "max-wait", limiter: bucket, maxDelay: 1 }],
  "named": ["bucket", { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: ["shared"] } }],
  "per-group": ["per-group", { type: "per-group", separator: "/", limiter: bucket }],
  "steps": ["steps", { type: "steps", delays: [1] }],
};

/** Discipline in whose plan each kind of order occurs, and its type. A kind without a config doesn't compile. */
const DISCIPLINES: Readonly<Record<OrderKind, readonly [type: string, config: DisciplineConfig]>> = {
  "fifo": ["fair", { type: "fair", separator: "/" }],
  "aging": ["priority", { type: "fair", separator: "/", within: { type: "priority" } }],
  "strict": ["priority", { type: "priority", maxHeadStart: "unlimited" }],
  "fair": ["fair", { type: "fair", separator: "/" }],
};

/** Returns a table without an entry. */
function without<Table extends object>(table: Table, kind: keyof Table): Table {
  const { [kind]: _, ...others } = table;
  return others as Table;
}

/** Plans of limiters that no engine knows. The second also has a bucket, which must keep its token. */
const UNKNOWN_LIMITERS = ['[["slow-start",5]]', '[["max-of",["bucket","b",1,1],["slow-start",5]]]'];

/** Plans of disciplines that no engine knows. */
const UNKNOWN_DISCIPLINES = ['["deadline",5]', '["fair","],[\\"fifo\\"",["deadline",5],0,0,0,0,0]'];

/** Adds a key of each state: two processing keys, a ready one, and one whose delay has passed. Returns the tokens. */
async function fill(bench: EngineBench): Promise<{ one: string; two: string }> {
  await bench.add("one", "two");
  const { taken: [one, two] } = await bench.take("o", 2);
  await bench.add("ready");
  await bench.addAfter(10, "due");
  bench.jump(1000);
  return { one: one!.token, two: two!.token };
}

/** Requires that calls are refused with a name in the message, and change nothing. */
async function requireRefusals(bench: EngineBench, name: string, calls: (() => Promise<unknown>)[]): Promise<void> {
  const before = await bench.contents();
  for (const [i, call] of calls.entries()) {
    const error = await assertRejects(call, Error, undefined, `call ${i}`);
    assert(error.message.includes(name), `call ${i}: ${error.message}`);
    assertEquals(await bench.contents(), before, `call ${i}`);
  }
}

/** Registers the trials of an engine. */
export function unknownPartsSuite(engine: Interpreter, engineTest: EngineTest): void {
  for (const [kind, [type, limiter]] of Object.entries(LIMITERS)) {
    Deno.test(`${engine.product}: without code for the limiters of kind "${kind}", no queue with one is opened`, () => {
      const document = { limiters: { shared: bucket }, queues: { q: { limiter } } };
      const registry = limiters.extend().register(own);
      const described = loadConfig(document as never, { limiters: registry }).describe("q").limiter;
      planLimiterFor(engine, "open queue", described);
      const lacking = { ...engine, limiters: without(engine.limiters, kind as LimiterKind) };
      const error = assertThrows(() => planLimiterFor(lacking, "open queue", described), ConfigError);
      const reason = `${engine.product} can't evaluate ${JSON.stringify(type)}: it has no entry for "${kind}"`;
      assert(error.issues.some(({ message }) => message === reason), error.message);
    });
  }

  for (const [kind, [type, discipline]] of Object.entries(DISCIPLINES)) {
    Deno.test(`${engine.product}: without code for the order "${kind}", no queue with one is opened`, () => {
      const described = disciplines.describe(discipline);
      planDisciplineFor(engine, "open queue", described);
      const lacking = { ...engine, orders: without(engine.orders, kind as OrderKind) };
      const error = assertThrows(() => planDisciplineFor(lacking, "open queue", described), ConfigError);
      const reason = `${engine.product} can't evaluate ${JSON.stringify(type)}: it has no entry for "${kind}"`;
      assert(error.issues.some(({ message }) => message === reason), error.message);
    });
  }

  engineTest("a limiter of an unknown kind is refused by name, and nothing is changed", async (bench) => {
    const { one, two } = await fill(bench);
    const known = bench.engine.limiter;
    for (const text of UNKNOWN_LIMITERS) {
      bench.engine.limiter = { text, needsFailures: false, given: () => "" };
      const finishes: Finish[] = [{ key: "one", token: one, kind: "succeeded" }, {
        key: "two",
        token: two,
        kind: "failed",
        plan: text,
        reason: "it failed",
      }];
      await requireRefusals(bench, "slow-start", [
        () => bench.engine.addRateLimited({ key: "ready", payload: "" }, true, "", 0),
        () => bench.engine.numRequeues("ready"),
        () => bench.turn("o", finishes, 5, 2),
      ]);
    }
    bench.engine.limiter = known;
    assertEquals(await bench.finish("one", one), true);
    assertEquals(await bench.finish("two", two, "failed"), true);
  });

  engineTest("an unknown outcome, or reason to give up, is refused by name, and nothing is changed", async (bench) => {
    const { one, two } = await fill(bench);
    const first: Finish = { key: "one", token: one, kind: "succeeded" };
    await requireRefusals(bench, "postponed", [
      () => bench.turn("o", [first, { key: "two", token: two, kind: "postponed" as never }], 5, 2),
    ]);
    await requireRefusals(bench, "boredom", [
      () => bench.turn("o", [first, { key: "two", token: two, kind: "givenUp", why: "boredom" as never }], 5, 2),
    ]);
    assertEquals(await bench.finish("one", one), true);
    assertEquals(await bench.finish("two", two, "givenUp"), true);
  });

  for (const plan of UNKNOWN_DISCIPLINES) {
    engineTest(
      `a stored discipline that is unknown is refused by name, and nothing is changed: ${plan}`,
      async (bench) => {
        const { one } = await fill(bench);
        const entry = { key: "new", payload: "" };
        await bench.storeDiscipline(plan);
        await requireRefusals(bench, "deadline", [
          () => bench.add("new"),
          () => bench.engine.addEach([{ ...entry, delay: 0, priority: 1 }]),
          () => bench.engine.addRateLimited(entry, true, "", 0),
          () => bench.turn("o", [{ key: "one", token: one, kind: "succeeded" }], 5, 2),
          () => bench.engine.cancelDelayed("due"),
          () => bench.engine.counts(),
          () => bench.engine.snapshot(10),
        ]);
        await bench.storeDiscipline('["fifo"]');
        assertEquals(await bench.finish("one", one), true);
      },
    );
  }
}
