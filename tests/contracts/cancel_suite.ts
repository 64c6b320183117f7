/** Contract suite for `cancel` of queues that processes share: rule 22. Each queue object stands for a process. */

import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { runWorkers, TerminalError } from "@workqueue/core";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

/** Options of the queues of the suite: each test runs with each of them. */
const QUEUES: Readonly<Record<string, object>> = {
  "first in, first out": {},
  "strict priorities": { discipline: { type: "priority", maxHeadStart: "unlimited" } },
  "groups": { discipline: { type: "fair", separator: "/" } },
};

/** Waits until a condition holds. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isTrue()) await setImmediate();
}

async function statesOf(queue: RemoteQueue): Promise<number[]> {
  const { ready, blocked, delayed, processing, failing } = await queue.counts();
  return [ready, blocked, delayed, processing, failing];
}

async function take(queue: RemoteQueue): Promise<RemoteLease> {
  const lease = await queue.get();
  if (lease.shutdown) throw new Error("the queue was shut down");
  return lease;
}

/** Pool that notes what happens to its attempts. Each attempt ends when the test says so. */
class Attempts {
  readonly log: unknown[] = [];
  readonly ends: { return(value?: unknown): void; throw(error: unknown): void }[] = [];
  readonly #pool;

  constructor(queue: RemoteQueue) {
    this.#pool = runWorkers(queue, (item, { signal }) => {
      this.log.push(item);
      signal.addEventListener("abort", () => this.log.push(signal.reason));
      return new Promise<never>((resolve, reject) => {
        this.ends.push({ return: resolve as (value: unknown) => void, throw: reject });
      });
    }, { concurrency: 2, onError: (error) => this.log.push(error), onGiveUp: () => this.log.push("given up") });
  }

  async stop(): Promise<void> {
    await this.#pool.stop();
  }
}

/** Registers the suite for one engine. */
export function cancelSuite(test: RemoteTest, partitions?: number): void {
  const open = (place: RemotePlace, options: object = {}) => {
    return place.open({
      name: "cancel",
      limiter: { type: "exponential", baseDelay: "1h", maxDelay: "1h" },
      ...partitions && { partitions },
      ...options,
    });
  };

  for (const [name, options] of Object.entries(QUEUES)) {
    test(`rule 22: a ready and a delayed item are taken out, and later adds count: ${name}`, async (place) => {
      await using queue = open(place, options);
      await using other = open(place, options);
      assertEquals(await queue.cancel("g/a"), undefined);
      await queue.addAll(["g/a", "g/b", "h/c"], name === "strict priorities" ? { priority: 2 } : {});
      await queue.addRateLimited("g/d");
      assertEquals([await other.cancel("g/b"), await other.cancel("g/b")], ["ready", undefined]);
      assertEquals([await other.cancel("g/d"), await other.cancel("g/d")], ["delayed", undefined]);
      assertEquals([await statesOf(queue), await queue.numRequeues("g/d")], [[2, 0, 0, 0, 0], 0]);
      await queue.addAfter("g/a", "1h");
      assertEquals([await other.cancel("g/a"), await statesOf(queue)], ["ready", [1, 0, 0, 0, 0]]);
      await queue.add("g/b");
      const leases = [await take(queue), await take(queue)];
      assertEquals(leases.map(({ item }) => item).sort(), ["g/b", "h/c"]);
      for (const { item } of leases) assertEquals(await other.cancel(item), "running");
      assertEquals(await statesOf(other), [0, 0, 0, 2, 0]);
      for (const lease of leases) await lease.finish();
    });
  }

  test("rule 22: items blocked by their group or the retry budget are taken out", async (place) => {
    await using fair = open(place, { discipline: { type: "fair", separator: "/", maxPerGroup: 1 } });
    await fair.addAll(["g/a", "g/b", "g/c"]);
    const lease = await take(fair);
    assertEquals([lease.item, await fair.cancel("g/b"), await statesOf(fair)], ["g/a", "blocked", [0, 1, 0, 1, 0]]);
    await lease.finish();
    await using next = await take(fair);
    assertEquals(next.item, "g/c");
    await using budgeted = open(place, {
      name: "budget",
      limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
      retryBudget: { ratio: 0, minRate: 0 },
    });
    await budgeted.addRateLimited("a");
    await budgeted.addRateLimited("b");
    await until(async () => (await budgeted.counts()).blocked === 2);
    assertEquals([await budgeted.cancel("a"), await statesOf(budgeted)], ["blocked", [0, 1, 0, 0, 1]]);
  });

  test("rule 22: a running attempt gets the reason in its process, and is neither reported nor retried", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const attempts = new Attempts(queue);
    await queue.add("a");
    await until(() => attempts.ends.length === 1);
    await other.add("a"); // forgotten by the cancel
    assertEquals([await other.cancel("a", { by: "hand" }), await other.cancel("a")], ["running", "running"]);
    await until(() => attempts.log.length === 2);
    attempts.ends[0]!.throw(new TerminalError("aborted"));
    await until(async () => (await other.counts()).processing === 0);
    assertEquals(attempts.log, ["a", { by: "hand" }]);
    assertEquals([await statesOf(other), (await other.givenUp()).total], [[0, 0, 0, 0, 0], 0]);
    await attempts.stop();
  });

  test("rule 22: without a reason, or with an error, the signal has an error with a code", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const attempts = new Attempts(queue);
    await queue.addAll(["a", "b"]);
    await until(() => attempts.ends.length === 2);
    await other.cancel("a");
    await until(() => attempts.log.length === 3);
    await other.cancel("b", new RangeError("too old"));
    await until(() => attempts.log.length === 4);
    for (const end of attempts.ends) end.return({ requeue: true });
    for (const [i, message] of [[2, "The item was cancelled"], [3, "too old"]] as const) {
      const reason = attempts.log[i];
      assertInstanceOf(reason, Error);
      assertEquals([reason.message, (reason as { code?: string }).code], [message, "WQ_CANCELLED"]);
    }
    await until(async () => (await other.counts()).processing === 0);
    assertEquals(await statesOf(other), [0, 0, 0, 0, 0]);
    await attempts.stop();
  });

  test("rule 22: an add after the cancel makes the item ready again, once its attempt has ended", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    const attempts = new Attempts(queue);
    await queue.add("a");
    await until(() => attempts.ends.length === 1);
    await other.cancel("a", "stop");
    await other.add("a");
    await until(() => attempts.log.length === 2);
    attempts.ends[0]!.throw(new Error("aborted"));
    await until(() => attempts.ends.length === 2);
    attempts.ends[1]!.return();
    await until(async () => (await other.counts()).processing === 0);
    assertEquals([attempts.log, await statesOf(other)], [["a", "stop", "a"], [0, 0, 0, 0, 0]]);
    await attempts.stop();
  });

  test("rule 22: the signal of a lease aborts, and its outcome no longer matters", async (place) => {
    await using queue = open(place);
    await using other = open(place);
    await queue.add("a");
    const lease = await take(queue);
    await other.cancel("a", "stop");
    await until(() => lease.signal.aborted);
    assertEquals([lease.signal.reason, await lease.finish({ requeue: true })], ["stop", true]);
    assertEquals(await statesOf(other), [0, 0, 0, 0, 0]);
  });

  test("cancel refuses an item without a key, and a reason without a JSON form or with a long one", async (place) => {
    await using queue = open(place, { onQueueError() {} });
    await assertRejects(() => queue.cancel(1 as never), TypeError);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const reason of [() => {}, 1n, cycle, "long".repeat(3000)]) {
      await assertRejects(
        () => queue.cancel("a", reason),
        TypeError,
        "'reason' must have a JSON form of at most 10000",
      );
    }
  });
}
