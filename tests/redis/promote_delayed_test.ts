/** Tests of `promoteDelayed`, which makes delayed items ready immediately. */

import { assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { addRateLimited } from "../contracts/engine_bench.ts";
import { engineTest, keysOf } from "./bench.ts";
import { countsOf } from "../contracts/counts.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const NONE = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 };

engineTest("items retried now come last, once, with the failures that they have", async (bench) => {
  await addRateLimited(bench.engine, { key: "a", payload: "" }, { minDelay: 5000 });
  await bench.add("b");
  assertEquals(await bench.engine.promoteDelayed("a"), true);
  assertEquals(await countsOf(bench.engine), { ...NONE, ready: 2, failing: 1 });
  const { taken } = await bench.take("o", 3);
  assertEquals(taken.map(({ key, failures }) => [key, failures]), [["b", 0], ["a", 1]]);
});

engineTest("an item that is not delayed is not promoted", async (bench) => {
  await bench.add("ready", "processing");
  const { taken: [ready] } = await bench.take("o");
  await bench.addAfter(5, "due");
  await bench.pass(10);
  for (const key of ["ready", "processing", "due", "unknown"]) {
    assertEquals(await bench.engine.promoteDelayed(key), false, key);
  }
  assertEquals(keysOf(await bench.take("o", 5, 1)), ["processing", "due"]);
  assertEquals(await bench.finish("ready", ready!.token), true);
  assertEquals(await countsOf(bench.engine), { ...NONE, processing: 2 });
});

engineTest("an item that is processing and delayed is handed out again when it is done", async (bench) => {
  await bench.add("a");
  const { taken: [a] } = await bench.take("o");
  await bench.addAfter(5000, "a");
  assertEquals(await bench.engine.promoteDelayed("a"), true);
  assertEquals(await countsOf(bench.engine), { ...NONE, processing: 1 });
  await bench.finish("a", a!.token);
  assertEquals(keysOf(await bench.take("o")), ["a"]);
});

engineTest("an item that is ready and delayed is ready once", async (bench) => {
  await bench.addAfter(5000, "a");
  await bench.add("a");
  assertEquals(await bench.engine.promoteDelayed("a"), true);
  assertEquals(await countsOf(bench.engine), { ...NONE, ready: 1 });
});

engineTest("while more items are due than a call moves, items retried now come after them", async (bench) => {
  const keys = Array.from({ length: 300 }, (_, i) => `${i}`);
  await bench.addAfter(10, ...keys);
  await bench.addAfter(5000, "a");
  await bench.pass(20);
  assertEquals(await bench.engine.promoteDelayed("299"), false, "it is due");
  assertEquals(await bench.engine.promoteDelayed("a"), true);
  assertEquals(keysOf(await bench.take("o", 400)).concat(keysOf(await bench.take("p", 400))), [...keys, "a"]);
});

engineTest("a promoted item wakes a waiting process", async (bench) => {
  await bench.addAfter(5000, "a");
  await bench.take("o");
  await bench.engine.promoteDelayed("a");
  // The process has no subscription here, so the notification has removed it from `idle`.
  assertEquals(await bench.stored("ZCARD", "idle"), 0);
});

redisTest("retry now: a worker of another process is woken, even for an item that is not a string", async ({ url }) => {
  const name = uniqueName("retry");
  const open = () => createRedisQueue<{ id: number }>({ name, url, keyOf: ({ id }) => `${id}` });
  await using one = open();
  await using two = open();
  const done: unknown[] = [];
  const pool = runWorkers(one, (item) => void done.push(item));
  await two.addAfter({ id: 1 }, "1h");
  assertEquals(await two.promoteDelayed({ id: 1 }), true);
  await two.whenIdle();
  assertEquals(done, [{ id: 1 }]);
  await pool.stop();
});
