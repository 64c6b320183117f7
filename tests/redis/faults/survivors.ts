/**
 * Test of three processes with long-running handlers. When one process is killed, the others continue at full
 * concurrency.
 */

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { RedisServer } from "../server.ts";
import { newQueue, open } from "./faults.ts";
import { startWorker, Witness } from "./process/workers.ts";

const CONCURRENCY = 20;
const SECONDS = 10;

/**
 * Runs 3 processes with 20 handlers each. A handler takes 1 s on average. Kills one process and returns how many items
 * per second the other two finish in the next 10 s. At most 40 items per second are possible.
 */
export async function survivors(): Promise<number> {
  await using server = await RedisServer.start();
  await using witness = await Witness.start();
  const { name } = newQueue(server.url);
  await using opened = open(server.url, name);
  const args = {
    url: server.url,
    witness: witness.url,
    name,
    history: opened.history.folder,
    leaseDuration: 2000,
    maxStalls: 5,
    failsOnce: false,
  };
  const start = () => startWorker("Deno", { ...args, concurrency: CONCURRENCY, ms: 1000 });
  const workers = await Promise.all([start(), start(), start()]);
  await Promise.all(workers.map(({ ready }) => ready));
  const items = 3 * CONCURRENCY * SECONDS;
  await opened.queue.addAll(Array.from({ length: items }, (_, i) => `item ${i}`));
  await delay(2000); // all handlers are running

  const [victim, ...others] = workers;
  victim!.kill("SIGKILL");
  await victim!.ended;
  await witness.noteDeath(victim!.pid);
  await witness.read();
  const before = witness.ends.size;
  await delay(SECONDS * 1000);
  await witness.read();
  const rate = (witness.ends.size - before) / SECONDS;
  assert(rate >= 0.7 * 2 * CONCURRENCY, `the survivors ended ${rate} items a second`);

  await opened.queue.whenIdle();
  for (const worker of others) worker.kill("SIGTERM");
  await Promise.all(others.map(({ ended }) => ended));
  await witness.read();
  assertEquals([witness.ends.size, witness.wrong, witness.errors, opened.errors], [items, [], [], []]);
  opened.history.check({ isComplete: true, order: {} });
  return rate;
}
