/** Contract suite for `addAndWait` between real processes, some of which are killed: rule 23. */

import { assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import { LineProcess } from "../line_process.ts";

const SCRIPT = new URL("waits_process.ts", import.meta.url);

/** Waits until a condition holds. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!await isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Queue of a test, and what another process needs to open it. */
export interface ProcessPlace {
  readonly name: string;
  /** URL of the server, or path of the file. */
  readonly place: string;
  open(options: object): RemoteQueue;
}

/** Registers the suite for one engine. `test` registers a test that has its own queue. */
export function killedWaitsSuite(test: (name: string, run: (place: ProcessPlace) => Promise<void>) => void): void {
  const options = { leaseDuration: "1s", results: { keepFor: "1m" } };

  test("rule 23: a worker that is killed ends no wait, and the next worker's result counts", async (place) => {
    await using queue = place.open(options);
    const before = queue.addAndWait("a");
    const hanging = new LineProcess(SCRIPT, "hang", place.name, place.place);
    await hanging.until((lines) => lines.includes("began a"));
    const during = queue.addAndWait("a");
    await until(async () => (await queue.snapshot()).processingItems[0]?.addedAgain === true);
    await hanging.kill();
    const worker = new LineProcess(SCRIPT, "work", place.name, place.place);
    const result = { of: "a", by: worker.pid };
    assertEquals(await Promise.all([before, during]), [result, result]);
    await worker.kill();
  });

  test("rule 23: a waiting process gets the result, and one that is killed leaves nothing to do", async (place) => {
    await using queue = place.open(options);
    const waiting = new LineProcess(SCRIPT, "wait", place.name, place.place);
    const killed = new LineProcess(SCRIPT, "wait", place.name, place.place);
    await until(async () => (await queue.counts()).ready === 1);
    const lease = await queue.get();
    if (lease.shutdown) throw new Error("the queue was shut down");
    await lease.finish({ requeue: true }); // both processes may have added the item by now, or add it later
    await killed.kill();
    const pool = runWorkers(queue, (item) => item.toUpperCase());
    await waiting.ended;
    assertEquals([waiting.lines, killed.lines], [['got "A"'], []]);
    assertEquals(await queue.addAndWait("a"), "A");
    await queue.whenIdle();
    await pool.stop();
  });
}
