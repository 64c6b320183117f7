/** Test of processes that are killed at random and restarted. */

import { assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { RedisServer } from "../../server.ts";
import { newQueue, open } from "../faults.ts";
import { seeded } from "../seeded.ts";
import { startWorker, Witness, type Worker } from "./workers.ts";

export interface Chaos {
  seed: number;
  items: number;
  processes: number;
  /** Minimum time during which processes are killed, in milliseconds. */
  ms: number;
}

/** Result of a run. */
export interface Survived {
  readonly kills: number;
  readonly items: number;
  /** Number of handlers that ended. */
  readonly handled: number;
}

/** Checks that every item is finished, and that two live processes never work on the same item at once. */
export async function survive({ seed, items, processes, ms }: Chaos): Promise<Survived> {
  const random = seeded(seed);
  await using server = await RedisServer.start();
  await using witness = await Witness.start();
  const { name } = newQueue(server.url);
  await using opened = open(server.url, name);
  const { queue } = opened;
  const args = {
    url: server.url,
    witness: witness.url,
    name,
    history: opened.history.folder,
    leaseDuration: 2000,
    maxStalls: 1000,
    concurrency: 20,
    ms: 1,
    failsOnce: false,
  };
  const start = (i: number) => startWorker(i === 0 ? "Bun" : "Deno", args);
  const workers: Worker[] = await Promise.all(Array.from({ length: processes }, (_, i) => start(i)));
  await Promise.all(workers.map(({ ready }) => ready));

  let added = 0;
  let kills = 0;
  const killing = (async () => {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await delay(100 + 500 * random());
      const i = Math.floor(random() * processes);
      const victim = workers[i]!;
      victim.kill("SIGKILL");
      await victim.ended;
      await witness.noteDeath(victim.pid);
      kills++;
      workers[i] = await start(i);
    }
  })();
  let isKilling = true;
  killing.finally(() => isKilling = false);
  do {
    const batch = Array.from({ length: items }, (_, i) => `item ${added + i}`);
    added += items;
    for (let from = 0; from < items; from += 1000) await queue.addAll(batch.slice(from, from + 1000));
    do {
      await witness.read();
      await delay(100);
    } while (witness.ends.size < added);
  } while (isKilling);
  await killing;
  await queue.whenIdle();

  await Promise.all(workers.map(({ ready }) => ready));
  for (const worker of workers) worker.kill("SIGTERM");
  assertEquals(await Promise.all(workers.map(({ ended }) => ended)), workers.map(() => 0));
  await witness.read();
  assertEquals([witness.wrong, witness.errors, opened.errors], [[], [], []]);
  assertEquals(witness.ends.size, added);
  opened.history.check({ isComplete: true, order: {} });
  return { kills, items: added, handled: [...witness.ends.values()].reduce((sum, ends) => sum + ends.length, 0) };
}
