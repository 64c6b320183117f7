/** Test of replies that are repeatedly delayed by up to three times the lease duration. */

import { assert, assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { RedisServer } from "../server.ts";
import { newQueue, open } from "./faults.ts";

const LEASE = 500;

export interface DelayedReplies {
  random: () => number;
  /** Minimum duration of the phase in which replies are delayed, in milliseconds. */
  ms: number;
}

/** Runs two pools, each behind its own proxy. Returns the number of items and the number of handlers started. */
export async function delayedReplies({ random, ms }: DelayedReplies): Promise<{ items: number; begun: number }> {
  await using server = await RedisServer.start();
  const { name } = newQueue(server.url);
  await using producer = open(server.url, name, { leaseDuration: LEASE });
  await using stack = new AsyncDisposableStack();
  const tokens = new Map<string, bigint>();
  const done = new Set<string>();
  const wrong: string[] = [];
  let begun = 0;
  const end = performance.now() + ms;
  const pools = await Promise.all([1, 2].map(async () => {
    const proxy = stack.use(await RedisProxy.start(server.url));
    const opened = stack.use(open(proxy.url, name, { leaseDuration: LEASE, callTimeout: "1m" }));
    const pool = runWorkers(opened.queue, async (item, { token, signal }) => {
      begun++;
      if (signal.aborted) wrong.push(`${item} began with a lease that was lost`);
      if (token! <= (tokens.get(item) ?? 0n)) wrong.push(`${item} began with a token that is over`);
      tokens.set(item, token!);
      await delay(20 * random());
      done.add(item);
    }, { concurrency: 20, onError() {} });
    const delaying = (async () => {
      while (performance.now() < end) {
        await delay(2 * LEASE * random());
        proxy.holdReplies();
        await delay(3 * LEASE * random());
        proxy.holdReplies(false);
      }
    })();
    return { pool, delaying };
  }));
  let items = 0;
  while (performance.now() < end) {
    await producer.queue.addAll(Array.from({ length: 50 }, () => `item ${items++}`));
    await delay(100);
  }
  for (const { delaying } of pools) await delaying;
  await producer.queue.whenIdle();
  for (const { pool } of pools) await pool.stop();
  assertEquals([done.size, wrong, producer.errors], [items, [], []]);
  assert(begun >= items);
  producer.history.check({ isComplete: true });
  return { items, begun };
}
