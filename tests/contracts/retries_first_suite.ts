/**
 * Contract suite for `retriesFirst`: rule 12. Every call is awaited, so the suite runs for queues in memory and for
 * queues outside this process.
 */

import { assertEquals } from "@std/assert";
import {
  type Clock,
  type Handler,
  type Lease,
  type RateLimitingQueue,
  type RetryBudgetOptions,
  runWorkers,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";

/** Queue that the suite tests, on its own, with no items. */
export interface RetriesFirstSubject extends AsyncDisposable {
  readonly queue: RateLimitingQueue<string> | RemoteQueue;
  readonly clock: Clock;
  /** Lets this many milliseconds pass for the queue, and then waits until its pools have done what is due. */
  advance(ms: number): Promise<void>;
}

/** Options of a subject. The limiter must delay each retry by 10 ms. */
export interface RetriesFirstOptions {
  readonly retryBudget?: RetryBudgetOptions;
  readonly addWhileDelayed?: "keep" | "replace" | "fold";
}

class Bench {
  readonly #subject: RetriesFirstSubject;
  readonly queue: RetriesFirstSubject["queue"];
  readonly clock: Clock;

  constructor(subject: RetriesFirstSubject) {
    this.#subject = subject;
    this.queue = subject.queue;
    this.clock = subject.clock;
  }

  advance(ms: number): Promise<void> {
    return this.#subject.advance(ms);
  }

  async add(...items: string[]): Promise<void> {
    for (const item of items) await this.queue.add(item);
  }

  async ready(): Promise<string[]> {
    const { readyItems } = await this.queue.snapshot();
    return readyItems.map(({ item }) => item as string);
  }

  async take(): Promise<Lease<string> | RemoteLease> {
    const lease = await this.queue.get();
    if (lease.shutdown) throw new Error("the queue was shut down");
    return lease;
  }

  async end(lease: Lease<string> | RemoteLease): Promise<void> {
    if ("finish" in lease) await lease[Symbol.asyncDispose]();
    else lease[Symbol.dispose]();
  }

  /** Takes a number of items one after the other, and returns them. */
  async takeAll(count: number): Promise<string[]> {
    const items: string[] = [];
    for (let i = 0; i < count; i++) {
      const lease = await this.take();
      items.push(lease.item);
      await this.end(lease);
    }
    return items;
  }

  run(handler: Handler<string>, options: WorkerOptions<string> = {}): WorkerPool<string> {
    const { clock } = this;
    return runWorkers(this.queue as RateLimitingQueue<string>, handler, { clock, onError() {}, ...options });
  }
}

/** Registers the suite for one implementation. */
export function retriesFirstSuite(
  name: string,
  make: (options: RetriesFirstOptions) => RetriesFirstSubject | Promise<RetriesFirstSubject>,
): void {
  const test = (what: string, run: (at: Bench) => Promise<void>, options: RetriesFirstOptions = {}) => {
    const title = `retriesFirst, ${name}: ${what}`;
    Deno.test(`rule 12: ${title}`, async () => {
      await using subject = await make(options);
      await run(new Bench(subject));
    });
  };

  test("retries go before all ready items, and keep their order", async (at) => {
    for (const item of ["a", "b", "c"]) await at.queue.addRateLimited(item);
    await at.add("x", "y");
    await at.queue.addAfter("later", 10);
    await at.advance(10);
    assertEquals(await at.ready(), ["a", "b", "c", "x", "y", "later"]);
    assertEquals(await at.queue.cancel("b"), "ready");
    assertEquals(await at.takeAll(5), ["a", "c", "x", "y", "later"]);
  });

  test("a ready item keeps its place when its retry is due", async (at) => {
    await at.add("x", "y");
    await at.queue.addRateLimited("y");
    await at.queue.addRateLimited("a");
    await at.advance(10);
    assertEquals(await at.takeAll(3), ["a", "x", "y"]);
  });

  test("an item that is done and added again is not a retry", async (at) => {
    await at.queue.addRateLimited("a");
    await at.advance(10);
    const lease = await at.take();
    await at.add("x", "a");
    await at.end(lease);
    assertEquals(await at.takeAll(2), ["x", "a"]);
  });

  test("a retry that is due during the attempt goes first, unless the item was also added", async (at) => {
    await at.add("a", "b");
    const leases = [await at.take(), await at.take()];
    for (const item of ["a", "b"]) await at.queue.addRateLimited(item);
    await at.advance(10);
    await at.add("x", "b");
    for (const lease of leases) await at.end(lease);
    assertEquals(await at.takeAll(3), ["a", "x", "b"]);
  });

  test(
    "an add that ends the delay of a retry puts the item behind the others",
    async (at) => {
      await at.queue.addRateLimited("a");
      await at.add("x", "a");
      await at.advance(10);
      assertEquals(await at.takeAll(2), ["x", "a"]);
    },
    { addWhileDelayed: "replace" },
  );

  test("requeue puts the item first, and requeueAfter does not", async (at) => {
    const handled: string[] = [];
    const gate = Promise.withResolvers<void>();
    const pool = at.run((item, { attempt }) => {
      handled.push(item);
      if (item === "fails" && attempt === 1) throw new Error("no");
      if (item === "asks" && attempt === 1) return { requeue: true };
      if (item === "again" && handled.length === 3) return { requeueAfter: 10 };
      return item === "blocks" ? gate.promise : undefined;
    }, { concurrency: 1 });
    await at.add("fails", "asks", "again", "blocks", "x", "y");
    await at.advance(20);
    gate.resolve();
    await at.advance(0);
    assertEquals(handled, ["fails", "asks", "again", "blocks", "fails", "asks", "x", "y", "again"]);
    await pool.stop();
  });

  test(
    "with fold, an add during an attempt that fails doesn't keep the retry from going first",
    async (at) => {
      const handled: string[] = [];
      const gate = Promise.withResolvers<void>();
      const pool = at.run(async (item, { attempt }) => {
        handled.push(item);
        if (item === "blocks") await gate.promise;
        if (item !== "a" || attempt > 1) return;
        await at.queue.add("a");
        throw new Error("no");
      }, { concurrency: 1 });
      await at.add("a", "blocks", "x");
      await at.advance(20);
      gate.resolve();
      await at.advance(0);
      assertEquals(handled, ["a", "blocks", "a", "x"]);
      await pool.stop();
    },
    { addWhileDelayed: "fold" },
  );

  test(
    "a retry with budget goes first as well",
    async (at) => {
      await at.queue.addRateLimited("a");
      await at.add("x", "y");
      await at.advance(10);
      const snapshot = await at.queue.snapshot();
      assertEquals(snapshot.blocked, 1);
      await at.end(await at.take()); // a first attempt makes budget
      assertEquals(await at.takeAll(2), ["a", "y"]);
    },
    { retryBudget: { ratio: 1, minRate: 0 } },
  );

  test(
    "a retry goes first as soon as an attempt makes budget, also among items that a pool takes at once",
    async (at) => {
      await at.queue.addRateLimited("a");
      await at.add("x", "y");
      await at.advance(10);
      const handled: string[] = [];
      const pool = at.run((item) => void handled.push(item), { concurrency: 3 });
      await at.advance(0);
      assertEquals(handled, ["x", "a", "y"]);
      await pool.stop();
    },
    { retryBudget: { ratio: 1, minRate: 0 } },
  );

  test(
    "a blocked retry that is added goes behind the others",
    async (at) => {
      await at.queue.addRateLimited("a");
      await at.add("x", "y");
      await at.advance(10);
      await at.add("a");
      assertEquals(await at.takeAll(3), ["x", "y", "a"]);
    },
    { retryBudget: { ratio: 0, minRate: 0 } },
  );

  test(
    "a retry with budget that is due during the attempt goes first as well",
    async (at) => {
      await at.add("a", "x");
      const lease = await at.take();
      await at.queue.addRateLimited("a");
      await at.advance(10);
      await at.end(lease);
      assertEquals(await at.takeAll(2), ["a", "x"]);
    },
    { retryBudget: { ratio: 1, minRate: 1 } },
  );

  for (const retryBudget of [undefined, { ratio: 1, minRate: 1 }]) {
    test(
      `items that are handed back go behind the others${retryBudget === undefined ? "" : ", with a budget"}`,
      async (at) => {
        const stop = new AbortController();
        const pool = at.run((_item, { signal }) => {
          return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        }, { signal: stop.signal, concurrency: 1 });
        await at.queue.addRateLimited("a", { priority: 1 }); // orders without a discipline ignore the priority
        await at.advance(10);
        await at.add("x");
        stop.abort();
        await pool.finished;
        assertEquals(await at.takeAll(2), ["x", "a"]);
      },
      retryBudget && { retryBudget },
    );
  }
}
