/** Contract suite for draining a `RateLimitingQueue`: rule 6 from the point of view of a pool's user. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { type Clock, createExponentialLimiter, type Outcome, type RateLimiter, runWorkers } from "@workqueue/core";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, isSettled, outcome, take, takeAll } from "../queue_helpers.ts";

/** Options that a test passes to the queue. */
export interface DrainedQueueOptions extends Pick<RateLimitingQueueOptions<string>, "onDrop"> {
  readonly clock: Clock;
}

/** Function that creates a queue of the tested implementation with the given limiter and options. */
export type MakeDrained = (limiter: RateLimiter<string>, options: DrainedQueueOptions) => RateLimitingQueue<string>;

/** Registers the suite for one implementation. */
export function drainSuite(name: string, make: MakeDrained): void {
  const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });
  const setUp = () => {
    const clock = new HandClock();
    const dropped: string[] = [];
    const queue = make(limiter(), { clock, onDrop: (item) => void dropped.push(item) });
    return { clock, dropped, queue };
  };
  type Parts = ReturnType<typeof setUp>;
  const test = (what: string, run: (parts: Parts) => void | Promise<void>) =>
    Deno.test(`rule 6, drain, ${name}: ${what}`, () => run(setUp()));

  test("flush makes delayed items ready now, and retries items that fail once when they are due: none is lost", async (parts) => {
    const { clock, queue } = parts;
    const done: string[] = [];
    const givenUp: string[] = [];
    const pool = runWorkers(queue, (item, { attempt }) => {
      if (attempt === 1) throw new Error("not yet");
      done.push(item);
    }, { concurrency: 4, onError() {}, onGiveUp: (_error, item) => givenUp.push(item) });
    const items = Array.from({ length: 20 }, (_, i) => `item ${i}`);
    for (const item of items) queue.addAfter(item, 60_000);
    const drained = queue.shutDownWithDrain({ delayed: "flush" });
    await flush();
    assertEquals([queue.delayed, done], [20, []], "each has failed once, and is delayed");
    await clock.advance(9);
    assertEquals(done, []);
    await clock.advance(1);
    await drained;
    await pool.finished;
    assertEquals([done.sort(), givenUp, parts.dropped], [items.sort(), [], []]);
    assertEquals(clock.timers, 0);
  });

  for (const delayed of ["flush", "wait"] as const) {
    test(`${delayed} ends when all items are done or given up`, async ({ clock, queue, dropped }) => {
      const givenUp: [string, number][] = [];
      const attempts: string[] = [];
      runWorkers(queue, (item, { attempt }) => {
        attempts.push(`${item} ${attempt}`);
        if (item === "never") throw new Error("no");
      }, { maxRetries: 2, onError() {}, onGiveUp: (_error, item, attempts) => givenUp.push([item, attempts]) });
      queue.addAfter("never", 10);
      queue.addAfter("late", 20);
      const drained = queue.shutDownWithDrain({ delayed });
      await flush();
      await clock.advance(delayed === "flush" ? 29 : 39);
      assertFalse(await isSettled(drained));
      await clock.advance(1);
      await drained;
      assertEquals(attempts.sort(), ["late 1", "never 1", "never 2", "never 3"]);
      assertEquals([givenUp, dropped], [[["never", 3]], []]);
    });

    test(`${delayed} accepts only retries of processing items`, async ({ clock, queue }) => {
      for (const item of ["a", "b"]) queue.add(item);
      const [a, b] = [take(queue), take(queue)];
      const drained = queue.shutDownWithDrain({ delayed });
      queue.add("c");
      queue.addAfter("c", 5);
      queue.addAfter("a", 5);
      queue.addRateLimited("c");
      assertEquals([queue.length, queue.delayed], [0, 0]);
      b[Symbol.dispose]();
      queue.addRateLimited("b");
      assertEquals(queue.delayed, 0, "it is done");
      queue.addRateLimited("a");
      assertEquals(queue.delayed, 1);
      a[Symbol.dispose]();
      assertFalse(await isSettled(drained));
      await clock.advance(10);
      assertEquals(takeAll(queue), ["a"]);
      await drained;
      assertEquals(clock.timers, 0);
    });
  }

  for (const delayed of ["drop", "flush", "wait"] as const) {
    test(`${delayed}: requeue and requeueAfter mean done`, async ({ clock, queue }) => {
      const outcomes: Record<string, Outcome> = {
        again: { requeue: true },
        later: { requeueAfter: 10 },
        both: { requeue: true, requeueAfter: 10 },
        neither: { requeue: false },
      };
      const attempts: string[] = [];
      const pool = runWorkers(queue, (item, { attempt }) => {
        attempts.push(`${item} ${attempt}`);
        return outcomes[item];
      });
      for (const item of Object.keys(outcomes)) queue.add(item);
      const drained = queue.shutDownWithDrain({ delayed });
      await clock.advance(10_000);
      await drained;
      await pool.finished;
      assertEquals(attempts, ["again 1", "later 1", "both 1", "neither 1"]);
      assertEquals(Object.keys(outcomes).map((item) => queue.numRequeues(item)), [0, 0, 0, 0], "none has failed");
    });
  }

  test("an abort ends a flush: delayed items are dropped, and ready items are still handed out", async (parts) => {
    const { clock, queue, dropped } = parts;
    const controller = new AbortController();
    for (const item of ["a", "b", "c"]) queue.addAfter(item, 60_000);
    const drained = queue.shutDownWithDrain({ delayed: "flush", signal: controller.signal });
    const lease = take(queue);
    queue.addRateLimited(lease.item);
    lease[Symbol.dispose]();
    controller.abort("too long");
    assertEquals(dropped, ["a"], "called by the time that abort() returns");
    assertEquals(await drained.catch((reason) => reason), "too long");
    assertEquals(takeAll(queue), ["b", "c"]);
    assertEquals(await outcome(queue.get()), "shutdown");
    assertEquals([queue.delayed, clock.timers], [0, 0]);
  });

  test("a flush after a drain with wait makes delayed items ready", async ({ clock, queue, dropped }) => {
    for (const item of ["a", "b"]) queue.addAfter(item, 60_000);
    const waits = queue.shutDownWithDrain({ delayed: "wait" });
    assertEquals(takeAll(queue), []);
    const flushes = queue.shutDownWithDrain({ delayed: "flush" });
    assertEquals(takeAll(queue), ["a", "b"]);
    await Promise.all([waits, flushes]);
    assertEquals([dropped, clock.timers], [[], 0]);
  });

  test("onDrop gets each delayed item that a shutdown drops, and no others", async ({ queue, dropped }) => {
    queue.add("ready");
    const lease = take(queue);
    queue.add("processing");
    queue.addAfter("cancelled", 10);
    queue.cancelDelayed("cancelled");
    for (const item of ["a", "b"]) queue.addAfter(item, 10);
    queue.shutDown();
    queue.shutDown();
    queue.addAfter("late", 10);
    queue.addRateLimited("late");
    assertEquals(dropped.sort(), ["a", "b"]);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["processing"]);
    assert(await isSettled(queue.shutDownWithDrain()));
    assertEquals(dropped.length, 2);
  });

  test("onDrop gets the items that a drain drops, by default as well", async () => {
    for (const options of [undefined, {}, { delayed: "drop" as const }]) {
      const { queue, dropped } = setUp();
      queue.addAfter("a", 10);
      const drained = queue.shutDownWithDrain(options);
      assertEquals(dropped, ["a"]);
      await drained;
    }
  });

  test("onDrop gets retries that a later drain drops", async ({ queue, dropped }) => {
    queue.add("a");
    const lease = take(queue);
    const waits = queue.shutDownWithDrain({ delayed: "flush" });
    queue.addRateLimited("a");
    lease[Symbol.dispose]();
    const drops = queue.shutDownWithDrain();
    await Promise.all([waits, drops]);
    assertEquals(dropped, ["a"]);
  });

  test("onDrop is called after the queue is shut down, so its adds are ignored", async () => {
    const clock = new HandClock();
    const dropped: string[] = [];
    const queue: RateLimitingQueue<string> = make(limiter(), {
      clock,
      onDrop(item) {
        dropped.push(item);
        queue.add(item);
        queue.addAfter(item, 10);
        queue.shutDown();
      },
    });
    for (const item of ["a", "b"]) queue.addAfter(item, 10);
    const drained = queue.shutDownWithDrain();
    await drained;
    assertEquals([dropped.sort(), queue.length, queue.delayed, clock.timers], [["a", "b"], 0, 0, 0]);
  });

  test("an onDrop that throws or rejects still gets the other items, and the shutdown completes", async () => {
    const failures = [() => Promise.reject(new Error("disk\nfull")), () => {
      throw new Error("disk\nfull");
    }];
    for (const fail of failures) {
      for (const end of ["shutDown", "shutDownWithDrain"] as const) {
        const dropped: string[] = [];
        const queue = make(limiter(), {
          clock: new HandClock(),
          onDrop(item): void {
            dropped.push(item);
            return fail() as never;
          },
        });
        for (const item of ["a", "b"]) queue.addAfter(item, 10);
        const written = await errorsOf(async () => {
          await queue[end]();
          await flush();
        });
        assertEquals([dropped.sort(), queue.shuttingDown], [["a", "b"], true]);
        assertEquals(
          written.sort(),
          ["a", "b"].map((item) => `Item "${item}" was dropped, and onDrop failed: Error: disk full`),
        );
      }
    }
  });
}

/** Runs `action` and returns the lines written to `console.error`. */
async function errorsOf(action: () => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const { error } = console;
  console.error = (line: string) => void lines.push(line);
  try {
    await action();
  } finally {
    console.error = error;
  }
  return lines;
}
