/**
 * Tests of throttles that are one for several real processes, some of which are killed or stopped. Runs only on Deno,
 * which starts the other runtimes.
 */

import { assertEquals } from "@std/assert";
import { createRedisQueue } from "@workqueue/redis";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../../run_script.ts";
import { runtimes } from "../../runtimes.ts";
import { until } from "../faults/faults.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";
import { RedisServer } from "../server.ts";
import type { ThrottledArguments } from "./throttled_worker.ts";

const SCRIPT = fileURLToPath(new URL("throttled_worker.ts", import.meta.url));
const LEASE = 3000;
const LIMIT = 3;

async function startWorker(runtime: keyof typeof runtimes, args: ThrottledArguments): Promise<ChildProcess> {
  const [file, ...options] = await runtimes[runtime]!();
  const child = spawn(file!, [...options, SCRIPT, JSON.stringify(args)], { stdio: ["ignore", "pipe", "inherit"] });
  await once(createInterface(child.stdout!), "line");
  return child;
}

redisTest(
  "shared throttles: processes are killed and stopped, and no more run than the limit",
  async ({ url, call }) => {
    await using witness = await RedisServer.start();
    const [api, a, b] = ["api", "a", "b"].map((name) => uniqueName(name)) as [string, string, string];
    const queue = { throttle: api, concurrency: 5 };
    const document = {
      throttles: { [api]: { type: "concurrency", limit: LIMIT } },
      queues: { [a]: queue, [b]: queue },
    };
    const queues = [a, b].map((name) => createRedisQueue({ name, url, leaseDuration: LEASE }));
    const args = { url, witness: witness.url, document, leaseDuration: LEASE, ms: 20 };
    const workers = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => startWorker(RUNTIMES[i % RUNTIMES.length]!, args)));
    const begun = async () => Number(await witness.call("GET", "begun") ?? 0);
    const addItems = async (count: number) => {
      for (const queue of queues) await queue.addAll(Array.from({ length: count }, () => crypto.randomUUID()));
    };
    const runs = async ({ pid }: ChildProcess) => Number(await witness.call("HGET", "running", `${pid}`) ?? 0) > 0;
    const goesOn = async () => {
      const before = await begun();
      await until(async () => await begun() >= before + 20);
    };
    /** Sends a signal while handlers run in one of the processes. Returns the process. */
    const hit = async (signal: NodeJS.Signals) => {
      for (;;) {
        for (const worker of workers) {
          if (!await runs(worker)) continue;
          process.kill(worker.pid!, signal);
          if (signal === "SIGKILL") await once(worker, "exit");
          // Ended just before the signal: goes on with another one.
          if (await runs(worker)) return workers.splice(workers.indexOf(worker), 1)[0]!;
          if (signal === "SIGSTOP") process.kill(worker.pid!, "SIGCONT");
        }
      }
    };

    await addItems(300);
    await goesOn();
    const killed = await hit("SIGKILL");
    await delay(LEASE / 6); // its handlers still count, because its permits come back only with its lease
    await witness.call("SADD", "gone", `${killed.pid}`);
    await goesOn();

    const stopped: ChildProcess[] = [];
    while (stopped.length < LIMIT) {
      const worker = await hit("SIGSTOP");
      await witness.call("SADD", "gone", `${worker.pid}`);
      stopped.push(worker);
    }
    await goesOn(); // whatever permits they have, their leases end
    for (const { pid } of stopped) process.kill(pid!, "SIGCONT");
    await goesOn();

    await addItems(50);
    for (const queue of queues) await queue.whenIdle();
    assertEquals(await witness.call("GET", "most"), `${LIMIT}`);
    await until(async () => (await call("HLEN", `workqueue:{throttle:${api}}:permits`)) === 0);
    for (const worker of [...workers, ...stopped]) {
      worker.kill("SIGTERM");
      await once(worker, "exit");
    }
    for (const queue of queues) await queue.shutDownWithDrain();
  },
);
