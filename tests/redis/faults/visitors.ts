/** Test in which a process with a lease is killed while consumers come and go. */

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { RedisLease } from "@workqueue/redis";
import { RedisServer } from "../server.ts";
import { newQueue, open, until } from "./faults.ts";
import { startWorker, Witness } from "./process/workers.ts";

/** Series of consumers. A new consumer arrives every `every` milliseconds and stays for 250 ms. */
export interface Visits {
  every: number;
  /** Number of the last consumer that may receive the item. */
  atMost: number;
}

/**
 * Kills the process that holds a lease of 1 s on an item. Returns the number of the consumer that receives the item.
 */
export async function rareVisitors({ every, atMost }: Visits): Promise<number> {
  await using server = await RedisServer.start();
  await using witness = await Witness.start();
  const { name, stored } = newQueue(server.url);
  await using producer = open(server.url, name, { leaseDuration: 1000 });
  const args = {
    url: server.url,
    witness: witness.url,
    name,
    history: producer.history.folder,
    maxStalls: 5,
    failsOnce: false,
  };
  const worker = await startWorker("Deno", { ...args, leaseDuration: 1000, concurrency: 1, ms: 600_000 });
  await worker.ready;
  await producer.queue.add("a");
  await until(async () => await stored.call("HLEN", "holders") === 1);
  worker.kill("SIGKILL");
  await worker.ended;
  let start = performance.now();
  for (let visit = 1;; visit++) {
    assert(visit <= atMost, `not handed out to ${atMost} visitors`);
    start += every;
    await delay(Math.max(start - performance.now(), 0));
    await using visitor = open(server.url, name, { leaseDuration: 1000 });
    const lease = await visitor.queue.get({ signal: AbortSignal.timeout(250) }).catch(() => undefined);
    if (lease === undefined) continue;
    assert(await (lease as RedisLease).finish());
    await producer.queue.whenIdle();
    assertEquals(producer.errors, []);
    producer.history.check({ isComplete: true });
    return visit;
  }
}
