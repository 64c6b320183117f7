/** Contract suite for queues that another process has paused, perhaps before it was killed: they are printed so. */

import { assert, assertStringIncludes } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import "@workqueue/core/inspect";
import { setImmediate } from "node:timers/promises";
import type { RemoteTest } from "./remote_place.ts";

/** Registers the suite for one engine. */
export function printedPauseSuite(test: RemoteTest): void {
  test("a queue that another process paused, and its pool, are printed as paused", async (place) => {
    await using queue = place.open({ name: "images" });
    {
      await using other = place.open({ name: "images" });
      await other.pause();
      await other.add("a");
    }
    const worked: string[] = [];
    const pool = runWorkers(queue, (item) => void worked.push(item));
    while (!String(queue).endsWith("connected, paused")) await setImmediate();
    assertStringIncludes(String(pool), "0 of 1 handlers running, the queue is paused");
    assert(!pool.snapshot().paused, "which is about the pool");
    await queue.resume();
    while (worked.length === 0 || String(queue).includes("paused")) {
      await setImmediate();
    }
    assert(!String(pool).includes("paused"), String(pool));
    await pool.stop();
  });
}
