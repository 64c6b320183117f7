/**
 * Test that real processes share a retry budget, and that the budget outlives a killed process. Runs only on Deno,
 * which starts the other runtimes.
 */

import { assertEquals } from "@std/assert";
import { createRedisQueue } from "@workqueue/redis";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../../run_script.ts";
import { runtimes } from "../../runtimes.ts";
import { until } from "../faults/faults.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

const SCRIPT = fileURLToPath(new URL("retry_budget_worker.ts", import.meta.url));

redisTest("retry budget: processes share it, and it outlives a process that is killed", async ({ url }) => {
  const name = uniqueName("budget");
  const attempts: string[] = [];
  const start = async (runtime: (typeof RUNTIMES)[number]) => {
    const [file, ...options] = await runtimes[runtime]!();
    const child = spawn(file!, [...options, SCRIPT, url, name], { stdio: ["ignore", "pipe", "inherit"] });
    createInterface(child.stdout!).on("line", (line: string) => attempts.push(line));
    return { child, ended: once(child, "exit") };
  };
  const kill = async ({ child, ended }: Awaited<ReturnType<typeof start>>) => {
    child.kill("SIGKILL");
    await ended;
  };
  await using queue = createRedisQueue({ name, url });
  await queue.addAll(["a", "b", "c"]);
  const first = await start(RUNTIMES[0]!);
  await until(async () => attempts.length === 4 && (await queue.counts()).blocked === 3);
  assertEquals(attempts.filter((attempt) => attempt.endsWith("2")).length, 1, "one retry is allowed in any case");
  await kill(first);

  const others = await Promise.all(RUNTIMES.map(start));
  await queue.addAll(["good", "d"]);
  await until(async () => attempts.length === 6 && (await queue.counts()).blocked === 4);
  assertEquals(attempts.slice(4).sort(), ["d 1", "good 1"]);
  await Promise.all(others.map(kill));
});
