/**
 * Tests of pools that must hold wherever the queue is, in memory or elsewhere. Those that need a queue in memory are
 * registered by `Deno.test`: what they expect happens in the same turn, or concerns a queue of somebody else's.
 */

import {
  type Handler,
  type RateLimitingQueue,
  runWorkers as runThem,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import type { Pool } from "../lib/workers/pool.ts";
import { startPool as startIt } from "../lib/workers/start_pool.ts";
import { RemoteQueue } from "./remote_queue.ts";

let isElsewhere = false;

/** Registers a test of pools twice. The pools of the second one take what is in a queue as if that were elsewhere. */
export function test(name: string, run: () => void | Promise<void>): void {
  Deno.test(name, run);
  Deno.test(`${name}, with a queue elsewhere`, async () => {
    isElsewhere = true;
    try {
      await run();
    } finally {
      isElsewhere = false;
    }
  });
}

/** As everywhere, but for the second one of two such tests. */
export function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  handler: Handler<T>,
  options?: WorkerOptions<T>,
): WorkerPool<T> {
  return runThem(isElsewhere ? new RemoteQueue(queue) : queue, handler, options);
}

/** Likewise, for tests that change what they have started. */
export function startPool<T>(queue: RateLimitingQueue<T>, handler: Handler<T>, options: WorkerOptions<T>): Pool<T> {
  return startIt(isElsewhere ? new RemoteQueue(queue) : queue, handler, options);
}
