/** Tests of the functions of scripts that are created when one of them is first used, because most calls use none. */

import { assertEquals, assertRejects } from "@std/assert";
import { createScript } from "../../packages/redis/connection/script.ts";
import type { Scripts } from "../../packages/redis/scripts/script.ts";
import { Bench, keysOf, LEASE } from "./bench.ts";
import { redisTest } from "./redis_tests.ts";
import { timedScripts, TimedServer } from "./timed_server.ts";

/** Scripts that fail when they create the functions. */
const failing = Object.fromEntries(
  Object.entries(timedScripts).map(([name, { text }]) => [
    name,
    createScript(text.replaceAll(/setmetatable\(q, (?:nil|others)\)/g, "error('created ' .. name)")),
  ]),
) as Scripts;

redisTest("scripts: adds, hand-outs and finishes of a plain queue create no functions on demand", async ({ url }) => {
  await using usual = await TimedServer.connect(url);
  await using server = await TimedServer.connect(url, failing);
  const bench = new Bench(usual);
  await bench.add("first");
  const { taken: [first] } = await bench.take("o"); // looks for leases that have expired, as few calls do
  const engine = server.engine(bench.name, () => ++bench.time, { leaseDuration: LEASE });
  const add = (...keys: string[]) => engine.add(keys.map((key) => ({ key, payload: "" })));
  const finish = ({ key, token }: { key: string; token: string }) => ({ key, token, kind: "succeeded" as const });

  await bench.turn("o", [finish(first!)]);
  await add("a");
  await add("b", "c", "a");
  const { taken: [a, ...others] } = await bench.take("o", 3, 0, engine);
  assertEquals(others.map(({ key }) => key), ["b", "c"]);
  await add("d", "e");
  assertEquals(keysOf(await bench.turn("o", [finish(a!)], 1, 2, engine)), ["d"]);
  assertEquals(keysOf(await bench.turn("o", others.map(finish), 1, 1, engine)), ["e"]);
  await assertRejects(() => bench.take("o", 1, 2, engine), Error, "created");
});
