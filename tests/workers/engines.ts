/**
 * Engines on which a pool's queue can run. If a test covers behavior that all engines share, the test runs on each of
 * these engines.
 */

import { type Handler, type RateLimitingQueue, runWorkers, type WorkerOptions, type WorkerPool } from "@workqueue/core";
import { type Pool, startPool } from "../../lib/workers/pool.ts";
import { RemoteQueue } from "./remote_queue.ts";

/** Functions that start pools for a test. These functions don't use `this`, so they can be destructured. */
export interface Engine {
  runWorkers<T>(queue: RateLimitingQueue<T>, handler: Handler<T>, options?: WorkerOptions<T>): WorkerPool<T>;
  /** Starts a pool with changeable options. */
  startPool<T>(queue: RateLimitingQueue<T>, handler: Handler<T>, options: WorkerOptions<T>): Pool<T>;
}

/** Engine whose pools take items directly from the queue. */
export const inMemory: Engine = { runWorkers, startPool };

/** Engine whose pools take items as if the queue were in another process. */
export const elsewhere: Engine = {
  runWorkers: (queue, handler, options) => runWorkers(new RemoteQueue(queue), handler, options),
  startPool: (queue, handler, options) => startPool(new RemoteQueue(queue), handler, options),
};

/**
 * Registers a test of pools for each engine. If a test expects a result in the same turn or uses a third-party queue,
 * it needs an in-memory queue, so register it with `Deno.test` instead.
 *
 * @param run Receives the engine, on which it must start at least one pool. Otherwise, the test fails.
 */
export function test(name: string, run: (engine: Engine) => void | Promise<void>): void {
  testOn(inMemory, name, run);
  testOn(elsewhere, `${name}, with a queue elsewhere`, run);
}

function testOn(engine: Engine, name: string, run: (engine: Engine) => void | Promise<void>): void {
  Deno.test(name, async () => {
    let isUsed = false;
    await run({
      runWorkers(...args) {
        isUsed = true;
        return engine.runWorkers(...args);
      },
      startPool(...args) {
        isUsed = true;
        return engine.startPool(...args);
      },
    });
    if (!isUsed) throw new Error("The test starts no pool on the engine that it is given");
  });
}
