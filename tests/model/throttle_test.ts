/**
 * Tests of pools that share a bucket, under random changes to the pools, the bucket and the queues.
 *
 * `WORKQUEUE_RUNS=1000000` runs more sequences.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  TokenBucket,
} from "@workqueue/core";
import type { Pool } from "../../lib/workers/pool.ts";
import { startPool } from "../../lib/workers/pool.ts";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

/** Number of sequences. Of bugs planted in token buckets and pools, the rarest was found after 70. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 400);
const BURST = 4;

/**
 * Three queues with one pool each, and a second pool on the first queue. All pools use the same bucket until a test
 * changes a pool's bucket.
 */
class Model {
  readonly clock = new HandClock();
  readonly bucket: TokenBucket;
  /** Second bucket, to which a test can switch pools. */
  readonly other: TokenBucket;
  readonly queues: RateLimitingQueue<number>[] = [0, 1, 2].map(() =>
    createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), { clock: this.clock })
  );
  readonly pools: Pool<number>[];
  readonly worked: Set<number>[] = this.queues.map(() => new Set());
  readonly added: Set<number>[] = this.queues.map(() => new Set());
  readonly ends: (() => void)[] = [];
  attempts = 0;
  pausedUntil = -1;
  paused = 0;
  #key = 0;

  constructor(readonly rate: number) {
    this.bucket = new TokenBucket(rate, BURST, { clock: this.clock });
    this.other = new TokenBucket(rate, BURST, { clock: this.clock });
    this.pools = [0, 1, 2, 0].map((queue) => this.run(queue));
  }

  run(queue: number): Pool<number> {
    return startPool(this.queues[queue]!, (key) => {
      this.attempts++;
      this.worked[queue]!.add(key);
      assert(
        this.clock.time >= this.pausedUntil || this.queues[queue]!.shuttingDown,
        "an attempt begins during a pause",
      );
      if (key % 4 === 0) return new Promise<void>((resolve) => this.ends.push(resolve));
    }, { throttle: this.bucket, concurrency: 1 + queue, clock: this.clock });
  }

  add(queue: number): void {
    const key = this.#key++;
    if (!this.queues[queue]!.shuttingDown) this.added[queue]!.add(key);
    this.queues[queue]!.add(key);
  }

  pauseFor(ms: number): void {
    const { time } = this.clock;
    this.paused += Math.max(time + ms - Math.max(this.pausedUntil, time), 0);
    this.pausedUntil = Math.max(this.pausedUntil, time + ms);
    this.bucket.pauseFor(ms);
    this.other.pauseFor(ms);
  }

  resume(): void {
    const { time } = this.clock;
    this.paused -= Math.max(this.pausedUntil - time, 0);
    this.pausedUntil = Math.min(this.pausedUntil, time);
    this.bucket.resume();
    this.other.resume();
  }

  /**
   * Maximum number of tokens that a bucket can have given out so far. The bucket's time stands still while the bucket
   * is paused.
   */
  get tokens(): number {
    const ownTime = Math.max(this.clock.time, this.pausedUntil) - this.paused;
    return BURST + ownTime / 1000 * this.rate;
  }

  async end(): Promise<void> {
    for (const pool of this.pools) void pool.stop();
    for (const end of this.ends.splice(0)) end();
    await Promise.all(this.pools.map(({ finished }) => finished));
    assertEquals(this.clock.timers, 0);
  }
}

type Step = (model: Model) => unknown;

const index = fc.nat(3);
const pooled = (change: (pool: Pool<number>, model: Model) => unknown) =>
  index.map((i): Step => (model) => change(model.pools[i]!, model));
const add = fc.nat(2).map((queue): Step => (model) => model.add(queue));
const pass = fc.constant<Step>(flush);
const orderly: fc.WeightedArbitrary<Step>[] = [
  { weight: 5, arbitrary: add },
  { weight: 4, arbitrary: pass },
  { weight: 3, arbitrary: fc.nat(1500).map((ms): Step => (model) => model.clock.advance(ms)) },
  { weight: 1, arbitrary: fc.nat(1500).map((ms): Step => (model) => void (model.clock.time += ms)) },
  { weight: 3, arbitrary: fc.nat(3000).map((ms): Step => (model) => model.pauseFor(ms)) },
  { weight: 2, arbitrary: fc.constant<Step>((model) => model.resume()) },
  { weight: 2, arbitrary: fc.constant<Step>((model) => model.ends.shift()?.()) },
  { weight: 1, arbitrary: pooled((pool) => pool.pause()) },
  { weight: 2, arbitrary: pooled((pool) => pool.resume()) },
  { weight: 1, arbitrary: pooled((pool) => pool.concurrency = 4 - pool.concurrency) },
  {
    weight: 1,
    arbitrary: index.map((i): Step => (model) => {
      void model.pools[i]!.stop();
      model.pools[i] = model.run(i % 3);
    }),
  },
];
const stepsOf = (steps: fc.WeightedArbitrary<Step>[]) => fc.array(fc.oneof(...steps), { maxLength: 40, size: "max" });

Deno.test("throttle: each token of a bucket without refill is used for an attempt or is left at the end", async () => {
  const shutDown = fc.nat(2).map((queue): Step => (model) => model.queues[queue]!.shutDown());
  const steps = stepsOf([...orderly, { weight: 1, arbitrary: shutDown }]);
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const model = new Model(0);
      for (const step of steps) await step(model);
      await model.clock.advance(0); // fire timers that are due
      await flush();
      const ready = model.queues.some(({ length }, i) => length > 0 && canWork(model.pools[i]!));
      if (ready && model.clock.time >= model.pausedUntil) {
        assert(model.attempts >= BURST - idle(model), "a token is lost");
      }
      await model.end();
      assertEquals(model.attempts + model.bucket.tokens, BURST);
    }),
    { numRuns: RUNS },
  );
});

/** Reports whether a pool could start an attempt if it had a token. */
function canWork(pool: Pool<number>): boolean {
  return !pool.snapshot().paused && pool.active < pool.concurrency;
}

/** Returns the number of pools that could start an attempt. Each of them may hold an unused token. */
function idle(model: Model): number {
  return model.pools.filter(canWork).length;
}

Deno.test("throttle: no attempt begins without a token or during a pause, and no item is lost", async () => {
  await fc.assert(
    fc.asyncProperty(stepsOf(orderly), async (steps) => {
      const model = new Model(2);
      for (const step of steps) {
        await step(model);
        assert(model.attempts <= model.tokens, "an attempt without a token");
      }
      for (const pool of model.pools) pool.resume();
      model.bucket.setRate(1000);
      for (let i = 0; i < 100; i++) {
        for (const end of model.ends.splice(0)) end();
        await model.clock.advance(100);
      }
      assertEquals(model.worked, model.added);
      await model.end();
    }),
    { numRuns: RUNS },
  );
});

const change = index.chain((i) =>
  fc.boolean().map((other): Step => ({ pools, bucket, other: another }) =>
    pools[i]!.change({ throttle: other ? another : bucket, concurrency: 1 + (i + Number(other)) % 3 })
  )
);
const changing = stepsOf([...orderly, { weight: 4, arbitrary: change }]);

Deno.test("throttle: in changing buckets without refill, each token is used for an attempt or is left at the end", async () => {
  await fc.assert(
    fc.asyncProperty(changing, async (steps) => {
      const model = new Model(0);
      for (const step of steps) await step(model);
      await model.end();
      assertEquals(model.attempts + model.bucket.tokens + model.other.tokens, 2 * BURST);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("throttle: while buckets change, no attempt begins without a token, and each item is processed once", async () => {
  await fc.assert(
    fc.asyncProperty(changing, async (steps) => {
      const model = new Model(2);
      for (const step of steps) {
        await step(model);
        assert(model.attempts <= 2 * model.tokens, "an attempt without a token");
      }
      for (const pool of model.pools) pool.resume();
      model.bucket.setRate(1000);
      model.other.setRate(1000);
      for (let i = 0; i < 100; i++) {
        for (const end of model.ends.splice(0)) end();
        await model.clock.advance(100);
      }
      assertEquals(model.worked, model.added);
      assertEquals(model.attempts, model.worked.reduce((sum, { size }) => sum + size, 0));
      await model.end();
    }),
    { numRuns: RUNS },
  );
});
