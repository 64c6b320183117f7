/** Contract suite for `watchItem` of queues that processes share. Each queue object stands for a process. */

import { assertEquals } from "@std/assert";
import { runWorkers, TerminalError } from "@workqueue/core";
import { type ItemEvent, watchItem } from "@workqueue/core/watch";
import type { RemoteQueue } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

/** Waits until a condition holds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isTrue()) await setImmediate();
}

/** Watches an item. Returns the list of events so far. */
function eventsOf(queue: RemoteQueue, item: string): ItemEvent[] {
  const list: ItemEvent[] = [];
  watchItem(queue, item, (event) => list.push(event));
  return list;
}

/** Registers the suite for one engine. */
export function watchSuite(test: RemoteTest, partitions?: number): void {
  const open = (place: RemotePlace, options: object = {}) => {
    return place.open({
      name: "watched",
      limiter: { type: "exponential", baseDelay: 5, maxDelay: 5 },
      ...partitions && { partitions },
      ...options,
    });
  };

  test("a watch tells of this process's attempts at an item, with errors and delays", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const events = eventsOf(queue, "a");
    const elsewhere = eventsOf(other, "a");
    const error = new Error("try again");
    const bad = new TerminalError("bad");
    const pool = runWorkers(queue, (item, { attempt }) => {
      if (item === "b") return;
      if (attempt === 1) return { requeue: true };
      throw attempt === 2 ? error : bad;
    }, { onError() {} });
    await queue.addAll(["b", "a"]);
    await until(() => events.length === 6);
    assertEquals(events, [
      { state: "started", attempt: 1 },
      { state: "requeued", attempt: 1, retryInMs: 5 },
      { state: "started", attempt: 2 },
      { state: "failed", attempt: 2, error, retryInMs: 5 },
      { state: "started", attempt: 3 },
      { state: "givenUp", attempt: 3, error: bad, reason: "terminal" },
    ]);
    assertEquals(elsewhere, []);
    await pool.stop();
  });

  test("a watch tells of the end of an attempt that succeeds or is cancelled, and of nothing after its end", async (place) => {
    await using queue = open(place);
    const states: string[] = [];
    const end = watchItem(queue, "a", ({ state }) => states.push(state));
    let calls = 0;
    const pool = runWorkers(queue, (_item, { signal }) => {
      if (++calls === 1) return;
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    await queue.add("a");
    await until(() => states.length === 2);
    await queue.add("a");
    await until(() => states.length === 3);
    assertEquals(await queue.cancel("a"), "running");
    await until(() => states.length === 4);
    assertEquals(states, ["started", "done", "started", "cancelled"]);
    end();
    await queue.add("a");
    await until(async () => (await queue.counts()).processing === 1);
    await queue.cancel("a");
    await queue.whenIdle();
    assertEquals(states.length, 4);
    await pool.stop();
  });

  test("a watch tells of items that a consumer takes by hand", async (place) => {
    await using queue = open(place);
    const events = eventsOf(queue, "a");
    await queue.add("a");
    const lease = await queue.get();
    if (lease.shutdown) throw new Error("the queue was shut down");
    await lease.finish();
    assertEquals(events, [{ state: "started", attempt: 1 }, { state: "done", attempt: 1, result: undefined }]);
  });

  test("the delay of a retry is unknown if it depends on a bucket that processes share", async (place) => {
    await using queue = open(place, { limiter: { type: "bucket", rate: 1000, burst: 1 } });
    const events = eventsOf(queue, "a");
    const error = new Error("try again");
    const pool = runWorkers(queue, (_item, { attempt }) => {
      if (attempt === 1) throw error;
    }, { onError() {} });
    await queue.add("a");
    await until(() => events.length === 4);
    assertEquals(events[1], { state: "failed", attempt: 1, error, retryInMs: undefined });
    await pool.stop();
  });
}
