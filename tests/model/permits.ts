/** Random model of pools that share throttles: permits are never more than allowed, and each ends once. */

import { assert, assertEquals } from "@std/assert";
import {
  adaptThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type Permit,
  type RateLimitingQueue,
  RetryAfterError,
  type Throttle,
  type ThrottleConfig,
  throttles,
} from "@workqueue/core";
import { partContextOf } from "@workqueue/core/internal/registry";
import { createAllOfThrottle } from "@workqueue/core/throttles";
import type { OwnThrottle } from "../../lib/contracts/throttle.ts";
import { throttleOf } from "../../lib/tokens/own_throttle.ts";
import { type Pool, startPool } from "../../lib/workers/pool.ts";
import { HandClock } from "../helpers.ts";
import { flush, randomNumbers } from "../queue_helpers.ts";

const CONFIGS: readonly ThrottleConfig[] = [
  { type: "concurrency", limit: 3 },
  { type: "aimd", min: 1, max: 4, initial: 2 },
  { type: "gradient", min: 1, max: 5 },
  { type: "breaker", minAttempts: 5, window: "1s", openFor: 50, probes: 2, rampUp: 100 },
  { type: "bucket", rate: 200, burst: 3 },
  { type: "all-of", throttles: [{ type: "concurrency", limit: 4 }, { type: "bucket", rate: 300, burst: 10 }] },
];

/** Number of steps with each seed. */
export const STEPS = 400;

/** Counts the permits of a throttle, and checks that each begins before it ends, and ends once. */
class Counting implements OwnThrottle {
  /** Permits that were acquired and have not ended. */
  held = 0;
  /** Permits of attempts that began with another throttle, likewise. */
  adopted = 0;
  readonly #inner: OwnThrottle;
  readonly #isBreaker: boolean;
  /** Reports whether the end of the next permit throws. */
  readonly #throws: () => boolean;

  constructor(inner: Throttle, isBreaker: boolean, throws: () => boolean) {
    adaptThrottle(this);
    this.#inner = throttleOf(inner);
    this.#isBreaker = isBreaker;
    this.#throws = throws;
  }

  acquire(): Permit | number {
    const { limit, inUse } = this.snapshot();
    const permit = this.#inner.acquire();
    if (typeof permit === "number") {
      assert(permit > 0, `refused for ${permit} ms`);
      return permit;
    }
    const allowed = this.#isBreaker ? limit : limit - inUse; // attempts from before the breaker opened are no probes
    assert(allowed > 0, `a permit beyond ${limit}`);
    return this.#count("held", permit, "acquired");
  }

  adopt(): Permit {
    return this.#count("adopted", this.#inner.adopt?.() ?? { begin() {}, charge() {}, end() {} }, "begun");
  }

  #count(counter: "held" | "adopted", permit: Permit, state: "acquired" | "begun" | "ended"): Permit {
    this[counter]++;
    return {
      begin: (cost) => {
        assertEquals(state, "acquired");
        state = "begun";
        permit.begin(cost);
      },
      charge: (cost) => permit.charge(cost),
      end: (result) => {
        assertEquals(state, result.outcome === "unused" ? "acquired" : "begun");
        assert(result.durationMs >= 0);
        state = "ended";
        this[counter]--;
        permit.end(result);
        if (result.outcome !== "unused" && this.#throws()) throw new Error("the throttle is broken");
      },
    };
  }

  /** Changes the limit of a concurrency throttle, as a reload does. */
  changeLimit(limit: number): void {
    throttles.get("concurrency")!.update!(this.#inner as Throttle, { limit }, partContextOf({}));
  }

  onChange(callback: () => void): () => void {
    return this.#inner.onChange!(callback);
  }

  snapshot() {
    return this.#inner.snapshot!();
  }
}

/**
 * Carries out {@linkcode STEPS} random steps with three pools that share throttles, and then drains them. Throws if a
 * permit leaks, is granted beyond the limit, or ends twice.
 */
export async function tryPermits(seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const below = (count: number) => Math.floor(random() * count);
  const clock = new HandClock();
  const throws = () => random() < 0.1;
  const all = CONFIGS.map((config) =>
    new Counting(throttles.build(config, { clock }), config.type === "breaker", throws)
  );
  const shared = [...all, createAllOfThrottle(all[0]!, all[4]!)]; // which other pools use directly
  const ends = new Set<() => void>();
  const handler = (_item: number, { charge }: { charge(cost: number): void }) =>
    new Promise<void>((resolve, reject) => {
      const end = () => {
        ends.delete(end);
        if (random() < 0.1) charge(below(5) - 2);
        const draw = random();
        if (draw < 0.6) resolve();
        else reject(draw < 0.8 ? new Error("failed") : new RetryAfterError(below(20)));
      };
      ends.add(end);
    });
  const start = (queue: RateLimitingQueue<number>) =>
    startPool(queue, handler, {
      throttle: shared[below(shared.length)],
      concurrency: 1 + below(4),
      maxAbandoned: below(3),
      timeout: 40,
      onError() {},
      cost: () => below(3),
    });
  const queues = [1, 2, 3].map(() => {
    const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 10 });
    return createRateLimitingQueue<number>(limiter, { clock });
  });
  const pools = queues.map(start);
  const stopped: Pool<number>[] = [];
  for (let step = 0; step < STEPS; step++) {
    const index = below(3);
    const pool = pools[index]!;
    const draw = random();
    if (draw < 0.3) queues[below(3)]!.add(below(30));
    else if (draw < 0.6) [...ends][below(ends.size)]?.();
    else if (draw < 0.8) await clock.advance(below(20));
    else if (draw < 0.84) pool.pause();
    else if (draw < 0.9) pool.resume();
    else if (draw < 0.92) all[0]!.changeLimit(1 + below(4));
    else if (draw < 0.94) pool.change({ throttle: random() < 0.2 ? undefined : shared[below(shared.length)] });
    else if (draw < 0.98) pool.concurrency = 1 + below(5);
    else {
      void pool.stop();
      stopped.push(pool);
      pools[index] = start(queues[index]!);
    }
    await flush();
    const held = Math.max(...all.map((throttle) => throttle.held));
    const running = [...pools, ...stopped].reduce((sum, pool) => sum + pool.active - pool.snapshot().abandoned, 0);
    assert(held <= running, `seed ${seed}, step ${step}: ${held} permits for ${running} attempts`);
  }
  for (const pool of pools) pool.resume();
  const drained = queues.map((queue) => queue.shutDownWithDrain());
  for (let i = 0; i < 300; i++) {
    for (const end of [...ends]) end();
    await clock.advance(20);
    await flush();
  }
  await Promise.all(drained);
  await Promise.all([...pools, ...stopped].map((pool) => pool.finished));
  assertEquals(all.map(({ held, adopted }) => held + adopted), CONFIGS.map(() => 0), `seed ${seed}`);
  assertEquals(all.map((throttle) => throttle.snapshot().inUse), CONFIGS.map(() => 0), `seed ${seed}`);
  assertEquals(clock.timers, 0, `seed ${seed}`);
}
