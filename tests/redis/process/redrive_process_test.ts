/**
 * Test that a redrive goes on when the process that began it is killed. Runs only on Deno, which starts the other
 * runtimes.
 */

import { assert, assertEquals } from "@std/assert";
import { runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../../run_script.ts";
import { runtimes } from "../../runtimes.ts";
import { QUICK, until } from "../faults/faults.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

const SCRIPT = fileURLToPath(new URL("redrive_worker.ts", import.meta.url));
const COUNT = 60;

for (const runtime of RUNTIMES) {
  redisTest(`redrive: its process on ${runtime} is killed, and the workers continue the redrive`, async ({ url }) => {
    const name = uniqueName("redrive");
    const errors: unknown[] = [];
    await using queue = createRedisQueue({ name, url, limiter: QUICK, onQueueError: (error) => errors.push(error) });
    let isFixed = false;
    const done: string[] = [];
    const pool = runWorkers(queue, (item) => {
      if (!isFixed) throw new TerminalError("503");
      done.push(item);
    }, { onError() {} });
    const items = Array.from({ length: COUNT }, (_, i) => `item ${i}`);
    await queue.addAll(items);
    await until(async () => (await queue.counts()).givenUp === COUNT);
    isFixed = true;

    const [file, ...options] = await runtimes[runtime]!();
    const child = spawn(file!, [...options, SCRIPT, url, name, "100"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    const [left] = await once(createInterface(child.stdout!), "line") as [string];
    child.kill("SIGKILL");
    await ended;
    assert(Number(left) > COUNT / 2, left);

    // Nobody looks at the progress, which would take a step of the redrive.
    await until(() => done.length === COUNT);
    assertEquals(done, items);
    assertEquals(await queue.redriveProgress(), { redriven: COUNT, left: 0, running: false });
    assertEquals([(await queue.givenUp()).total, errors], [0, []]);
    await pool.stop();
  });
}
