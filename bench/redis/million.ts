/** Cost of a million keys for the server: memory, the time to take a key, and the slowest scripts. */

import { limiters } from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import type { Finish, TakenKey, TurnReply } from "@workqueue/engine";
import { connect } from "../../packages/redis/connection/connect.ts";
import { RedisEngine } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { createScripts } from "../../packages/redis/scripts/script.ts";
import { keys } from "../remote/contender.ts";
import type { ScriptTimes, Server } from "./server.ts";

/** Results of the measurement. */
export interface MillionFacts {
  readonly keys: number;
  /** Bytes of the server's memory per key. */
  readonly memory: { readonly ready: number; readonly delayed: number };
  /**
   * Median duration of the script that takes one key, in microseconds, for a queue with few keys and for a queue with
   * many keys.
   */
  readonly take: { readonly few: number; readonly many: number };
  /** Times of the slowest scripts, by operation. */
  readonly slowest: readonly (readonly [what: string, ScriptTimes])[];
}

const FEW = 1000;
const TAKES = 1000;
/** Number of keys that an owner is processing when its lease expires, or when a reply of the server is lost. */
const HELD = 10_000;
const LEASE = 1000;
const AT_ONCE = 500;

export async function measureMillion(server: Server, count: number): Promise<MillionFacts> {
  const connection = connect("measure", { url: server.url, client: undefined, callTimeout: 60_000 });
  const engineOf = (name: string) =>
    new RedisEngine(connection, createScripts(), {
      ...{ name, leaseDuration: LEASE, maxStalls: 5, replaces: false, folds: false, hasItems: false },
      limiter: planLimiter("plan", limiters.describe(defaultControllerConfig)),
    });
  const many = engineOf("many");
  const few = engineOf("few");
  const slowest: [string, ScriptTimes][] = [];
  const watch = async (what: string, run: () => Promise<unknown>) => {
    await server.resetCounts();
    await run();
    slowest.push([what, await server.scripts()]);
  };

  await server.empty();
  await few.counts(); // creates the data that the server stores once per queue
  const empty = await server.memory();
  await watch("add, 500 at once", () => addAll(many, count, () => 0));
  const ready = (await server.memory() - empty) / count;
  await few.add(keys(FEW).map((key) => ({ key, payload: "" })));
  const take = await compareTakes(server, few, many);
  await watch("add, one at a time", async () => {
    for (const key of keys(TAKES, count)) await many.add([{ key, payload: "" }]);
  });
  for (const wanted of [10, AT_ONCE]) {
    await watch(`take ${wanted}, then finish them`, () => takeAndFinish(many, wanted));
  }
  await many.release("nobody", []);
  await watch("counts", () => times(20, () => many.counts()));
  await watch("snapshot, 1000 of each", () => times(20, () => many.snapshot(1000)));
  const known = (await hold(many, "released")).slice(AT_ONCE);
  await watch(`release the 500 of ${HELD} that the owner does not know of`, () => many.release("released", known));
  await hold(many, "gone");
  for (let at = 0; at < 2 * LEASE; at += LEASE / 8) { // calls from other owners show that the server is reachable
    await turn(many, "others", {});
    await new Promise((resolve) => setTimeout(resolve, LEASE / 8));
  }
  await watch(`take away ${HELD} keys of an owner whose lease is over`, () => expire(many));

  await server.empty();
  await few.counts();
  const before = await server.memory();
  const due = performance.now() + count / 30;
  await watch("add, 500 at once, for one moment later", () => addAll(many, count, () => due - performance.now()));
  const delayed = (await server.memory() - before) / count;
  await new Promise((resolve) => setTimeout(resolve, due - performance.now() + 1000));
  await watch(
    "take 1, while all of them are due",
    () => times(count / 400, () => turn(many, "promotes", { wanted: 1 })),
  );
  await watch(
    "add, 500 at once, behind what is due",
    () => addAll(many, Math.min(20_000, count / 20), () => 0, 2 * count),
  );
  await watch("take 1, until all are ready", async () => {
    while (await server.call("ZCARD", "workqueue:{many}:delayed") !== 0) await turn(many, "promotes", { wanted: 100 });
  });
  await connection.release();
  return { keys: count, memory: { ready, delayed }, take, slowest };
}

/**
 * Adds many keys, with a few concurrent calls. For each of these calls, `delay` returns the delay of the call's keys,
 * in milliseconds.
 */
async function addAll(engine: RedisEngine, count: number, delay: () => number, from = 0): Promise<void> {
  const starts = Array.from({ length: count / AT_ONCE }, (_, i) => from + i * AT_ONCE).values();
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (const start of starts) await engine.add(keys(AT_ONCE, start).map((key) => ({ key, payload: "" })), delay());
  }));
}

function turn(
  engine: RedisEngine,
  owner: string,
  { wanted = 0, finishes = [] }: { wanted?: number; finishes?: Finish[] },
): Promise<TurnReply> {
  return engine.turn({ process: owner, owner, known: 0, wanted, throttle: undefined, finishes });
}

const finishOf = (kind: Finish["kind"]) => ({ key, token }: { key: string; token: string }): Finish => ({
  key,
  token,
  kind,
});

/** Returns the median time of the script that takes one key, for each queue. Hands the keys back afterwards. */
async function compareTakes(server: Server, few: RedisEngine, many: RedisEngine): Promise<MillionFacts["take"]> {
  const medians = { few: 0, many: 0 };
  for (const [name, engine] of [["few", few], ["many", many], ["few", few], ["many", many]] as const) {
    await server.resetCounts();
    const all: TakenKey[] = [];
    await times(TAKES / 2, async () => all.push(...(await turn(engine, "takes", { wanted: 1 })).taken));
    medians[name] += (await server.scripts()).median / 2;
    await turn(engine, "takes", { finishes: all.map(finishOf("handedBack")) });
  }
  return medians;
}

async function takeAndFinish(engine: RedisEngine, wanted: number): Promise<void> {
  await times(20, async () => {
    const { taken } = await turn(engine, "works", { wanted });
    await turn(engine, "works", { finishes: taken.map(finishOf("succeeded")) });
  });
}

/** Takes many keys for an owner. Returns their tokens. */
async function hold(engine: RedisEngine, owner: string): Promise<string[]> {
  const tokens: string[] = [];
  await times(HELD / AT_ONCE, async () => {
    tokens.push(...(await turn(engine, owner, { wanted: AT_ONCE })).taken.map(({ token }) => token));
  });
  return tokens;
}

/** Takes keys for another owner until the server has ended all expired leases. */
async function expire(engine: RedisEngine): Promise<void> {
  await times(2 * HELD / 200, () => turn(engine, "others", { wanted: 1 }));
}

async function times(count: number, run: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await run();
}
