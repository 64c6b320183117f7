/**
 * Test of quiet tenants beside a loud one, and beside many groups.
 *
 * `WORKQUEUE_GROUPS=100000 WORKQUEUE_ITEMS=1000000 deno task test tests/redis/scripts/tenants_test.ts` uses more of
 * both.
 */

import { assert, assertEquals } from "@std/assert";
import { disciplines } from "@workqueue/core";
import type { TakenKey } from "@workqueue/engine";
import process from "node:process";
import { planDiscipline } from "../../../packages/engine/discipline_plan.ts";
import { seeded } from "../faults/seeded.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";
import { START, TimedServer } from "../timed_server.ts";

/** Number of groups with one item. */
const GROUPS = Number(process.env["WORKQUEUE_GROUPS"] ?? 2000);
/** Number of items of the loud tenant. */
const ITEMS = Number(process.env["WORKQUEUE_ITEMS"] ?? 20_000);
/** Number of tenants that add an item now and then. */
const QUIET = 20;
const BATCH = 50;

redisTest("rule 13: a quiet tenant waits for at most one item of each group that is ready", async ({ url }) => {
  await using server = await TimedServer.connect(url);
  const discipline = planDiscipline("test", disciplines.describe({ type: "fair", separator: "/" }));
  const name = uniqueName("tenants");
  const engine = server.engine(name, () => START, { discipline });
  const random = seeded(1);
  /** Number of ready items of each group that has any. */
  const ready = new Map<string, number>();
  const add = async (keys: readonly string[]) => {
    for (const key of keys) ready.set(groupOf(key), (ready.get(groupOf(key)) ?? 0) + 1);
    await engine.add(keys.map((key) => ({ key, payload: "" })));
  };
  await add(Array.from({ length: ITEMS }, (_, i) => `loud/${i}`));
  await add(Array.from({ length: GROUPS }, (_, i) => `group ${i}/0`));

  let handedOut = 0;
  let quietItems = 0;
  /** Numbers of the last hand-outs at which the waiting items of quiet tenants must have had their turn. */
  const latest = new Map<string, number>();
  let taken: readonly TakenKey[] = [];
  // All groups with one item have had their turn, and then some.
  while (handedOut < GROUPS + 40 * BATCH) {
    const keys: string[] = [];
    for (let i = 0; i < QUIET; i++) {
      if (ready.has(`quiet ${i}`) || random() < 0.7) continue;
      const key = `quiet ${i}/${quietItems++}`;
      keys.push(key);
    }
    await add(keys);
    for (const key of keys) latest.set(key, handedOut + ready.size);
    const finishes = taken.map(({ key, token }) => ({ key, token, kind: "done" as const }));
    const common = { process: "p", owner: "o", known: 0, throttle: undefined };
    ({ taken } = await engine.turn({ ...common, finishes, wanted: BATCH }));
    assertEquals(taken.length, BATCH);
    for (const { key } of taken) {
      handedOut++;
      const left = ready.get(groupOf(key))! - 1;
      if (left === 0) ready.delete(groupOf(key));
      else ready.set(groupOf(key), left);
      assert(
        handedOut <= (latest.get(key) ?? Infinity),
        `${key} was hand-out ${handedOut}, and not ${latest.get(key)}`,
      );
      latest.delete(key);
    }
    for (const [key, last] of latest) assert(last >= handedOut, `${key} still waits`);
  }
  assert(quietItems > QUIET, `${quietItems} items of quiet tenants`);
  assertEquals([...ready.keys()].filter((group) => group.startsWith("group")), [], "each group had its turn");
  await server.clear(name);
});

function groupOf(key: string): string {
  return key.split("/", 1)[0]!;
}
