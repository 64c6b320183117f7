/** Pools with a throttle: no attempt starts without a token. */

import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createAllOfThrottle } from "@workqueue/core/throttles";
import {
  adaptThrottle,
  type AttemptResult,
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  runWorkers,
  type Throttle,
  TokenBucket,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import { SOURCE, type SourcedQueue, type WorkSource } from "@workqueue/core/hooks";
import { type Engine, inMemory, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, insideOf, isSettled, sourceOf } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

/** Queue, bucket and pools that share a clock. */
class Setup {
  readonly engine: Engine;
  readonly clock = new HandClock();
  readonly queue = this.newQueue();
  /** Start time and item of each attempt. */
  readonly log: string[] = [];
  readonly bucket: TokenBucket;

  constructor(engine: Engine, rate: number, burst: number) {
    this.engine = engine;
    this.bucket = new TokenBucket(rate, burst, { clock: this.clock });
  }

  newQueue(): RateLimitingQueue<string> {
    return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
      clock: this.clock,
    });
  }

  add(items: string, queue = this.queue): void {
    for (const item of items) queue.add(item);
  }

  run(options: WorkerOptions<string> = {}, queue: RateLimitingQueue<string> | SourcedQueue<string> = this.queue) {
    return this.engine.runWorkers(queue as RateLimitingQueue<string>, (item) => void this.note(item), {
      throttle: this.bucket,
      ...options,
    });
  }

  /** Moves the clock after all pending work is done. */
  async advance(ms: number): Promise<void> {
    await flush();
    await this.clock.advance(ms);
    await flush();
  }

  note(item: string): void {
    this.log.push(`${this.clock.time} ${item}`);
  }
}

test("no attempt begins without a token, in the order of the queue", async (engine) => {
  const it = new Setup(engine, 10, 2);
  const { queue, clock, log } = it;
  const pool = it.run({ concurrency: 5 });
  it.add("abcde");
  await flush();
  assertEquals([log, queue.length], [["0 a", "0 b"], 3]);
  await it.advance(250);
  assertEquals([log, queue.length], [["0 a", "0 b", "100 c", "200 d"], 1]);
  await it.advance(1000);
  assertEquals(log.at(-1), "300 e");
  queue.shutDown();
  await pool.finished;
  assertEquals(clock.timers, 0);
});

test("an invalid cost is refused and charges nothing, and so is a charge after the attempt", async (engine) => {
  const it = new Setup(engine, 1, 10);
  let chargeLater: ((cost: number) => void) | undefined;
  const pool = engine.runWorkers(it.queue, (item, { charge }) => {
    for (const cost of [-Infinity, NaN, Infinity]) assertThrows(() => charge(cost), RangeError, "'cost' must be");
    assertThrows(() => charge("1" as never), TypeError, "'cost' must be");
    charge(0);
    charge(2);
    chargeLater = charge;
    it.note(item);
  }, { throttle: it.bucket });
  it.add("a");
  await flush();
  assertEquals([it.log, it.bucket.tokens], [["0 a"], 7]);
  assertThrows(() => chargeLater!(1), Error, "the attempt has ended");
  assertEquals(it.bucket.tokens, 7);
  await pool.stop();
});

test("a negative charge gives back the tokens that the attempt took, and never more", async (engine) => {
  const it = new Setup(engine, 0, 10);
  const levels: number[] = [];
  const pool = engine.runWorkers(it.queue, (_item, { charge }) => {
    for (const cost of [3, -2, -100, -1, 4]) {
      charge(cost);
      levels.push(it.bucket.tokens);
    }
  }, { throttle: it.bucket, cost: () => 5 });
  it.add("a");
  await flush();
  assertEquals(levels, [2, 4, 10, 10, 6]);
  await pool.stop();
});

test("an attempt that gives tokens back lets an attempt begin that waits for them", async (engine) => {
  const it = new Setup(engine, 1, 10);
  let settle!: () => void;
  const pool = engine.runWorkers(it.queue, async (item, { charge }) => {
    it.note(item);
    await new Promise<void>((resolve) => {
      settle = () => {
        charge(-10);
        resolve();
      };
    });
  }, { throttle: it.bucket, concurrency: 2, cost: () => 10 });
  it.add("ab");
  await it.advance(100);
  assertEquals(it.log, ["0 a"]);
  settle();
  await flush();
  assertEquals(it.log, ["0 a", "100 b"]);
  settle();
  await pool.stop();
});

test("no attempt begins a fraction of a millisecond before its token", async (engine) => {
  const it = new Setup(engine, 2000, 1);
  const pool = it.run();
  it.add("ab");
  await flush();
  it.bucket.setRate(1900); // the change makes the pool ask for its token again
  await flush();
  assertEquals(it.log, ["0 a"]);
  await it.advance(1);
  assertEquals(it.log, ["0 a", "1 b"]);
  await pool.stop();
});

test("retries need tokens, too", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = engine.runWorkers(it.queue, (item, { attempt }) => {
    it.note(item);
    if (attempt < 3) throw new Error("no");
  }, { throttle: it.bucket, onError() {} });
  it.add("a");
  await it.advance(5000);
  assertEquals(it.log, ["0 a", "1000 a", "2000 a"]);
  await pool.stop();
});

test("an item that waits for a token waits in the queue: another pool may take it, and it uses no slot", async (engine) => {
  const it = new Setup(engine, 0.001, 1);
  const pool = it.run();
  it.add("abc");
  await flush();
  assertEquals([it.queue.length, it.queue.processing, pool.active], [2, 0, 0]);
  const other = it.run({ throttle: undefined });
  await flush();
  assertEquals([it.log, it.queue.length], [["0 a", "0 b", "0 c"], 0]);
  await Promise.all([pool.stop(), other.stop()]);
});

test("an idle pool takes no token, however long it waits", async (engine) => {
  const it = new Setup(engine, 10, 1);
  const pools = [it.run({ concurrency: 3 }), it.run({}, it.newQueue())];
  await it.advance(10_000);
  assertEquals([it.clock.timers, it.bucket.tokens], [0, 1]);
  it.add("abcd");
  await flush();
  assertEquals(it.log, ["10000 a"]);
  await it.advance(100);
  assertEquals(it.log.at(-1), "10100 b");
  await Promise.all(pools.map((pool) => pool.stop()));
});

test("idle pools leave all tokens to a busy one", async (engine) => {
  const it = new Setup(engine, 0, 3);
  const idle = [1, 2, 3].map(() => it.run({}, it.newQueue()));
  await it.advance(1000);
  const pool = it.run();
  it.add("abc");
  await flush();
  assertEquals(it.log, ["1000 a", "1000 b", "1000 c"]);
  await Promise.all([pool, ...idle].map((pool) => pool.stop()));
});

Deno.test("pools that share a bucket take turns", async () => {
  const it = new Setup(inMemory, 10, 1);
  const queues = [it.newQueue(), it.newQueue(), it.newQueue()];
  for (const queue of queues) it.add("123", queue);
  const pools = queues.map((queue, i) =>
    runWorkers(queue, (item) => void it.note(`${"xyz"[i]}${item}`), { throttle: it.bucket, concurrency: 2 })
  );
  await it.advance(1000);
  assertEquals(it.log.map((line) => line.split(" ")[1]), ["x1", "x2", "y1", "z1", "x3", "y2", "z2", "y3", "z3"]);
  assertEquals(it.log.at(-1), "800 z3");
  await Promise.all(pools.map((pool) => pool.stop()));
  assertEquals(it.clock.timers, 0);
});

Deno.test("pools that share a throttle take turns, even if one of them has it within an all-of", async () => {
  for (const isBucket of [true, false]) {
    const it = new Setup(inMemory, 100, 1);
    const shared = isBucket ? it.bucket : createConcurrencyThrottle({ limit: 1 });
    const slots = createConcurrencyThrottle({ limit: 10 });
    const throttles = [shared, createAllOfThrottle(slots, shared), createAllOfThrottle(shared, slots), shared];
    const attempts = [0, 0, 0, 0];
    const pools = throttles.map((throttle, i) => {
      const queue = it.newQueue();
      for (let item = 0; item < 100; item++) queue.add(`${item}`);
      const handler = () => {
        attempts[i]!++;
        return new Promise<void>((resolve) => void it.clock.setTimeout(resolve, 10));
      };
      return runWorkers(queue, handler, { throttle, concurrency: 2, clock: it.clock });
    });
    for (let time = 0; time < 1000; time += 10) await it.advance(10);
    assert(Math.min(...attempts) >= 24 && Math.max(...attempts) <= 27, `${attempts}, bucket: ${isBucket}`);
    const ends = pools.map((pool) => pool.stop());
    await it.advance(10);
    await Promise.all(ends);
    assertEquals(it.clock.timers, 0);
  }
});

test("two pools with one queue and one bucket process the queue at the bucket's rate", async (engine) => {
  const it = new Setup(engine, 10, 1);
  const pools = [it.run(), it.run()];
  it.add("abcdef");
  await it.advance(1000);
  assertEquals(it.log.map((line) => line.slice(-1)).sort().join(""), "abcdef");
  assertEquals(it.log.filter((line) => line.startsWith("0 ")).length, 1);
  it.queue.shutDown();
  await Promise.all(pools.map((pool) => pool.finished));
  assertEquals(it.clock.timers, 0);
});

test("a pool that waits for a token and is stopped, interrupted or paused leaves the token to the next", async (engine) => {
  for (const end of ["stop", "abort", "pause"] as const) {
    const it = new Setup(engine, 10, 1);
    const controller = new AbortController();
    const queues = [it.newQueue(), it.newQueue()];
    const first = it.run({ signal: controller.signal }, queues[0]);
    const second = it.run({}, queues[1]);
    it.add("ab", queues[0]);
    await flush();
    it.add("cd", queues[1]);
    await it.advance(50);
    assertEquals(it.log, ["0 a"]);
    if (end === "stop") await first.stop();
    else if (end === "pause") first.pause();
    else controller.abort();
    await it.advance(50);
    assertEquals(it.log, ["0 a", "100 c"]);
    await it.advance(100);
    assertEquals([it.log.at(-1), queues[0]!.length], ["200 d", 1]);
    await Promise.all([first.stop(), second.stop()]);
    assertEquals(it.clock.timers, 0);
  }
});

Deno.test("a pool that stops waiting for a token leaves no timer on its clock; the next pool uses its own", async () => {
  const it = new Setup(inMemory, 10, 1);
  const clock = new HandClock(); // never moves
  const queue = it.newQueue();
  const first = it.run({ clock });
  it.add("ab");
  await flush();
  const second = it.run({}, queue);
  it.add("c", queue);
  await flush();
  assertEquals([it.log, clock.timers, it.clock.timers], [["0 a"], 1, 0]);
  await first.stop();
  assertEquals([clock.timers, it.clock.timers], [0, 1]);
  await it.advance(100);
  assertEquals(it.log, ["0 a", "100 c"]);
  await second.stop();
  assertEquals(it.clock.timers, 0);
});

test("a pool that is stopped or paused while it waits leaves no timer, and its token is returned", async (engine) => {
  for (const end of ["stop", "pause"] as const) {
    const it = new Setup(engine, 1, 1);
    const pool = it.run();
    it.add("ab");
    await flush();
    assertEquals([it.clock.timers, it.bucket.tokens], [1, -1]);
    if (end === "stop") await pool.stop();
    else pool.pause();
    assertEquals([it.clock.timers, it.bucket.tokens], [0, 0]);
    await it.advance(5000);
    assertEquals(it.log, ["0 a"]);
    pool.resume();
    await flush();
    assertEquals(it.log, end === "stop" ? ["0 a"] : ["0 a", "5000 b"]);
    await pool.stop();
  }
});

test("lowering the concurrency so that there is no slot for an attempt ends the wait for its token", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const ends: (() => void)[] = [];
  const pool = engine.runWorkers(it.queue, (item) => {
    it.note(item);
    return new Promise<void>((resolve) => ends.push(resolve));
  }, { throttle: it.bucket, concurrency: 2 });
  it.add("abc");
  await flush();
  pool.concurrency = 1;
  assertEquals([it.clock.timers, it.bucket.tokens], [0, 0]);
  await it.advance(3000);
  assertEquals(it.log, ["0 a"]);
  ends[0]!();
  await flush();
  assertEquals(it.log, ["0 a", "3000 b"]);
  ends[1]!();
  await pool.stop();
});

test("a changed rate applies at once to a pool that waits for a token", async (engine) => {
  const it = new Setup(engine, 0.001, 1);
  const pool = it.run();
  it.add("abcdef");
  await it.advance(1000);
  assertEquals(it.log, ["0 a"]);
  it.bucket.setRate(10);
  await it.advance(200);
  assertEquals(it.log, ["0 a", "1100 b", "1200 c"]);
  it.bucket.setRate(0);
  await it.advance(10_000);
  assertEquals([it.log.length, it.clock.timers], [3, 0]);
  it.bucket.setRate(Infinity);
  await flush();
  assertEquals(it.log.slice(3), ["11200 d", "11200 e", "11200 f"]);
  await pool.stop();
});

Deno.test("a changed rate loses no token of waiting pools", async () => {
  const it = new Setup(inMemory, 0.001, 1);
  const queues = ["a", "b", "c"].map((item) => {
    const queue = it.newQueue();
    it.add(`${item}${item.toUpperCase()}`, queue);
    return queue;
  });
  const pools = queues.map((queue) => it.run({}, queue));
  await flush();
  it.bucket.setRate(10);
  await it.advance(500);
  assertEquals(it.log, ["0 a", "100 A", "200 b", "300 c", "400 B", "500 C"]);
  await Promise.all(pools.map((pool) => pool.stop()));
});

test("with a rate or a burst of 0, a pool waits until it is changed", async (engine) => {
  const it = new Setup(engine, 0, 0);
  const pool = it.run();
  it.add("ab");
  await it.advance(10_000);
  assertEquals([it.log, it.clock.timers], [[], 0]);
  it.bucket.setRate(1);
  await it.advance(10_000);
  assertEquals([it.log, it.clock.timers], [[], 0]);
  it.bucket.setBurst(1);
  await it.advance(1000);
  assertEquals(it.log, ["21000 a"]);
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

test("after a handler pauses its bucket, no attempt begins before the end of the pause, at any rate", async (engine) => {
  const it = new Setup(engine, Infinity, 1);
  const pool = engine.runWorkers(it.queue, (item) => {
    it.note(item);
    if (item === "a") it.bucket.pauseFor("30s");
  }, { throttle: it.bucket });
  it.add("abc");
  await it.advance(29_999);
  assertEquals(it.log, ["0 a"]);
  await it.advance(1);
  assertEquals(it.log, ["0 a", "30000 b", "30000 c"]);
  await pool.stop();
});

Deno.test("a pool that is paused and resumed in the instant in which an item arrives processes it", async () => {
  const it = new Setup(inMemory, 0, 1);
  const pool = it.run();
  await flush();
  it.add("ab");
  pool.pause();
  pool.resume();
  await flush();
  assertEquals([it.log, it.queue.length, it.bucket.tokens + 0], [["0 a"], 1, 0]);
  await pool.stop();
});

test("a token whose time came before its pool could use it is not lost", async (engine) => {
  for (const change of ["stop", "setRate", "pause"] as const) {
    const it = new Setup(engine, 1, 1);
    const pool = it.run();
    it.add("ab");
    await flush();
    it.clock.time = 1200; // the timer has not fired yet
    if (change === "stop") await pool.stop();
    else if (change === "setRate") it.bucket.setRate(2);
    else it.bucket.pauseFor(300);
    await it.advance(300);
    assertEquals(it.log.slice(1), { stop: [], setRate: ["1200 b"], pause: ["1500 b"] }[change]);
    if (change === "stop") assertEquals(it.bucket.tokens, 1);
    await pool.stop();
  }
});

test("while a bucket is paused, an idle pool begins no attempt", async (engine) => {
  const it = new Setup(engine, 1, 3);
  const pools = [it.run(), it.run()];
  await it.advance(5000);
  assertEquals(it.bucket.tokens, 3);
  it.bucket.pauseFor("30s");
  it.add("abcdef");
  await it.advance(29_999);
  assertEquals([it.log, it.queue.length], [[], 6]);
  await it.advance(1);
  assertEquals(it.log.sort(), ["35000 a", "35000 b", "35000 c"], "as many as the bucket holds");
  await it.advance(2000);
  assertEquals(it.log.slice(3), ["36000 d", "37000 e"]);
  await Promise.all(pools.map((pool) => pool.stop()));
  assertEquals(it.clock.timers, 0);
});

test("while a bucket is paused, a pool that waits for a token begins no attempt; the later end counts", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = it.run({ concurrency: 2 });
  it.add("abcd");
  await it.advance(500);
  it.bucket.pauseFor(10_000);
  await it.advance(4500);
  it.bucket.pauseFor(1000);
  it.bucket.pauseFor(20_000);
  await it.advance(20_499);
  assertEquals(it.log, ["0 a"]);
  await it.advance(2000);
  assertEquals(it.log, ["0 a", "25500 b", "26500 c"], "half of the first token had come before");
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

test("an item that arrives in the instant of a pause is given back, and is next after the pause", async (engine) => {
  for (const before of [true, false]) {
    const it = new Setup(engine, 1, 1);
    const pool = it.run();
    await flush();
    if (before) it.add("a");
    it.bucket.pauseFor(1000);
    it.add("b");
    await flush();
    assertEquals([it.log, it.queue.length, it.queue.processing], [[], before ? 2 : 1, 0]);
    await it.advance(2000);
    assertEquals(it.log.length, before ? 2 : 1);
    assertEquals(it.log[0]!.split(" ")[0], "1000");
    await pool.stop();
  }
});

test("an item that its queue does not accept back costs a token even if its attempt begins without one", async (engine) => {
  for (const change of ["pause", "stop"] as const) {
    const it = new Setup(engine, 1, 1);
    const pool = it.run();
    await flush();
    it.add("a");
    if (change === "pause") pool.pause();
    else void pool.stop();
    it.queue.shutDown();
    await it.advance(100);
    if (change === "pause") pool.resume();
    await pool.finished;
    const { length } = it.queue;
    assertEquals(it.bucket.tokens, length, change);
    assertEquals(it.log.length, 1 - length, change);
  }
});

Deno.test("after a pause by a handler, attempts begin at the rate, with at most the burst at once", async () => {
  const it = new Setup(inMemory, 1, 2);
  const pool = runWorkers(it.queue, async (item) => {
    it.note(item);
    await Promise.resolve();
    if (item === "a") it.bucket.pauseFor("30s");
  }, { throttle: it.bucket, concurrency: 2 });
  it.add("abcdefg");
  await it.advance(29_999);
  assertEquals(it.log, ["0 a", "0 b"]);
  await it.advance(10_001);
  assertEquals(it.log.slice(2, 4), ["31000 c", "32000 d"], "tokens do not come during the pause");
  await pool.stop();
});

test("a changed rate or burst takes effect at the end of a pause", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = it.run();
  await flush();
  it.bucket.pauseFor("10s");
  it.add("abcdefgh");
  await it.advance(1000);
  it.bucket.setRate(10);
  await it.advance(1000);
  it.bucket.setBurst(2);
  await it.advance(7999);
  assertEquals(it.log, []);
  await it.advance(201);
  assertEquals(it.log, ["10000 a", "10100 b", "10200 c"]);
  it.bucket.pauseFor("10s");
  it.bucket.setRate(Infinity);
  await it.advance(9999);
  assertEquals(it.log.length, 3);
  await it.advance(1);
  assertEquals(it.log.slice(3), ["20200 d", "20200 e", "20200 f", "20200 g", "20200 h"]);
  await pool.stop();
});

test("a changed rate or burst applies to an idle pool", async (engine) => {
  const it = new Setup(engine, 0, 1);
  const pool = it.run();
  await flush();
  it.bucket.setBurst(0);
  it.bucket.setRate(5);
  it.add("ab");
  await it.advance(1000);
  assertEquals(it.log, []);
  await pool.stop();
});

Deno.test("when its pause is ended, pools that share a bucket begin at once and then at the rate", async () => {
  const it = new Setup(inMemory, 1, 2);
  const queues = [it.newQueue(), it.newQueue()];
  const pools = queues.map((queue) => it.run({}, queue));
  await flush();
  it.bucket.pauseFor("30s");
  it.add("abc", queues[0]);
  it.add("xyz", queues[1]);
  await it.advance(5000);
  assertEquals([it.log, it.bucket.tokens], [[], 1], "one of the two is reserved");
  it.bucket.resume();
  assertEquals(it.log, ["5000 a", "5000 x"]);
  await it.advance(4000);
  assertEquals(it.log.slice(2), ["6000 b", "7000 y", "8000 c", "9000 z"]);
  await Promise.all(pools.map((pool) => pool.stop()));
  assertEquals(it.clock.timers, 0);
});

test("a pool that waited for a token before a pause waits only the rest of its time when the pause is ended", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = it.run();
  it.add("abc");
  await it.advance(500);
  it.bucket.pauseFor("10s");
  await it.advance(1500);
  it.bucket.resume();
  await it.advance(499);
  assertEquals(it.log, ["0 a"]);
  await it.advance(1001);
  assertEquals(it.log, ["0 a", "2500 b", "3500 c"]);
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

test("a pause that is ended in the same turn loses no token and no item", async (engine) => {
  const it = new Setup(engine, 0, 2);
  const pool = it.run();
  await flush();
  it.add("a");
  it.bucket.pauseFor("10s");
  it.bucket.resume();
  it.add("bc");
  await flush();
  assertEquals(it.log.map((line) => line.slice(-1)).sort().length, 2);
  assertEquals([it.queue.length, it.bucket.tokens], [1, 0]);
  await pool.stop();
});

test("a handler can end a pause that another handler started", async (engine) => {
  const it = new Setup(engine, Infinity, 1);
  const end = Promise.withResolvers<void>();
  const pool = engine.runWorkers(it.queue, async (item) => {
    it.note(item);
    if (item === "a") it.bucket.pauseFor("30s");
    if (item !== "b") return;
    await end.promise;
    it.bucket.resume();
  }, { throttle: it.bucket, concurrency: 2 });
  it.add("bacd");
  await it.advance(1000);
  assertEquals(it.log, ["0 b", "0 a"]);
  end.resolve();
  await flush();
  assertEquals(it.log.slice(2), ["1000 c", "1000 d"]);
  await pool.stop();
});

Deno.test("a pause can be ended on fake time", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }));
  const bucket = new TokenBucket(1, 1);
  const began = Date.now();
  const log: string[] = [];
  const pool = runWorkers(queue, (item) => void log.push(`${Date.now() - began} ${item}`), { throttle: bucket });
  bucket.pauseFor("1h");
  for (const item of "abc") queue.add(item);
  await time.tickAsync(60_000);
  assertEquals(log, []);
  bucket.resume();
  await time.tickAsync(2000);
  assertEquals(log, ["60000 a", "61000 b", "62000 c"]);
  await pool.stop();
});

test("rule 6: a drain continues when a pause is ended, and a pool that has finished leaves no timer", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = it.run();
  await flush();
  it.bucket.pauseFor("10s");
  it.add("ab");
  const drained = it.queue.shutDownWithDrain();
  await it.advance(2000);
  it.bucket.resume();
  await it.advance(1000);
  await drained;
  await pool.finished;
  assertEquals([it.log, it.clock.timers], [["2000 a", "3000 b"], 0]);
});

Deno.test("a pool that is stopped or paused while its bucket is paused leaves no timer", async () => {
  for (const end of ["stop", "pause"] as const) {
    const it = new Setup(inMemory, 1, 2);
    const other = it.newQueue();
    const pools = [it.run(), it.run({}, other)];
    it.add("abc");
    it.add("x", other);
    await flush();
    it.bucket.pauseFor("10s");
    await flush();
    for (const pool of pools) {
      assertEquals(it.clock.timers, 1);
      if (end === "stop") await pool.stop();
      else pool.pause();
    }
    assertEquals([it.clock.timers, it.bucket.tokens], [0, 0]);
    await it.advance(20_000);
    assertEquals(it.log.length, 2);
    await Promise.all(pools.map((pool) => pool.stop()));
  }
});

test("rule 6: a drain that begins while the bucket is paused processes the items after the pause", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = it.run();
  await flush();
  it.bucket.pauseFor("10s");
  it.add("ab");
  const drained = it.queue.shutDownWithDrain();
  await it.advance(10_999);
  assertEquals(it.log, ["10000 a"]);
  await it.advance(1);
  await drained;
  await pool.finished;
  assertEquals([it.log, it.clock.timers], [["10000 a", "11000 b"], 0]);
});

test("rule 6: an idle pool finishes while its bucket is paused if its queue is shut down", async (engine) => {
  for (const drain of [false, true]) {
    const it = new Setup(engine, 1, 1);
    const pool = it.run();
    await flush();
    it.bucket.pauseFor("10s");
    await flush();
    if (drain) await it.queue.shutDownWithDrain();
    else it.queue.shutDown();
    await pool.finished;
    assertEquals([it.clock.timers, it.bucket.tokens], [0, 1]);
  }
});

test("rule 6: a drain processes items and retries at the rate, and then nothing is left running", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const pool = engine.runWorkers(it.queue, (item, { attempt }) => {
    it.note(item);
    if (attempt === 1) throw new Error("no");
  }, { throttle: it.bucket, onError() {} });
  it.add("ab");
  const drained = it.queue.shutDownWithDrain({ delayed: "wait" });
  await it.advance(2999);
  assertFalse(await isSettled(drained));
  await it.advance(1);
  await drained;
  await pool.finished;
  assertEquals(it.log, ["0 a", "1000 b", "2000 a", "3000 b"]);
  assertEquals(it.clock.timers, 0);
});

test("rule 6: a pool that waits for a token finishes when its queue is shut down and nothing is left", async (engine) => {
  for (const drain of [false, true]) {
    const it = new Setup(engine, 0, 1);
    const pool = it.run();
    it.add("a");
    await flush();
    assertEquals(it.log, ["0 a"]);
    if (drain) await it.queue.shutDownWithDrain({ delayed: "wait" });
    else it.queue.shutDown();
    await pool.finished;
    assertEquals(it.clock.timers, 0);
  }
});

Deno.test("rule 6: a pool with a throttle finishes unless an item that is processing elsewhere was added again", async () => {
  for (const isAddedAgain of [false, true]) {
    const it = new Setup(inMemory, 1, 1);
    it.add("a");
    const lease = it.queue.tryGet()!;
    const pool = it.run();
    it.add(isAddedAgain ? "ba" : "b");
    await flush();
    it.queue.shutDown();
    assertEquals(await isSettled(pool.finished), !isAddedAgain);
    lease[Symbol.dispose]();
    await it.advance(1000);
    await pool.finished;
    assertEquals(it.log, isAddedAgain ? ["0 b", "1000 a"] : ["0 b"]);
  }
});

test("items that become ready again after shutdown wait for their tokens, and are processed", async (engine) => {
  const it = new Setup(engine, 1, 1);
  const end = Promise.withResolvers<void>();
  const pool = engine.runWorkers(it.queue, (item) => {
    it.note(item);
    return end.promise;
  }, { throttle: it.bucket, concurrency: 2 });
  it.add("a");
  await it.advance(100);
  it.add("a");
  it.queue.shutDown();
  await flush();
  end.resolve();
  await it.advance(900);
  await pool.finished;
  assertEquals(it.log, ["0 a", "1000 a"]);
});

test("a pool that knows of its queue's shutdown waits for a token for an item that became ready again", async (engine) => {
  const it = new Setup(engine, 1, 3);
  const end = Promise.withResolvers<void>();
  const pool = engine.runWorkers(it.queue, (item) => {
    it.note(item);
    return end.promise;
  }, { throttle: it.bucket, concurrency: 3 });
  it.add("ab");
  await flush(); // the pool has reserved a third token
  it.add("ab");
  it.queue.shutDown();
  await flush();
  end.resolve();
  await flush();
  assertFalse(await isSettled(pool.finished));
  await it.advance(1000);
  await pool.finished;
  assertEquals(it.log, ["0 a", "0 b", "0 a", "1000 b"]);
});

Deno.test("pools that have finished watch neither their queue nor their throttle", async () => {
  const it = new Setup(inMemory, 0, 1);
  let watching = 0;
  const counting = (watch: (callback: () => void) => () => void) => (callback: () => void) => {
    const end = watch(callback);
    watching++;
    return () => {
      watching--;
      end();
    };
  };
  const source = insideOf(it.queue);
  const queue = withSource(it.queue, { watch: counting(source.watch.bind(source)) });
  let permits = 1;
  const throttle = adaptThrottle({
    acquire: () => permits-- > 0 ? { begin() {}, charge() {}, end() {} } : Infinity,
    onChange: counting(() => () => {}),
  });
  const pools = [it.run({ throttle }, queue), it.run({ throttle }, queue)];
  it.add("ab");
  await flush();
  assertEquals([watching, it.log], [3, ["0 a"]], "the queue for each pool, and the throttle once");
  await pools[0]!.stop();
  assertEquals(watching, 2);
  await pools[1]!.stop();
  assertEquals(watching, 0);
});

const CHANGES: [string, (pool: WorkerPool<string>) => void][] = [
  ["pauses the pool", (pool) => pool.pause()],
  ["stops the pool", (pool) => void pool.stop()],
  ["lowers the concurrency", (pool) => void (pool.concurrency = 1)],
];

for (const [change, act] of CHANGES) {
  Deno.test(`a throttle that ${change} and then grants a permit: no attempt begins, and the permit is unused`, async () => {
    const it = new Setup(inMemory, 0, 0);
    const ended: string[] = [];
    let asked = 0;
    const acquire = () => {
      if (++asked === 2) act(pool);
      if (asked > 2) return Infinity;
      return { begin() {}, charge() {}, end: ({ outcome }: AttemptResult) => void ended.push(outcome) };
    };
    const ends = new Map<string, () => void>();
    const handler = (item: string) => new Promise<void>((end) => void ends.set(item, end));
    const pool: WorkerPool<string> = runWorkers(it.queue, handler, {
      concurrency: 2,
      throttle: adaptThrottle({ acquire }),
    });
    it.add("ab");
    await flush();
    assertEquals([[...ends.keys()], ended], [["a"], ["unused"]]);
    assertEquals([it.queue.length, it.queue.processing], [1, 1]);
    ends.get("a")!();
    await pool.stop();
    assertEquals([ended, it.queue.length, it.queue.processing], [["unused", "succeeded"], 1, 0]);
  });
}

Deno.test("if a throttle resumes another pool and then refuses both pools, each gets a permit later", async () => {
  const it = new Setup(inMemory, 0, 0);
  const listeners = new Set<() => void>();
  let isOpen = false;
  const throttle = adaptThrottle({
    acquire() {
      if (isOpen) return { begin() {}, charge() {}, end() {} };
      other.resume();
      return Infinity;
    },
    onChange(callback: () => void) {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
  });
  const otherQueue = it.newQueue();
  const other = it.run({ throttle }, otherQueue);
  other.pause();
  it.add("b", otherQueue);
  it.run({ throttle });
  it.add("a");
  await flush();
  assertEquals(it.log, []);
  isOpen = true;
  for (const listener of listeners) listener();
  await flush();
  assertEquals(it.log.sort(), ["0 a", "0 b"]);
});

Deno.test("if a throttle that refused a pool changes and refuses again, one timer is set, and none is left after the stop", async () => {
  const it = new Setup(inMemory, 0, 0);
  let change = () => {};
  let isFree = true;
  const throttle = adaptThrottle({
    acquire() {
      if (!isFree) return 50;
      isFree = false;
      return { begin() {}, charge() {}, end: () => change() };
    },
    onChange(callback: () => void) {
      change = callback;
      return () => {};
    },
  });
  const pool = it.run({ throttle });
  it.add("abc");
  await flush();
  isFree = true;
  change();
  await flush();
  assertEquals([it.log, it.clock.timers], [["0 a", "0 b"], 1]);
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

Deno.test("a bucket of another copy of the package is accepted, and its changes take effect", async () => {
  const other = await loadSecondCopy();
  const it = new Setup(inMemory, 0, 0);
  const bucket = new other.TokenBucket(0, 1, { clock: it.clock });
  const pool = it.run({ throttle: bucket });
  it.add("ab");
  await it.advance(1000);
  assertEquals(it.log, ["0 a"]);
  bucket.setRate(1);
  await it.advance(1000);
  assertEquals(it.log, ["0 a", "2000 b"]);
  await pool.stop();
});

Deno.test("a throttle that throws makes finished reject, at once and after a wait", async () => {
  for (const delay of [undefined, 5]) {
    const it = new Setup(inMemory, 0, 0);
    let calls = 0;
    const acquire = () => {
      if (delay !== undefined && ++calls === 1) return delay;
      throw new Error("no permits");
    };
    const pool = it.run({ throttle: adaptThrottle({ acquire }) });
    it.add("a");
    const rejected = assertRejects(() => pool.finished, Error, "no permits");
    await it.advance(10);
    await rejected;
    assertEquals(it.clock.timers, 0);
  }
});

Deno.test("a throttle that throws when its pool ends, or takes a permit back, makes finished reject", async () => {
  const fail = () => {
    throw new Error("thrown");
  };
  const atEnd: Throttle = { acquire: () => ({ begin() {}, charge() {}, end() {} }), onChange: () => fail };
  const atUnused: Throttle = { acquire: () => ({ begin() {}, charge() {}, end: fail }) };
  for (const throttle of [atEnd, atUnused].map(adaptThrottle)) {
    const it = new Setup(inMemory, 0, 0);
    const queue = throttle === atEnd ? it.queue : withoutLength(it.queue);
    const pool = it.run({ throttle }, queue);
    const rejected = assertRejects(() => pool.finished, Error, "thrown");
    await flush();
    it.queue.shutDown();
    await rejected;
  }
});

/** Returns a queue whose source has other members. */
function withSource(queue: RateLimitingQueue<string>, members: Partial<WorkSource<string>>): SourcedQueue<string> {
  return {
    [SOURCE]: () =>
      new Proxy(sourceOf(queue), {
        get(source, name) {
          if (name in members) return Reflect.get(members, name);
          const value = Reflect.get(source, name, source);
          return typeof value === "function" ? value.bind(source) : value;
        },
      }),
  };
}

/** Returns the queue with a number of ready items that is never 0, so that pools ask for a permit first. */
function withoutLength(queue: RateLimitingQueue<string>): SourcedQueue<string> {
  return withSource(queue, { length: 1 });
}

Deno.test("a throttle's answer that is neither a permit nor a time ends the pool with an error that says so", async () => {
  for (
    const [answer, shown] of [[NaN, "NaN"], [-5, "-5"], [undefined, "undefined"], ["5s", '"5s"'], [{}, "an object"]]
  ) {
    const it = new Setup(inMemory, 0, 0);
    const pool = it.run({ throttle: adaptThrottle({ acquire: () => answer as number }) });
    it.add("a");
    const message = "Cannot start attempt: 'acquire' of the throttle must return a permit or milliseconds, got ";
    await assertRejects(() => pool.finished, Error, `${message}${shown}`);
    assertEquals([it.clock.timers, it.queue.length, it.queue.processing], [0, 1, 0]);
  }
});

test("waits longer than a timer's maximum are split, and a timer that fires early is set again", async (engine) => {
  const it = new Setup(engine, 1e-7, 1);
  const pool = it.run();
  it.add("ab");
  await flush();
  assertEquals(it.clock.delays.at(-1), 2 ** 31 - 1);
  await it.advance(9_999_999_999);
  assertEquals(it.log, ["0 a"]);
  await it.advance(1);
  assertEquals(it.log, ["0 a", "10000000000 b"]);
  await pool.stop();
});

test("an object that is neither a throttle nor a bucket is refused", (engine) => {
  const it = new Setup(engine, 1, 1);
  for (const wrong of [5, {}, null, { rate: 1, burst: 1 }]) {
    assertThrows(
      () => it.run({ throttle: wrong as never }),
      Error,
      "Cannot run workers: 'throttle' must be a throttle or a token bucket",
    );
  }
  assert(it.run({ throttle: undefined }));
});
