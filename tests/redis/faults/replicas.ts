/** Test of a server that refuses writes while it has too few replicas. */

import { assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { RedisServer } from "../server.ts";
import { elsewhere, newQueue, open, until } from "./faults.ts";
import { seeded } from "./seeded.ts";

export interface TooFewReplicas {
  seed: number;
  items: number;
  /** Number of times that the replicas disconnect. */
  times: number;
}

/**
 * Checks two things: calls that add, take or finish items are retried until there are enough replicas, and each item
 * runs once. Returns the number of refused calls.
 */
export async function workWithoutReplicas({ seed, items, times }: TooFewReplicas): Promise<{ refused: number }> {
  const random = seeded(seed);
  await using server = await RedisServer.start();
  const { name, stored } = newQueue(server.url);
  await using producer = open(elsewhere(server.url), name);
  await using consumer = open(server.url, name);
  const refused = async () => {
    const [, count = "0"] = /errorstat_NOREPLICAS:count=(\d+)/.exec(String(await server.call("INFO", "errorstats"))) ??
      [];
    return Number(count);
  };
  const runs = new Map<string, number>();
  let ended = 0;
  const pool = runWorkers(consumer.queue, async (item) => {
    runs.set(item, (runs.get(item) ?? 0) + 1);
    await delay(10 * random());
    ended++;
  }, { concurrency: 10 });
  const adds: Promise<void>[] = [];
  for (let time = 0; time < times; time++) {
    const batch = Math.floor(items * (time + 1) / times) - adds.length;
    const half = Math.floor(batch / 2);
    const add = (count: number) => {
      for (let i = 0; i < count; i++) adds.push(producer.queue.add(`item ${adds.length}`));
    };
    add(half);
    const before = ended;
    await until(() => ended > before + half * random() * 0.9); // in the middle of the work
    const refusedBefore = await refused();
    await server.call("CONFIG", "SET", "min-replicas-to-write", "1");
    add(batch - half);
    // Wait until calls of both the producer and the consumer were refused.
    await until(async () => await refused() >= refusedBefore + 2);
    await delay(500 * random());
    await server.call("CONFIG", "SET", "min-replicas-to-write", "0");
  }
  await Promise.all(adds);
  await producer.queue.whenIdle();
  await pool.stop();
  assertEquals(runs.size, items);
  assertEquals([...runs].filter(([, count]) => count > 1), []);
  assertEquals([await stored.stalls(), producer.errors, consumer.errors], [0, [], []]);
  producer.history.check({ isComplete: true, order: {} });
  return { refused: await refused() };
}
