/** Test that queue metrics don't keep a process alive. Runs only on Deno, which starts the other runtimes. */

import { assertEquals } from "@std/assert";
import { callRedis } from "../server.ts";
import { runScript, RUNTIMES } from "../../run_script.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

const script = new URL("measure.ts", import.meta.url);

for (const runtime of RUNTIMES) {
  redisTest(`process: on ${runtime}, it ends although a queue is measured`, async ({ url }) => {
    const name = uniqueName("metrics");
    await callRedis(url, "ZADD", `workqueue:{${name}}:ready`, "1", "a");
    assertEquals(await runScript(runtime, script, url, name), ["1"]);
  });
}
