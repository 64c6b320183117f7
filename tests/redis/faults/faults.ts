/** Helpers for tests that inject faults. */

import { assert, assertFalse } from "@std/assert";
import { createRedisQueue, type RedisLease, type RedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { namesOf } from "../../../packages/redis/division.ts";
import { callRedis } from "../server.ts";
import { uniqueName } from "../unique_name.ts";
import { historyOf, type RecordedHistory } from "./recorded.ts";

/** Timeout, in milliseconds, after which a test fails if a condition has not become true. */
const DEADLINE = 60_000;
const LOOK_AGAIN = 5;

/** Limiter whose delays are short enough for a test. */
export const QUICK = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;

/** Queue object, all errors reported to its `onQueueError`, and the history of the queue. */
export interface Opened extends AsyncDisposable {
  readonly queue: RedisQueue;
  readonly errors: unknown[];
  /** History of the queue or of its first partition. */
  readonly history: RecordedHistory;
  /** Histories of all partitions. */
  readonly histories: readonly RecordedHistory[];
}

/** Opens a queue that is shut down at the end of the block. Its history is checked when all have shut it down. */
export function open(url: string, name: string, options: Partial<RedisQueueOptions> = {}): Opened {
  const errors: unknown[] = [];
  const queue = createRedisQueue({
    name,
    url,
    limiter: QUICK,
    onQueueError: (error) => errors.push(error),
    ...options,
  });
  const histories = namesOf(name, { count: options.partitions ?? 1 }).map((name) => historyOf(name));
  const checks = histories.map((history) => history.use());
  const close = async () => {
    // A failed test may leave items processing.
    await queue.shutDownWithDrain({ signal: AbortSignal.timeout(DEADLINE / 4) });
    for (const check of checks) check();
  };
  return { queue, errors, histories, history: histories[0]!, [Symbol.asyncDispose]: close };
}

export async function take(queue: RedisQueue): Promise<RedisLease> {
  const lease = await queue.get();
  assertFalse(lease.shutdown);
  return lease as RedisLease;
}

/** Waits until a condition holds. */
export async function until(isSo: () => unknown): Promise<void> {
  const end = performance.now() + DEADLINE;
  while (!await isSo()) {
    assert(performance.now() < end, `it never happened: ${isSo}`);
    await delay(LOOK_AGAIN);
  }
}

/** Waits until the signal has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

/**
 * Returns another URL of the same server. Queues that use this URL share no connection with queues that use the given
 * URL, as if they were in another process.
 */
export function elsewhere(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

/** Stored data of a queue. */
export class Stored {
  readonly #url: string;
  readonly #name: string;

  constructor(url: string, name: string) {
    this.#url = url;
    this.#name = name;
  }

  /** Runs a command on one of the queue's Redis keys. */
  async call(command: string, key: string, ...args: string[]): Promise<unknown> {
    return await callRedis(this.#url, command, `workqueue:{${this.#name}}:${key}`, ...args);
  }

  /** Returns the number of keys that have stalled and have not been finished since then. */
  async stalls(): Promise<number> {
    const stalls = await this.call("HVALS", "stalls") as string[];
    return stalls.filter((count) => count !== "x0").length; // "x0" stands for a key that was given up without a stall
  }

  /** After an outage of the server, waits out the time during which no process loses its leases. */
  async trusted(lease: number): Promise<void> {
    const [gap] = await this.call("ZRANGE", "gaps", "-1", "-1") as string[];
    const grace = Number(gap ?? 0) + lease * 1000;
    await until(async () => {
      const [seconds, micros] = await callRedis(this.#url, "TIME") as string[];
      return Number(seconds) * 1e6 + Number(micros) > grace;
    });
  }
}

/** Returns a new queue name, and the stored data of the queue with this name. */
export function newQueue(url: string): { name: string; stored: Stored } {
  const name = uniqueName("queue");
  return { name, stored: new Stored(url, name) };
}

/** Returns the number of scripts that the server has executed. */
export async function countCalls(url: string): Promise<number> {
  const info = String(await callRedis(url, "INFO", "commandstats"));
  const counts = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}
