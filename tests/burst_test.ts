import { assert, assertEquals, assertFalse } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  parallelizeUntil,
  type RateLimitingQueue,
  runWorkers,
} from "@workqueue/core";
import { Burst, type nextTask } from "../lib/workers/burst.ts";
import { whileTimeIs } from "./helpers.ts";
import { flushPromises, nextTurn } from "./queue_helpers.ts";

function newQueue<T>(): RateLimitingQueue<T> {
  return createRateLimitingQueue<T>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
}

/** Whether there is a pause to be made before each of the next pieces of work. */
function ask(burst: Burst, pieces: number): boolean[] {
  return Array.from({ length: pieces }, () => burst.isTooLong());
}

Deno.test("a burst is too long once ten milliseconds have passed since it began", async () => {
  let time = 1000;
  await whileTimeIs(() => time, async () => {
    const burst = new Burst();
    assertEquals(ask(burst, 8), new Array(8).fill(false));
    time += 9;
    assertEquals(ask(burst, 8), new Array(8).fill(false));
    time += 1;
    assertEquals(ask(burst, 2), [true, true]);
    await nextTurn();
  });
});

Deno.test("the clock is looked at after 1, 2, 4 and 8 pieces, and then after each eight", async () => {
  let looks = 0;
  await whileTimeIs(() => looks++ && 0, async () => {
    const burst = new Burst();
    const lookedAfter: number[] = [];
    for (let pieces = 0; pieces < 35; pieces++) {
      const before = looks;
      burst.isTooLong();
      if (looks > before) lookedAfter.push(pieces);
    }
    assertEquals(lookedAfter, [0, 1, 2, 4, 8, 16, 24, 32]);
    await nextTurn();
  });
});

Deno.test("all who share a burst make one pause together, and begin anew after it", async () => {
  let time = 0;
  await whileTimeIs(() => time, async () => {
    const burst = new Burst();
    ask(burst, 1);
    time = 10;
    assertEquals(ask(burst, 2), [true, true]);
    await burst.over;
    assertEquals(ask(burst, 2), [false, false]);
    time = 20;
    assertEquals(ask(burst, 1), [true]);
    await nextTurn();
  });
});

Deno.test("a burst is over when others had their turn, however long it lasted", async () => {
  let time = 0;
  await whileTimeIs(() => time += 10, async () => {
    const burst = new Burst();
    for (let i = 0; i < 20; i++) {
      assertFalse(burst.isTooLong());
      await nextTurn();
    }
  });
});

Deno.test("a pool makes its pause before the item that would be one too many", async () => {
  for (const [took, counts] of [[10, [1, 2, 3]], [5, [2, 4, 6]], [3, [4, 8, 12]], [1.25, [8, 16, 20]]] as const) {
    let time = 0;
    await whileTimeIs(() => time, async () => {
      const queue = newQueue<number>();
      for (let i = 0; i < 20; i++) queue.add(i);
      let handled = 0;
      const pool = runWorkers(queue, () => {
        handled++;
        time += took;
      }, { concurrency: 3 });
      for (const expected of counts) {
        await flushPromises();
        await flushPromises();
        assertEquals(handled, expected, `handlers take ${took} ms`);
        await nextTurn();
      }
      await pool.stop();
    });
  }
});

Deno.test("a pool that waits for each item makes no pause, however many it had", async () => {
  let time = 0;
  await whileTimeIs(() => time, async () => {
    const queue = newQueue<number>();
    let handled = 0;
    const pool = runWorkers(queue, () => void handled++);
    for (let i = 1; i <= 30; i++) {
      await nextTurn();
      await nextTurn();
      time += 10;
      queue.add(i);
      await Promise.resolve().then(() => {}).then(() => {});
      assertEquals(handled, i);
    }
    await pool.stop();
  });
});

Deno.test("items that come one by one, each from a promise of the last, leave timers their turn", async () => {
  const queue = newQueue<number>();
  queue.add(0);
  let handled = 0;
  const pool = runWorkers(queue, (item) => {
    if (++handled === 3_000_000) queue.shutDown(); // for ever, as far as anybody can wait for a timer
    Promise.resolve().then(() => {}).then(() => queue.add(item + 1));
  });
  setTimeout(() => queue.shutDown(), 1);
  await pool.finished;
  assert(handled < 3_000_000);
});

Deno.test("a pool that makes a pause before its last item has not finished", async () => {
  using time = new FakeTime();
  let now = 0;
  await whileTimeIs(() => now, async () => {
    const queue = newQueue<string>();
    const overdue = Promise.withResolvers<void>();
    const attempts: number[] = [];
    const pool = runWorkers(queue, (_item, { attempt }) => {
      attempts.push(attempt);
      return attempts.length === 1 ? overdue.promise : undefined;
    }, { timeout: 10 });
    queue.add("a");
    await flushPromises();
    queue.add("a"); // so that it is ready again when the handler ends
    time.tick(10); // the handler's place goes to one who waits
    now = 10;
    queue.shutDown();
    await flushPromises();
    overdue.resolve();
    await pool.finished;
    assertEquals([attempts.length, queue.length], [2, 0]);
  });
});

Deno.test("parallelizeUntil makes its pauses likewise, all its workers together", async () => {
  for (const workers of [1, 2]) {
    let time = 0;
    await whileTimeIs(() => time += 10, async () => {
      let done = 0;
      const ended = parallelizeUntil(workers, 20, () => void done++);
      await flushPromises();
      await flushPromises();
      const beforePause = done;
      assertEquals(beforePause, 1);
      await nextTurn();
      await flushPromises();
      assertEquals(done, 2);
      await ended;
      assertEquals(done, 20);
    });
  }
});

Deno.test("the next task comes after everything pending", async () => {
  const order: string[] = [];
  const called = nextTurn().then(() => order.push("task"));
  await flushPromises().then(() => order.push("pending"));
  await called;
  assertEquals(order, ["pending", "task"]);
});

Deno.test("where there is no setImmediate, as in browsers, the next task comes too, and leaves no port open", async () => {
  const path: string = "../lib/workers/burst.ts?in-a-browser";
  const scope = globalThis as { setImmediate?: unknown };
  const { setImmediate } = scope;
  delete scope.setImmediate;
  const browser: { nextTask: typeof nextTask } = await import(path).finally(() => scope.setImmediate = setImmediate);
  const { close } = MessagePort.prototype;
  using _restored = { [Symbol.dispose]: () => MessagePort.prototype.close = close };
  let closed = 0;
  MessagePort.prototype.close = function () {
    closed++;
    close.call(this);
  };
  let isLater = false;
  const called = new Promise<boolean>((resolve) => browser.nextTask(() => resolve(isLater)));
  isLater = true;
  assert(await called);
  assertEquals(closed, 1, "an open port would keep the process alive");
});
