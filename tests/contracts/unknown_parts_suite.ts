/**
 * Trials of parts that an engine lacks, such as a delay that was added to plans only, or a discipline that a process of
 * a later release has stored. The engine must refuse each by name, before it changes anything.
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConfigError, type DisciplineConfig, disciplines } from "@workqueue/core";
import { type Finish, type Interpreter, type OrderKind, planDisciplineFor } from "@workqueue/engine";
import { addRateLimited, type EngineBench, type EngineTest } from "./engine_bench.ts";

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

/** Delays that no engine knows. The second also has a bucket, which must keep its token. */
const UNKNOWN_DELAYS = ['[-1,["slow-start",5]]', '[-1,["longest",["bucket","b",1,1],["slow-start",5]]]'];

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
  for (const [kind, [type, discipline]] of Object.entries(DISCIPLINES)) {
    Deno.test(`${engine.product}: without code for the order "${kind}", a queue with this order is not opened`, () => {
      const described = disciplines.describe(discipline);
      planDisciplineFor(engine, "open queue", described);
      const lacking = { ...engine, orders: without(engine.orders, kind as OrderKind) };
      const error = assertThrows(() => planDisciplineFor(lacking, "open queue", described), ConfigError);
      const reason = `${engine.product} can't evaluate ${JSON.stringify(type)}: it has no entry for "${kind}"`;
      assert(error.issues.some(({ message }) => message === reason), error.message);
    });
  }

  engineTest("a delay of an unknown kind is refused by name, and nothing is changed", async (bench) => {
    const { one, two } = await fill(bench);
    for (const given of UNKNOWN_DELAYS) {
      const finishes: Finish[] = [{ key: "one", token: one, kind: "succeeded" }, {
        key: "two",
        token: two,
        kind: "failed",
        given,
        reason: "it failed",
      }];
      await requireRefusals(bench, "slow-start", [
        () => bench.engine.addRateLimited({ key: "ready", payload: "" }, true, given, 0),
        () => bench.turn("o", finishes, 5, 2),
      ]);
    }
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
      `an unknown stored discipline is refused by name, and nothing is changed: ${plan}`,
      async (bench) => {
        const { one } = await fill(bench);
        const entry = { key: "new", payload: "" };
        await bench.storeDiscipline(plan);
        await requireRefusals(bench, "deadline", [
          () => bench.add("new"),
          () => bench.engine.addEach([{ ...entry, delay: 0, priority: 1 }]),
          () => addRateLimited(bench.engine, entry),
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
