/** Longest time for which the event loop of a process that adds stands still. */

import { setImmediate } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { keys } from "../remote/contender.ts";
import { inParallel } from "../remote/works.ts";
import { inThread, ours } from "./ours.ts";

/** Number of adds that are under way. */
const CONCURRENCY = 100;

interface Options {
  readonly place: string;
  /** Milliseconds for which the loop is watched. */
  readonly duration: number;
  /** Whether a thread writes to the file. */
  readonly thread?: boolean;
}

/** Adds items all the time. Returns the longest turn of the event loop, in milliseconds. */
export async function measureAdding({ place, duration, thread = false }: Options): Promise<number> {
  await using session = await (thread ? inThread : ours)({ place, queue: "adds", payload: 0, durability: "full" });
  const end = performance.now() + duration;
  return await longestTurn(async () => {
    for (let from = 0; performance.now() < end; from += 10_000) {
      await inParallel(CONCURRENCY, keys(10_000, from), (key) => session.add(key));
    }
  });
}

/**
 * Adds items while a transaction of another connection is open. Returns the longest turn of the event loop in that
 * time, in milliseconds.
 */
export async function measureLocked({ place, duration }: Options): Promise<number> {
  const { DatabaseSync } = await import("node:sqlite"); // Node 20 has none
  await using session = await ours({ place, queue: "adds", payload: 0, durability: "full" });
  await inParallel(CONCURRENCY, keys(1000), (key) => session.add(key)); // warms up
  const connection = new DatabaseSync(place);
  connection.exec("BEGIN IMMEDIATE; DELETE FROM items");
  let added = 0;
  const adds = inParallel(CONCURRENCY, keys(CONCURRENCY, 1000), async (key) => {
    await session.add(key);
    added++;
  });
  const longest = await longestTurn(() => sleep(duration));
  if (added > 0) throw new Error(`${added} items were added while the file was locked`);
  connection.exec("ROLLBACK");
  connection.close();
  await adds;
  return longest;
}

/** Returns the longest turn of the event loop until `run` has ended, in milliseconds. */
async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let isRunning = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await run();
  isRunning = false;
  return longest;
}
