/**
 * Tests of throttles that are one for several real processes, some of which are killed or stopped. Runs only on Deno,
 * which starts the other runtimes.
 */

import { assertEquals } from "@std/assert";
import { createRedisQueue } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../../run_script.ts";
import { until } from "../faults/faults.ts";
import { startWorker, type Worker } from "../faults/process/workers.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";
import { RedisServer } from "../server.ts";
import type { ThrottledArguments } from "./throttled_worker.ts";

const SCRIPT = fileURLToPath(new URL("throttled_worker.ts", import.meta.url));
const LEASE = 3000;
const LIMIT = 3;

redisTest(
  "shared throttles: processes are killed and stopped, and no more attempts run than the limit",
  async ({ url, call }) => {
    await using witness = await RedisServer.start();
    const [api, a, b] = ["api", "a", "b"].map((name) => uniqueName(name)) as [string, string, string];
    const queue = { throttle: api, concurrency: 5 };
    const document = {
      throttles: { [api]: { type: "concurrency", limit: LIMIT } },
      queues: { [a]: queue, [b]: queue },
    };
    const queues = [a, b].map((name) => createRedisQueue({ name, url, leaseDuration: LEASE }));
    const args: ThrottledArguments = { url, witness: witness.url, document, leaseDuration: LEASE, ms: 20 };
    const workers = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => {
      return startWorker(RUNTIMES[i % RUNTIMES.length]!, args, SCRIPT);
    }));
    await Promise.all(workers.map(({ ready }) => ready));
    const begun = async () => Number(await witness.call("GET", "begun") ?? 0);
    const addItems = async (count: number) => {
      for (const queue of queues) await queue.addAll(Array.from({ length: count }, () => crypto.randomUUID()));
    };
    const runs = async ({ pid }: Worker) => Number(await witness.call("HGET", "running", `${pid}`) ?? 0) > 0;
    const goesOn = async () => {
      const before = await begun();
      await until(async () => await begun() >= before + 20);
    };
    /** Sends a signal while handlers run in one of the processes. Returns the process. */
    const hit = async (signal: "SIGKILL" | "SIGSTOP") => {
      let found: Worker | undefined;
      await until(async () => {
        for (const worker of [...workers]) {
          if (!await runs(worker)) continue;
          worker.kill(signal);
          if (signal === "SIGKILL") await worker.ended;
          const hasHandlers = await runs(worker); // they may have ended just before the signal
          if (hasHandlers || signal === "SIGKILL") workers.splice(workers.indexOf(worker), 1);
          else worker.kill("SIGCONT");
          if (hasHandlers) return found = worker;
        }
      });
      return found!;
    };

    await addItems(300);
    await goesOn();
    const killed = await hit("SIGKILL");
    await delay(LEASE / 6); // its handlers still count, because its permits come back only with its lease
    await witness.call("SADD", "gone", `${killed.pid}`);
    await goesOn();

    const stopped: Worker[] = [];
    while (stopped.length < LIMIT) {
      const worker = await hit("SIGSTOP");
      await witness.call("SADD", "gone", `${worker.pid}`);
      stopped.push(worker);
    }
    await goesOn(); // whatever permits they have, their leases end
    for (const worker of stopped) worker.kill("SIGCONT");
    await goesOn();

    await addItems(50);
    for (const queue of queues) await queue.whenIdle();
    assertEquals(await witness.call("GET", "most"), `${LIMIT}`);
    await until(async () => (await call("HLEN", `workqueue:{throttle:${api}}:permits`)) === 0);
    for (const worker of [...workers, ...stopped]) {
      worker.kill("SIGTERM");
      await worker.ended;
    }
    for (const queue of queues) await queue.shutDownWithDrain();
  },
);
