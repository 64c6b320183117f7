/**
 * Contract suite for `addedAgain` and `whileProcessing: "abort"` of queues that processes share: rule 24. Each queue
 * object stands for a process.
 */

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { AddedAgainError, runWorkers, TerminalError } from "@workqueue/core";
import type { RemoteQueue } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import { HandClock } from "../helpers.ts";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

/** Waits until a condition holds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isTrue()) await setImmediate();
}

async function statesOf(queue: RemoteQueue): Promise<number[]> {
  const { ready, blocked, delayed, processing, failing, givenUp } = await queue.counts();
  return [ready, blocked, delayed, processing, failing, givenUp];
}

/** Waits until a signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

/** Registers the suite for one engine. */
export function addedAgainSuite(test: RemoteTest, partitions?: number): void {
  const open = (place: RemotePlace, options: object = {}) => {
    return place.open({
      name: "again",
      limiter: { type: "exponential", baseDelay: "1h", maxDelay: "1h" },
      ...partitions && { partitions },
      ...options,
    });
  };

  test("addedAgain() is true once another process has added the item, and false for the next attempt", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const log: unknown[] = [];
    const pool = runWorkers(queue, async (item, { addedAgain }) => {
      log.push([item, addedAgain()]);
      if (log.length > 1) return;
      await other.add("b");
      await until(() => log.length === 2);
      await other.add("a");
      await until(addedAgain);
      log.push("again");
    }, { concurrency: 2 });
    await queue.add("a");
    await until(() => log.length === 4);
    assertEquals(log, [["a", false], ["b", false], "again", ["a", false]]);
    await pool.stop();
  });

  test("addedAgain() that is first called after the add is true a moment later", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    let attempts = 0;
    const pool = runWorkers(queue, async (_item, context) => {
      if (++attempts > 1) return;
      await other.add("a");
      await until(() => context.addedAgain());
    });
    await queue.add("a");
    await queue.whenIdle();
    assertEquals(attempts, 2);
    await pool.stop();
  });

  for (const error of [new TerminalError("no"), new Error("no"), undefined]) {
    test(`rule 24: an add in another process aborts the attempt, which counts nowhere: ${error}`, async (place) => {
      await using queue = open(place);
      await using other = open(place);
      const log: unknown[] = [];
      const report = () => log.push("reported");
      const pool = runWorkers(queue, async (item, { signal, attempt }) => {
        log.push([item, attempt]);
        if (log.length > 1) return;
        await aborted(signal);
        assertInstanceOf(signal.reason, AddedAgainError);
        throw error ?? signal.reason;
      }, { whileProcessing: "abort", maxRetries: 0, onError: report, onGiveUp: report });
      await queue.add("a");
      await until(() => log.length === 1);
      await other.add("a");
      await until(() => log.length === 2);
      await queue.whenIdle();
      assertEquals([log, await statesOf(other)], [[["a", 1], ["a", 1]], [0, 0, 0, 0, 0, 0]]);
      await pool.stop();
    });
  }

  test("rule 24: an item that is added every second for an hour is done, although its attempts need 20 s", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const clock = new HandClock();
    const done: number[] = [];
    const errors: unknown[] = [];
    let running: (() => boolean) | undefined;
    const pool = runWorkers(queue, async (_item, { signal, addedAgain }) => {
      running = addedAgain;
      try {
        await new Promise<void>((resolve, reject) => {
          const timer = clock.setTimeout(resolve, 20_000);
          signal.addEventListener("abort", () => {
            clock.clearTimeout(timer);
            reject(signal.reason);
          });
        });
        done.push(clock.time);
      } finally {
        running = undefined;
      }
    }, { whileProcessing: "abort", clock, onError: (error) => errors.push(error) });
    for (let second = 0; second < 3600; second++) {
      const isTold: (() => boolean) | undefined = running;
      await other.add("a");
      await until(isTold ?? (() => running !== undefined));
      await clock.advance(1000);
      await until(() => running !== undefined && !running() || clock.time - (done.at(-1) ?? 0) >= 6000);
    }
    assertEquals([errors, await other.numRequeues("a")], [[], 0]);
    assert(done.length >= 140, `${done.length} attempts were done`); // one in 25 or 26 s
    const gaps = done.map((time, i) => time - (done[i - 1] ?? 0));
    assert(Math.max(...gaps) <= 27_000, `${Math.max(...gaps)} ms without an attempt that was done`);
    await other.cancel("a");
    await pool.stop();
  });

  test("rule 24: a delay that ends during an attempt aborts nothing, and a later add does", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    let [attempts, isAborted] = [0, false];
    const pool = runWorkers(queue, async (_item, { signal }) => {
      if (++attempts > 1) return;
      signal.addEventListener("abort", () => isAborted = true);
      await other.addAfter("a", 1);
      await until(async () => (await other.snapshot()).processingItems[0]!.addedAgain);
      await other.add("b"); // another call of the process that would tell of the delay
      await until(async () => (await other.counts()).ready === 1);
      assertEquals(isAborted, false);
      await other.add("a");
      await until(() => isAborted);
      throw signal.reason;
    }, { whileProcessing: "abort" });
    await queue.add("a");
    await queue.whenIdle();
    assertEquals(attempts, 3);
    await pool.stop();
  });

  test("rule 24: without 'abort', and for leases, an add aborts nothing", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    let isAborted = false;
    let attempts = 0;
    const pool = runWorkers(queue, async (_item, { signal, addedAgain }) => {
      if (++attempts > 1) return;
      signal.addEventListener("abort", () => isAborted = true);
      await other.add("a");
      await until(addedAgain);
    });
    await queue.add("a");
    await queue.whenIdle();
    assertEquals([attempts, isAborted], [2, false]);
    await pool.stop();
  });

  test("rule 24: an item that is cancelled after an add is not handed out again", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const log: unknown[] = [];
    const pool = runWorkers(queue, async (item, { signal }) => {
      log.push(item);
      await aborted(signal);
      await until(async () => await other.cancel("a") === "running");
      throw signal.reason;
    }, { whileProcessing: "abort" });
    await queue.add("a");
    await until(() => log.length === 1);
    await other.add("a");
    await queue.whenIdle();
    assertEquals([log, await statesOf(other)], [["a"], [0, 0, 0, 0, 0, 0]]);
    await pool.stop();
  });
}
