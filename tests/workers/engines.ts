/** Where a pool's queue can be. Tests of pools that must hold everywhere run on each of these engines. */

import { type Handler, type RateLimitingQueue, runWorkers, type WorkerOptions, type WorkerPool } from "@workqueue/core";
import { type Pool, startPool } from "../../lib/workers/pool.ts";
import { RemoteQueue } from "./remote_queue.ts";

/** Starts pools for a test. Its functions need no `this`. */
export interface Engine {
  runWorkers<T>(queue: RateLimitingQueue<T>, handler: Handler<T>, options?: WorkerOptions<T>): WorkerPool<T>;
  /** Starts a pool whose options can change. */
  startPool<T>(queue: RateLimitingQueue<T>, handler: Handler<T>, options: WorkerOptions<T>): Pool<T>;
}

/** Pools take items from the queue itself. */
export const inMemory: Engine = { runWorkers, startPool };

/** Pools take items as if the queue were in another process. */
export const elsewhere: Engine = {
  runWorkers: (queue, handler, options) => runWorkers(new RemoteQueue(queue), handler, options),
  startPool: (queue, handler, options) => startPool(new RemoteQueue(queue), handler, options),
};

/**
 * Registers a test of pools for each engine. A test that expects something in the same turn, or uses a queue by
 * somebody else, needs a queue in memory and is registered by `Deno.test` instead.
 *
 * @param run Gets the engine and starts its pools there. The test fails if it starts none.
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
