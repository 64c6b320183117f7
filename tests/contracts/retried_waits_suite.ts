/**
 * Contract suite for calls to `addAndWait` whose items are retried by hand: rule 23. Every call is awaited, so the
 * suite runs for queues in memory and for queues outside this process.
 */

import { assertEquals } from "@std/assert";
import { type Handler, type Lease, type RateLimitingQueue, runWorkers, type WorkerPool } from "@workqueue/core";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";

/** Queue that the suite tests, with no items. Its limiter must delay each retry by one millisecond. */
type Subject = RateLimitingQueue<string> | RemoteQueue;

async function take(queue: Subject): Promise<Lease<string> | RemoteLease> {
  const lease = await queue.get();
  if (lease.shutdown) throw new Error("the queue was shut down");
  return lease;
}

async function dispose(lease: Lease<string> | RemoteLease): Promise<void> {
  if ("finish" in lease) await lease[Symbol.asyncDispose]();
  else lease[Symbol.dispose]();
}

function run(queue: Subject, handler: Handler<string>): WorkerPool<string> {
  return runWorkers(queue as RateLimitingQueue<string>, handler);
}

/** Registers the suite for one implementation. `test` registers a test that has its own queue. */
export function retriedWaitsSuite(test: (name: string, run: (queue: Subject) => Promise<void>) => void): void {
  test("rule 23: a lease that is disposed after addRateLimited keeps its calls waiting", async (queue) => {
    const call = queue.addAndWait("a");
    const lease = await take(queue);
    await queue.addRateLimited("a");
    await dispose(lease);
    const pool = run(queue, () => 7);
    assertEquals(await call, 7);
    await pool.stop();
  });

  test("rule 23: a lease that is disposed ends its calls if its retry was added before the hand-out", async (queue) => {
    await queue.addRateLimited("a", { minDelay: "1h" });
    const call = queue.addAndWait("a");
    await dispose(await take(queue));
    assertEquals(await call, undefined);
    await queue.cancelDelayed("a");
  });

  test("rule 23: an attempt that succeeds ends its calls even if the handler calls addRateLimited", async (queue) => {
    let attempts = 0;
    const pool = run(queue, async (item) => {
      if (++attempts === 1) await queue.addRateLimited(item);
      return attempts;
    });
    assertEquals(await queue.addAndWait("a"), 1);
    await queue.whenIdle();
    assertEquals(attempts, 2);
    await pool.stop();
  });

  test("rule 23: cancelDelayed of a retry by hand rejects the calls when the lease is disposed", async (queue) => {
    const call = queue.addAndWait("a");
    const lease = await take(queue);
    await queue.addRateLimited("a", { minDelay: "1h" });
    assertEquals(await queue.cancelDelayed("a"), true);
    await dispose(lease);
    assertEquals(await call.catch(({ code }) => code), "WQ_CANCELLED");
  });
}
