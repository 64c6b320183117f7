/** Contract suite for `retriesFirst` and `retryPriority` of queues that processes share: rule 12. */

import { assertEquals, assertThrows } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

async function take(queue: RemoteQueue): Promise<RemoteLease> {
  const lease = await queue.get();
  if (lease.shutdown) throw new Error("the queue was shut down");
  return lease;
}

/** Registers the suite for one engine. */
export function retryPrioritySuite(test: RemoteTest, partitions?: number): void {
  const open = (place: RemotePlace, options: object = {}) => {
    return place.open({
      name: "retries",
      limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
      discipline: { type: "priority", maxHeadStart: "unlimited" },
      retryPriority: 50,
      ...partitions && { partitions },
      ...options,
    });
  };

  test("rule 12: retryPriority is the priority of retries, unless the handler asks for another", async (place) => {
    await using queue = open(place);
    const handled: [string, number][] = [];
    const pool = runWorkers(queue, (item, { attempt, priority }) => {
      handled.push([item, priority]);
      if (attempt > 1) return;
      if (item === "fails") throw new Error("no");
      return item === "asks" ? { requeue: true, priority: 7 } : { requeue: true };
    }, { onError() {} });
    for (const item of ["fails", "asks", "requeued"]) {
      await queue.add(item);
      await queue.whenIdle();
    }
    assertEquals(handled, [["fails", 0], ["fails", 50], ["asks", 0], ["asks", 7], ["requeued", 0], ["requeued", 50]]);
    await pool.stop();
  });

  test("rule 12: retryPriority applies to addRateLimited and finish, and not to a requeueAfter", async (place) => {
    await using queue = open(place);
    const priorities: number[] = [];
    await queue.addRateLimited("a");
    for (const outcome of [{ requeueAfter: 1 }, { requeueAfter: 1, priority: 60 }, { requeue: true }]) {
      const lease = await take(queue);
      priorities.push(lease.priority);
      await lease.finish(outcome);
    }
    const retried = await take(queue);
    await retried.finish();
    await queue.addRateLimited("b", { priority: 3 });
    const asked = await take(queue);
    await asked.finish();
    assertEquals([...priorities, retried.priority, asked.priority], [50, 50, 60, 50, 3]);
  });

  test("retriesFirst and retryPriority are checked", async (place) => {
    assertThrows(() => open(place, { retryPriority: NaN }), RangeError, "'retryPriority' must be a finite number");
    assertThrows(() => open(place, { retriesFirst: 1 }), RangeError, "'retriesFirst' must be true or false");
    assertThrows(
      () => open(place, { retriesFirst: true }),
      TypeError,
      "'retriesFirst' is for a queue that is first in",
    );
    await open(place, { retriesFirst: false }).shutDownWithDrain();
  });

  if (partitions !== undefined) return; // each partition has an order of its own

  test("rule 12: retriesFirst puts the retries of a pool before the other items", async (place) => {
    const limiter = { type: "exponential", baseDelay: 100, maxDelay: 100 }; // longer than until `blocks` is handed out
    await using queue = open(place, { discipline: undefined, retriesFirst: true, limiter });
    await queue.addAll(["fails", "blocks", "x"]);
    const handled: string[] = [];
    const pool = runWorkers(queue, async (item, { attempt }) => {
      handled.push(item);
      if (item === "fails" && attempt === 1) throw new Error("no");
      if (item !== "blocks") return;
      while ((await queue.counts()).delayed > 0);
    }, { concurrency: 1, onError() {} });
    await queue.whenIdle();
    assertEquals(handled, ["fails", "blocks", "fails", "x"]);
    await pool.stop();
  });
}
