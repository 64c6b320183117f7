import { assert, assertEquals } from "@std/assert";
import { createExponentialLimiter, createRateLimitingQueue, parallelizeUntil, runWorkers } from "@workqueue/core";
import { Burst, nextTask } from "../lib/internal/burst.ts";
import { flush } from "./queue_helpers.ts";

/** Does something while `performance.now` gives what a test says. */
async function whileTimeIs(now: () => number, action: () => void | Promise<void>): Promise<void> {
  const original = performance.now;
  performance.now = now;
  try {
    await action();
  } finally {
    performance.now = original;
  }
}

/** Whether there is a pause to be made before each of the next pieces of work. */
function ask(burst: Burst, pieces: number): boolean[] {
  return Array.from({ length: pieces }, () => burst.pause() !== undefined);
}

const NO = new Array(7).fill(false);

Deno.test("a burst is too long once it lasted ten milliseconds since its first piece, looked at after each eight", async () => {
  let time = 1000;
  await whileTimeIs(() => time, () => {
    const burst = new Burst();
    assertEquals(ask(burst, 8), [...NO, false]);
    time += 9;
    assertEquals(ask(burst, 8), [...NO, false]);
    time += 1;
    assertEquals(ask(burst, 8), [...NO, true]);
  });
});

Deno.test("all who share a burst make one pause together, and begin anew after it", async () => {
  let time = 0;
  await whileTimeIs(() => time, async () => {
    const burst = new Burst();
    ask(burst, 7);
    time = 10;
    const pause = burst.pause();
    assert(pause !== undefined);
    assertEquals(burst.pause(), pause);
    await pause;
    assertEquals(ask(burst, 8), [...NO, false]);
    time = 20;
    assertEquals(ask(burst, 8), [...NO, true]);
  });
});

Deno.test("a burst begins anew after its end", async () => {
  let time = 0;
  await whileTimeIs(() => time, () => {
    const burst = new Burst();
    burst.pause();
    time = 50;
    burst.end();
    assertEquals(ask(burst, 8), [...NO, false]);
    burst.pause();
    burst.end();
    time = 60;
    assertEquals(ask(burst, 8), [...NO, false]);
    time = 70;
    assertEquals(ask(burst, 8), [...NO, true]);
  });
});

Deno.test("a pool makes its pause before the item that would be one too many", async () => {
  let time = 0;
  await whileTimeIs(() => time += 10, async () => {
    const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });
    const queue = createRateLimitingQueue<number>(limiter);
    for (let i = 0; i < 20; i++) queue.add(i);
    let handled = 0;
    const pool = runWorkers(queue, () => void handled++);
    for (const expected of [7, 14, 20]) {
      await flush();
      await flush();
      assertEquals(handled, expected);
      await new Promise<void>((resolve) => nextTask(resolve));
    }
    queue.shutDown();
    await pool.finished;
  });
});

Deno.test("a pool that waits for each item makes no pause, however many it had", async () => {
  let time = 0;
  await whileTimeIs(() => time += 10, async () => {
    const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
    let handled = 0;
    const pool = runWorkers(queue, () => void handled++);
    for (let i = 1; i <= 30; i++) {
      await flush();
      queue.add(i);
      await flush();
      assertEquals(handled, i);
    }
    await pool.stop();
  });
});

Deno.test("parallelizeUntil makes its pauses likewise, all its workers together", async () => {
  for (const workers of [1, 2]) {
    let time = 0;
    await whileTimeIs(() => time += 10, async () => {
      let done = 0;
      const ended = parallelizeUntil(workers, 20, () => void done++);
      await flush();
      await flush();
      const beforePause = done;
      assert(beforePause >= 7 && beforePause < 20, `${beforePause} pieces before the pause`);
      await new Promise<void>((resolve) => nextTask(resolve));
      await flush();
      assert(done > beforePause);
      await ended;
      assertEquals(done, 20);
    });
  }
});

Deno.test("the next task comes after everything pending, where there is setImmediate and where there is none", async () => {
  const path: string = "../lib/internal/burst.ts?in-a-browser";
  const scope = globalThis as { setImmediate?: unknown };
  const { setImmediate } = scope;
  delete scope.setImmediate;
  const browser: { nextTask: typeof nextTask } = await import(path).finally(() => scope.setImmediate = setImmediate);
  let open = 0;
  const close = MessagePort.prototype.close;
  using _restored = { [Symbol.dispose]: () => MessagePort.prototype.close = close };
  MessagePort.prototype.close = function () {
    open--;
    close.call(this);
  };
  for (const next of [nextTask, browser.nextTask]) {
    if (next !== nextTask) open++;
    const order: string[] = [];
    const called = new Promise<void>((resolve) =>
      next(() => {
        order.push("task");
        resolve();
      })
    );
    await flush().then(() => order.push("pending"));
    await called;
    assertEquals(order, ["pending", "task"]);
    assertEquals(open, 0, "an open port would keep the process alive");
  }
});
