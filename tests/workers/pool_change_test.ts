/** Pool settings that change while the pool runs. */

import { assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import {
  adaptThrottle,
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type Handler,
  InMemoryMetrics,
  loadConfig,
  type Shutdown,
  type SourcedQueue,
  TokenBucket,
  type WorkerOptions,
  type WorkLease,
  type WorkRequest,
} from "@workqueue/core";
import { baseSource, SOURCE } from "@workqueue/core/hooks";
import type { Pool } from "../../lib/workers/pool.ts";
import { startPool as startDirectly } from "../../lib/workers/pool.ts";
import { type Engine, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";

class Setup {
  readonly engine: Engine;
  readonly clock = new HandClock();
  readonly queue = this.newQueue();
  /** Start time and item of each attempt. */
  readonly log: string[] = [];
  /** Functions that end the running handlers, by item. */
  readonly ends = new Map<string, () => void>();

  constructor(engine: Engine) {
    this.engine = engine;
  }

  newQueue() {
    const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });
    return createRateLimitingQueue<string>(limiter, { clock: this.clock });
  }

  bucket(rate: number, burst: number): TokenBucket {
    return new TokenBucket(rate, burst, { clock: this.clock });
  }

  add(items: string, queue = this.queue): void {
    for (const item of items) queue.add(item);
  }

  /** Starts a pool whose handlers end at once. */
  run(options: WorkerOptions<string> = {}, queue = this.queue): Pool<string> {
    return this.engine.startPool(queue, (item) => this.note(item), options);
  }

  /** Starts a pool whose handlers end when the test calls `end`. */
  hold(options: WorkerOptions<string> = {}, handler: Handler<string> = () => {}): Pool<string> {
    return this.engine.startPool(this.queue, async (item, context) => {
      this.note(item);
      await new Promise<void>((resolve) => this.ends.set(item, resolve));
      return handler(item, context);
    }, options);
  }

  async end(items: string): Promise<void> {
    for (const item of items) this.ends.get(item)!();
    await flush();
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

test("a changed concurrency applies at once; an omitted one becomes 1 again", async (engine) => {
  const it = new Setup(engine);
  const pool = it.hold({ concurrency: 2 });
  it.add("abcdefg");
  await flush();
  pool.change({ concurrency: 4 });
  assertEquals([pool.concurrency, it.log.length], [4, 2], "nothing begins while the change is made");
  await flush();
  assertEquals(it.log, ["0 a", "0 b", "0 c", "0 d"]);
  pool.change({ concurrency: undefined });
  assertEquals(pool.concurrency, 1);
  await it.end("abc");
  assertEquals(it.log.length, 4, "one still runs");
  await it.end("d");
  assertEquals(it.log.slice(4), ["0 e"]);
  it.ends.get("e")!();
  await pool.stop();
});

test("lowering the concurrency ends the wait for an item, and gives back an item that arrives", async (engine) => {
  const it = new Setup(engine);
  const pool = it.hold({ concurrency: 2 });
  it.add("a");
  await flush();
  pool.change({ concurrency: 1 });
  await flush();
  it.add("bc");
  await flush();
  assertEquals([it.log, it.queue.length], [["0 a"], 2]);
  await it.end("a");
  assertEquals(it.log, ["0 a", "0 b"]);
  it.ends.get("b")!();
  await pool.stop();
});

test("maxAbandoned follows a changed concurrency if it was omitted", async (engine) => {
  for (const maxAbandoned of [undefined, 1]) {
    const it = new Setup(engine);
    const pool = it.hold({ timeout: 100, maxAbandoned, onError() {} });
    it.add("abcdef");
    await it.advance(1000);
    assertEquals(it.log.length, 2, "one abandoned, one in its place");
    pool.change({ concurrency: 2 });
    await it.advance(1000);
    assertEquals(it.log.length, maxAbandoned === undefined ? 4 : 3);
    const stopped = pool.stop();
    await it.end(it.log.map((line) => line.at(-1)).join(""));
    await stopped;
  }
});

test("a changed maxRetries applies to the next failure, also of running attempts", async (engine) => {
  const it = new Setup(engine);
  const given: string[] = [];
  const pool = it.hold({
    concurrency: 3,
    onError() {},
    onGiveUp: (_error, item, attempts) => given.push(`${item} ${attempts}`),
  }, () => {
    throw new Error("no");
  });
  it.add("ab");
  await flush();
  await it.end("ab");
  await it.advance(10);
  pool.change({ maxRetries: 1 });
  await it.end("a");
  assertEquals(given, ["a 2"]);
  pool.change({ timeout: "1m" }); // an omitted option keeps its value
  pool.change({ maxRetries: undefined });
  await it.end("b");
  await it.advance(10);
  assertEquals([given, it.log.at(-1)], [["a 2"], "20 b"]);
  pool.change({ maxRetries: 0 });
  await it.end("b");
  assertEquals(given, ["a 2", "b 3"]);
  await pool.stop();
});

test("a changed timeout applies to attempts that begin from now on", async (engine) => {
  const it = new Setup(engine);
  const errors: string[] = [];
  const pool = it.hold({
    concurrency: 3,
    timeout: 1000,
    maxRetries: 0,
    onError: (_error, item) => errors.push(`${it.clock.time} ${item}`),
  });
  it.add("a");
  await flush();
  pool.change({ timeout: "100ms" });
  it.add("b");
  await it.advance(99);
  pool.change({ timeout: undefined });
  it.add("c");
  await it.advance(5000);
  assertEquals(errors, ["100 b", "1000 a"]);
  await it.end("abc");
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

test("another bucket: items that waited for a token of the old one wait for the new one, in the order of the queue", async (engine) => {
  const it = new Setup(engine);
  const old = it.bucket(0.25, 1);
  const pool = it.run({ throttle: old, concurrency: 3 });
  it.add("abcde");
  await it.advance(1000);
  assertEquals([it.log, it.clock.timers], [["0 a"], 1]);
  const next = it.bucket(10, 2);
  pool.change({ throttle: next });
  assertEquals(it.log.length, 1, "nothing begins while the change is made");
  await flush();
  assertEquals(it.log.slice(1), ["1000 b", "1000 c"]);
  assertEquals(old.tokens, 0.25, "nothing is taken ahead of the old one any more");
  await it.advance(1000);
  assertEquals(it.log.slice(3), ["1100 d", "1200 e"]);
  await pool.stop();
  assertEquals([it.clock.timers, next.tokens], [0, 2]);
});

test("bucket removed: an item that waits for a token begins", async (engine) => {
  const it = new Setup(engine);
  const bucket = it.bucket(0, 1);
  const pool = it.run({ throttle: bucket, concurrency: 2 });
  it.add("abcd");
  await it.advance(1000);
  assertEquals(it.log, ["0 a"]);
  pool.change({ throttle: undefined });
  await flush();
  assertEquals(it.log, ["0 a", "1000 b", "1000 c", "1000 d"]);
  it.add("e");
  await flush();
  assertEquals([it.log.at(-1), bucket.tokens], ["1000 e", 0]);
  await pool.stop();
});

test("bucket added: the next item needs a token", async (engine) => {
  const it = new Setup(engine);
  const pool = it.run({ concurrency: 3 });
  it.add("a");
  await flush();
  const bucket = it.bucket(1, 1);
  pool.change({ throttle: bucket });
  await flush();
  it.add("bcd");
  await it.advance(1500);
  assertEquals([it.log, it.queue.length], [["0 a", "0 b", "1000 c"], 1]);
  await pool.stop();
  assertEquals(it.clock.timers, 0);
});

test("a pool that changes its throttle leaves its place in the line to others", async (engine) => {
  const it = new Setup(engine);
  const shared = it.bucket(0, 0);
  const queues = [it.queue, it.newQueue()];
  const [first, second] = queues.map((queue) => it.run({ throttle: shared }, queue)) as [Pool<string>, Pool<string>];
  it.add("ab");
  await flush();
  it.add("xy", queues[1]);
  await flush();
  const next = it.bucket(0, 1);
  first.change({ throttle: next });
  assertEquals(it.log, [], "no pool begins anything while the change is made");
  await flush();
  assertEquals([it.log, next.tokens], [["0 a"], 0]);
  shared.setRate(Infinity);
  await flush();
  assertEquals(it.log, ["0 a", "0 x", "0 y"]);
  await Promise.all([first.stop(), second.stop()]);
});

test("a running attempt counts once in a throttle that the pool has again, also within an all-of", async (engine) => {
  const it = new Setup(engine);
  const [first, second] = [createConcurrencyThrottle({ limit: 2 }), createConcurrencyThrottle({ limit: 2 })];
  const config = (throttle: string) => ({ type: "all-of", throttles: [throttle] });
  const document = (throttle: string) => ({
    throttles: {
      first: { type: "concurrency", limit: 2 },
      second: { type: "concurrency", limit: 2 },
      all: config(throttle),
    },
    queues: {},
  });
  const loaded = loadConfig(document("first"));
  const pools = [it.hold({ throttle: first }), it.hold({ throttle: loaded.throttle("all") })];
  it.add("ab");
  await flush();
  for (const throttle of [second, first, second]) pools[0]!.change({ throttle });
  for (const throttle of ["second", "first", "second"]) loaded.reload(document(throttle));
  await flush();
  const throttles = () => [first, second, loaded.throttle("first"), loaded.throttle("second"), loaded.throttle("all")];
  const inUse = () => throttles().map((throttle) => throttle.snapshot!().inUse);
  assertEquals(inUse(), [1, 1, 1, 1, 1]);
  await it.end("ab");
  assertEquals(inUse(), [0, 0, 0, 0, 0]);
  await Promise.all(pools.map((pool) => pool.stop()));
});

Deno.test("a throttle that a metric changes as an attempt begins: each permit ends", async () => {
  const throttles = [createConcurrencyThrottle({ limit: 1 }), createConcurrencyThrottle({ limit: 1 })] as const;
  const metrics = new InMemoryMetrics();
  const limiter = createExponentialLimiter<string>({ baseDelay: 10, maxDelay: 10 });
  const queue = createRateLimitingQueue<string>(limiter, { name: "q", clock: new HandClock(), metrics });
  const active = metrics.active("q");
  metrics.active = () => ({
    ...active,
    inc() {
      pool.change({ throttle: throttles[1] });
    },
    dec() {},
    set() {},
    observe() {},
  });
  const began: string[] = [];
  const pool = startDirectly(queue, (item) => void began.push(item), { throttle: throttles[0] });
  for (const item of "ab") queue.add(item);
  await flush();
  assertEquals([began, throttles.map((throttle) => throttle.snapshot!().inUse)], [["a", "b"], [0, 0]]);
  await pool.stop();
});

test("a new throttle that throws makes finished reject, and the change is made", async (engine) => {
  const it = new Setup(engine);
  const pool = it.run({ throttle: it.bucket(0, 0) });
  const rejected = assertRejects(() => pool.finished, Error, "no callbacks");
  it.add("a");
  await flush();
  const throttle = adaptThrottle({
    acquire: () => Infinity,
    onChange() {
      throw new Error("no callbacks");
    },
  });
  pool.change({ throttle, concurrency: 3 });
  await rejected;
  assertEquals([pool.concurrency, it.log, it.queue.length, it.clock.timers], [3, [], 1, 0]);
});

test("a pool that changes its throttle takes no token of the old one", async (engine) => {
  const it = new Setup(engine);
  const [first, second] = [it.bucket(0, 1), it.bucket(0, 1)];
  const pool = it.run({ throttle: first });
  await flush();
  for (let i = 0; i < 4; i++) {
    pool.change({ throttle: i % 2 === 0 ? second : first });
    await flush();
    assertEquals([first.tokens, second.tokens], [1, 1]);
  }
  pool.change({ throttle: second });
  pool.change({ throttle: first }); // changed back before the pool could react
  await flush();
  it.add("ab");
  await flush();
  assertEquals([it.log, it.queue.length, first.tokens, second.tokens], [["0 a"], 1, 0, 1]);
  await pool.stop();
});

test("an item that arrives in the instant of the change begins once, or goes back and begins once", async (engine) => {
  for (const before of [true, false]) {
    for (const tokens of [0, 1]) {
      const it = new Setup(engine);
      const pool = it.run({ throttle: it.bucket(0, 1) });
      await flush();
      if (before) it.add("a");
      const next = it.bucket(0, tokens);
      pool.change({ throttle: next });
      it.add(before ? "b" : "ab");
      await flush();
      assertEquals([it.log.length, it.queue.length], [tokens, 2 - tokens]);
      pool.change({ throttle: undefined });
      await flush();
      assertEquals(it.log.map((line) => line.at(-1)).sort(), ["a", "b"]);
      await pool.stop();
    }
  }
});

test("a paused pool stays paused during a change, which applies when the pool is resumed", async (engine) => {
  const it = new Setup(engine);
  const pool = it.run({ throttle: it.bucket(0, 0) });
  pool.pause();
  it.add("abc");
  const next = it.bucket(0, 2);
  pool.change({ throttle: next, concurrency: 5, maxRetries: 1, timeout: 50 });
  await flush();
  assertEquals([it.log, next.tokens], [[], 2]);
  pool.resume();
  await flush();
  assertEquals(it.log, ["0 a", "0 b"]);
  await pool.stop();
});

test("a pool whose queue shut down while it waited for a token ends without one, or with one of another bucket", async (engine) => {
  for (const throttle of ["another", "none"] as const) {
    const it = new Setup(engine);
    const pool = it.run({ throttle: it.bucket(0, 1) });
    it.add("ab");
    await flush();
    it.queue.shutDown();
    assertFalse(await isSettled(pool.finished));
    pool.change({ throttle: throttle === "none" ? undefined : it.bucket(1, 1) });
    await pool.finished;
    assertEquals(it.log, ["0 a", "0 b"]);
    assertEquals(it.clock.timers, 0);
  }
});

test("a pool that starts to use tokens notices a shutdown while it waits for one", async (engine) => {
  const it = new Setup(engine);
  const end = Promise.withResolvers<void>();
  const pool = engine.startPool(it.queue, () => end.promise, { concurrency: 2 });
  it.add("a");
  await flush();
  pool.change({ throttle: it.bucket(0, 0) });
  await flush();
  it.queue.shutDown();
  end.resolve();
  await pool.finished;
});

test("changing a pool that has ended has no effect, and the pool no longer watches the bucket", async (engine) => {
  const it = new Setup(engine);
  const pool = it.run();
  await pool.stop();
  let watching = 0;
  let asked = 0;
  const throttle = adaptThrottle({
    acquire: () => ++asked,
    onChange: () => {
      watching++;
      return () => watching--;
    },
  });
  pool.change({ throttle, concurrency: 3 });
  it.add("a");
  await flush();
  assertEquals([asked, it.log, it.queue.length, watching], [0, [], 1, 0]);
});

test("an invalid change is refused as a whole, and so is an unknown one", async (engine) => {
  const it = new Setup(engine);
  const pool = it.run({ concurrency: 2 });
  const wrong: [object, string][] = [
    [
      { concurrency: 3, maxRetries: -1 },
      "Cannot change pool: 'maxRetries' must be a non-negative integer or Infinity",
    ],
    [{ concurrency: 0 }, "Cannot change pool: 'concurrency' must be a positive integer"],
    [{ concurrency: 3, timeout: "soon" }, "Cannot change pool: 'timeout'"],
    [{ concurrency: 3, throttle: {} }, "Cannot change pool: 'throttle' must be a throttle or a token bucket"],
    [
      { concurrency: 3, maxRetry: 1 },
      'Cannot change pool: "maxRetry" is not an option here; did you mean "maxRetries"?',
    ],
    [{ concurrency: 3, signal: AbortSignal.abort() }, 'Cannot change pool: "signal" is not an option here'],
  ];
  for (const [changes, message] of wrong) {
    assertThrows(() => pool.change(changes), Error, message);
    assertEquals(pool.concurrency, 2);
  }
  await pool.stop();
});

/** Remote queue whose server takes tokens from the throttle. The test calls `bring` to answer a request. */
class TokenTaker implements SourcedQueue<string> {
  readonly requests: WorkRequest[] = [];
  bring!: (lease: WorkLease<string> | Shutdown) => void;

  [SOURCE]() {
    return {
      ...baseSource,
      name: "",
      takesPermits: () => true,
      tryTake: () => undefined,
      attemptOf: () => 1,
      finish() {},
      take: (request: WorkRequest) => {
        this.requests.push(request);
        const { promise, resolve, reject } = Promise.withResolvers<WorkLease<string> | Shutdown>();
        this.bring = resolve;
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
        return promise;
      },
    };
  }
}

function leaseOf(item: string): WorkLease<string> {
  return { item, key: item, shutdown: false, priority: 0, addedAgain: () => false, [Symbol.dispose]() {} };
}

Deno.test("a source that takes the tokens itself is asked again, with the current bucket", async () => {
  const [first, second] = [new TokenBucket(1, 1), new TokenBucket(2, 2)];
  const queue = new TokenTaker();
  const began: string[] = [];
  const pool = startDirectly(queue, (item) => void began.push(item), { throttle: first });
  await flush();
  assertEquals(queue.requests.map(({ throttle }) => throttle), [first]);

  pool.change({ throttle: second });
  await flush();
  assertEquals(queue.requests.map(({ throttle }) => throttle), [first, second]);
  assertEquals(queue.requests.map(({ signal }) => signal.aborted), [true, false]);

  pool.change({ throttle: second, maxRetries: 3 });
  await flush();
  assertEquals(queue.requests.length, 2, "the same bucket is no change");

  queue.bring(leaseOf("a"));
  await flush();
  assertEquals([began, queue.requests[2]?.throttle], [["a"], second]);

  pool.pause();
  pool.change({ throttle: undefined });
  await flush();
  pool.resume();
  await flush();
  assertEquals(queue.requests[3]?.throttle, undefined);
  assertEquals([first.tokens, second.tokens], [1, 2], "the pool takes none itself");
  await pool.stop();
});
