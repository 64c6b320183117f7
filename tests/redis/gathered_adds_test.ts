/**
 * Tests of gathered adds: calls that add items within one turn of the event loop are sent together. The order of these
 * calls and all other calls is kept. No server is needed.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { limiters } from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import type { Connection } from "../../packages/redis/connection/connection.ts";
import { RedisConnectionError } from "../../packages/redis/connection/errors.ts";
import { RedisEngine } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { createScripts } from "../../packages/redis/scripts/script.ts";

const scripts = createScripts();
const NAMES = new Map(Object.entries(scripts).map(([name, script]) => [script, name]));

/** Reply of the script that puts the definition of a queue in force. */
const DEFINED = ["1", 1e12, 0];

/**
 * Returns an engine and the list of its calls, except for the one that defines the queue. Each call is represented by a
 * string: the script's name, followed by the call's last arguments.
 */
function engineWith(
  answer: () => Promise<unknown> = () => Promise.resolve(0),
): { engine: RedisEngine; calls: string[] } {
  const calls: string[] = [];
  const connection: Partial<Connection> = {
    onReconnect: () => () => {},
    run(script, _key, args) {
      const name = NAMES.get(script)!;
      if (name === "define") return Promise.resolve(DEFINED);
      calls.push([name, ...args.slice(name === "add" ? 4 : 1)].join(" "));
      return answer();
    },
  };
  const engine = new RedisEngine(connection as Connection, scripts, {
    ...{ name: "q", leaseDuration: 1000, maxStalls: 5, replaces: false, folds: false, hasItems: false },
    limiter: planLimiter("test", limiters.describe(defaultControllerConfig)),
  });
  return { engine, calls };
}

const entries = (...keys: string[]) => keys.map((key) => ({ key, payload: "" }));

Deno.test("gathered adds: adds of one turn of the event loop are one call, in their order", async () => {
  const { engine, calls } = engineWith();
  await Promise.all([engine.add(entries("a")), engine.add(entries("b", "c")), engine.add(entries("d"))]);
  await engine.add(entries("e"));
  assertEquals(calls, ["add a b c d", "add e"]);
});

Deno.test("gathered adds: calls and other delays between two adds keep their place in the order", async () => {
  const { engine, calls } = engineWith();
  await Promise.all([
    engine.add(entries("a")),
    engine.cancelDelayed("b"),
    engine.add(entries("c")),
    engine.add(entries("d"), 1000),
    engine.add(entries("e"), 1000),
    engine.add(entries("f")),
    engine.forget("g"),
  ]);
  assertEquals(calls, ["add a", "cancelDelayed b", "add c", "add d e", "add f", "forget g"]);
});

Deno.test("gathered adds: one call adds at most 200 items", async () => {
  const { engine, calls } = engineWith();
  const many = Array.from({ length: 120 }, (_, i) => `${i}`);
  await Promise.all([engine.add(entries(...many)), engine.add(entries(...many)), engine.add(entries("last"))]);
  assertEquals(calls.map((call) => call.split(" ").length - 1), [120, 121]);
});

Deno.test("gathered adds: if a call fails, all of its adds reject, and the next call works", async () => {
  let failures = 1;
  const { engine } = engineWith(() => failures-- > 0 ? Promise.reject(new Error("full")) : Promise.resolve(0));
  const adds = [engine.add(entries("a")), engine.add(entries("b"))];
  for (const add of adds) await assertRejects(() => add, Error, "full");
  await engine.add(entries("c"));
});

Deno.test("gathered adds: if a later call of many items fails, the error says what was added before", async () => {
  const many = Array.from({ length: 500 }, (_, i) => ({ key: `${i}`, payload: "" }));
  const ranked = many.map((entry) => ({ ...entry, delay: 0, priority: 1 }));
  for (const [failing, added] of [[1, 0], [2, 200], [3, 400]] as const) {
    let made = 0;
    const { engine } = engineWith(() => {
      const isFailing = ++made % 3 === failing % 3;
      return isFailing ? Promise.reject(new RedisConnectionError("no", { mayHaveRun: false })) : Promise.resolve(0);
    });
    for (const add of [() => engine.add(many), () => engine.addEach(ranked)]) {
      made = 0;
      const error = await assertRejects(add, RedisConnectionError);
      const message = added === 0 ? "no" : `no (${added} of 500 items were added before)`;
      assertEquals([error.message, error.mayHaveRun], [message, added > 0]);
    }
  }
});
