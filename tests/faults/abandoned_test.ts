/** Tests of abandoned handlers. At most `maxAbandoned` abandoned handlers may free their slots. */

import { assert, assertEquals } from "@std/assert";
import { createExponentialLimiter, createRateLimitingQueue, runWorkers, type WorkerOptions } from "@workqueue/core";
import { createBreakerThrottle, createConcurrencyThrottle } from "@workqueue/core/throttles";
import { startPool } from "../../lib/workers/pool.ts";
import { type Engine, inMemory, test } from "../workers/engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

const TIMEOUT = 20;

/** Pool whose handlers ignore their signals and end when the test calls `end`. */
class Hanging {
  readonly clock = new HandClock();
  readonly begun: number[] = [];
  readonly errors: string[] = [];
  readonly queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 1000 }), {
    clock: this.clock,
  });
  readonly pool;
  readonly #ends = new Map<number, () => void>();

  constructor({ runWorkers }: Engine, items: number, options: WorkerOptions<number>) {
    for (let item = 0; item < items; item++) this.queue.add(item);
    this.pool = runWorkers(this.queue, (item) => {
      this.begun.push(item);
      return new Promise<void>((resolve) => this.#ends.set(item, resolve));
    }, {
      timeout: TIMEOUT,
      clock: this.clock,
      onError: (error, item) => this.errors.push(`${item}: ${error instanceof DOMException ? "timeout" : error}`),
      ...options,
    });
  }

  async pass(ms: number): Promise<void> {
    await flush();
    await this.clock.advance(ms);
    await flush();
  }

  async end(...items: number[]): Promise<void> {
    for (const item of items) this.#ends.get(item)!();
    await flush();
  }
}

function saying(abandoned: number, maxAbandoned: number): string {
  return "Error: Cannot start as many handlers as 'concurrency' allows: " +
    `${abandoned} abandoned handlers are still running, and 'maxAbandoned' is ${maxAbandoned}`;
}

Deno.test("rule 11: if every handler hangs, at most twice as many run as the concurrency", async () => {
  const hanging = new Hanging(inMemory, 1000, { concurrency: 10 });
  await hanging.pass(TIMEOUT - 1);
  assertEquals(hanging.pool.active, 10);
  await hanging.pass(1);
  assertEquals(hanging.pool.active, 20);
  await hanging.pass(100 * TIMEOUT);
  assertEquals([hanging.pool.active, hanging.begun.length], [20, 20]);
  assertEquals(hanging.errors.filter((error) => !error.endsWith(": timeout")), [`10: ${saying(11, 10)}`], "once");
  assertEquals(hanging.errors.length, 21);
});

Deno.test("rule 11: maxAbandoned limits how many abandoned handlers may run beside the concurrency", async () => {
  for (const [maxAbandoned, expected] of [[0, 2], [1, 3], [5, 7], [Infinity, 40]] as const) {
    const hanging = new Hanging(inMemory, 40, { concurrency: 2, maxAbandoned });
    await hanging.pass(100 * TIMEOUT);
    assertEquals([hanging.pool.active, hanging.begun.length], [expected, expected]);
  }
});

Deno.test("rule 11: at the limit of abandoned handlers, a pool continues as handlers end, however late", async () => {
  const hanging = new Hanging(inMemory, 100, { concurrency: 1, maxAbandoned: 2 });
  await hanging.pass(10 * TIMEOUT);
  assertEquals(hanging.begun, [0, 1, 2]);
  await hanging.end(1);
  assertEquals(hanging.begun, [0, 1, 2, 3]);
  await hanging.end(3); // handler 3 ends within its timeout and frees its slot
  assertEquals(hanging.begun, [0, 1, 2, 3, 4]);
  await hanging.end(0, 2);
  assertEquals(hanging.begun, [0, 1, 2, 3, 4]);
  await hanging.end(4);
  assertEquals([hanging.begun.length, hanging.pool.active], [6, 1]);
});

Deno.test("rule 11: the limit is reported once, with the item that timed out, until no handler is abandoned", async () => {
  const hanging = new Hanging(inMemory, 100, { concurrency: 1, maxAbandoned: 1 });
  const reports = () => hanging.errors.filter((error) => !error.endsWith("timeout"));
  await hanging.pass(TIMEOUT);
  assertEquals(reports(), []);
  await hanging.pass(TIMEOUT);
  assertEquals(reports(), [`1: ${saying(2, 1)}`]);
  await hanging.end(0);
  await hanging.pass(TIMEOUT);
  assertEquals(reports(), [`1: ${saying(2, 1)}`], "not again, as it sits at the edge");
  await hanging.end(1, 2);
  await hanging.pass(2 * TIMEOUT);
  assertEquals(reports(), [`1: ${saying(2, 1)}`, `4: ${saying(2, 1)}`]);
});

Deno.test("rule 11: a pool at the limit can be stopped, and has finished when its handlers have ended", async () => {
  const hanging = new Hanging(inMemory, 100, { concurrency: 1, maxAbandoned: 1 });
  await hanging.pass(10 * TIMEOUT);
  const stopped = hanging.pool.stop();
  await hanging.end(0);
  assertEquals(await isSettled(stopped), false);
  await hanging.end(1);
  assertEquals(await isSettled(stopped), true);
  assertEquals([hanging.begun, hanging.clock.timers], [[0, 1], 1], "the timer of the delayed retry");
  hanging.queue.shutDown();
  assertEquals(hanging.clock.timers, 0);
});

test("rule 11: a pool at the limit leaves items to other pools of the queue", async (engine) => {
  const hanging = new Hanging(engine, 5, { concurrency: 1, maxAbandoned: 0 });
  await hanging.pass(10 * TIMEOUT);
  const seen: number[] = [];
  const other = engine.runWorkers(hanging.queue, (item) => void seen.push(item));
  await flush();
  assertEquals(seen, [1, 2, 3, 4]);
  await other.stop();
});

Deno.test("a probe that times out opens its breaker again, however many handlers are abandoned", async () => {
  for (const maxAbandoned of [0, 1, Infinity]) {
    const clock = new HandClock();
    const throttle = createBreakerThrottle({ minAttempts: 1, openFor: 100, probes: 1, clock });
    let isDown = true;
    const start = (options: WorkerOptions<number>) => {
      const it = { done: 0, add: (item: number) => queue.add(item) };
      const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), { clock });
      runWorkers(queue, async () => {
        if (isDown) await new Promise(() => {});
        it.done++;
      }, { throttle, clock, timeout: TIMEOUT, onError() {}, ...options });
      return it;
    };
    const [hanging, healthy] = [start({ concurrency: 4, maxAbandoned }), start({})];
    hanging.add(0);
    await flush();
    await clock.advance(TIMEOUT); // the breaker opens
    for (let item = 1; item < 20; item++) hanging.add(item);
    await flush();
    await clock.advance(2 * (100 + TIMEOUT)); // two probes time out
    assert(throttle.snapshot!().state.startsWith("open"), `${throttle.snapshot!().state}, ${maxAbandoned}`);
    assertEquals(throttle.snapshot!().inUse, 0);
    isDown = false;
    healthy.add(1);
    await clock.advance(200);
    assertEquals([throttle.snapshot!().state, healthy.done], ["closed", 1], `${maxAbandoned}`);
  }
});

Deno.test("an abandoned handler holds no permit, neither of its throttle nor of a later throttle of the pool", async () => {
  const clock = new HandClock();
  const [first, later] = [2, 3].map((limit) => createConcurrencyThrottle({ limit }));
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), { clock });
  for (const throttle of [undefined, first]) {
    const pool = startPool(queue, () => new Promise(() => {}), { throttle, clock, timeout: TIMEOUT, onError() {} });
    queue.add(Math.random());
    await flush();
    await clock.advance(TIMEOUT);
    queue.add(Math.random());
    await flush();
    pool.change({ throttle: later });
    await flush();
    assertEquals([pool.active, pool.snapshot().abandoned], [2, 1]);
    assertEquals([first!.snapshot!().inUse, later!.snapshot!().inUse], [throttle === first ? 1 : 0, 1]);
    void pool.stop();
    await clock.advance(TIMEOUT);
    assertEquals([first!.snapshot!().inUse, later!.snapshot!().inUse], [0, 0]);
  }
});
