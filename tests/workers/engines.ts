/** Engines for a pool's queue. Tests of pools that must hold on every engine run on each of these. */

import { type Handler, type RateLimitingQueue, runWorkers, type WorkerOptions, type WorkerPool } from "@workqueue/core";
import { type Pool, startPool } from "../../lib/workers/pool.ts";
import { RemoteQueue } from "./remote_queue.ts";

/** Functions that start pools for a test. They don't use `this`. */
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
 * Registers a test of pools for each engine. Tests that expect something in the same turn, or that use a third-party
 * queue, need a queue in memory: register them with `Deno.test` instead.
 *
 * @param run Receives the engine and starts its pools there. The test fails if it starts none.
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
