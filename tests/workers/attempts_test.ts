/**
 * Attempt counts in pools. A pool forgets the attempts of a key when the queue's limiter forgets the key, for example
 * because of `forgetAfter`.
 */

import { assert, assertEquals } from "@std/assert";
import {
  createBucketLimiter,
  createExponentialLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  createRateLimitingQueue,
  loadConfig,
  type RateLimiter,
} from "@workqueue/core";
import { type Engine, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, sourceOf } from "../queue_helpers.ts";

const HOUR = 3_600_000;

function exponential(clock: HandClock, forgetAfter?: string): RateLimiter<string> {
  return createExponentialLimiter({ baseDelay: 100, maxDelay: 100, forgetAfter, clock });
}

const fixed: RateLimiter<string> = { when: () => 100, forget() {}, numRequeues: () => 0 };

/** Limiters that forget a key after one hour. */
const forgetting: Record<string, (clock: HandClock) => RateLimiter<string>> = {
  "exponential": (clock) => exponential(clock, "1h"),
  "max-of with a bucket": (clock) =>
    createMaxOfLimiter<string>(createBucketLimiter({ rate: 1e6, burst: 9, clock }), exponential(clock, "1h")),
  "max-of, the longest": (clock) => createMaxOfLimiter<string>(exponential(clock, "1h"), exponential(clock, "1ms")),
  "max-wait": (clock) => createMaxWaitLimiter(exponential(clock, "1h"), 100),
  "jitter": (clock) => createJitterLimiter(exponential(clock, "1h"), { spread: 0, random: () => 0 }),
  "per-group": (clock) =>
    createPerGroupLimiter<string>({ groupOf: () => "all", limiter: () => exponential(clock, "1h") }),
  "of a config": (clock) =>
    loadConfig(
      { limiters: { a: { type: "exponential", baseDelay: 100, maxDelay: 100, forgetAfter: "1h" }, b: "a" } },
      { clock },
    ).limiter<string>("b"),
};

/** Limiters that never forget a key on their own. */
const lasting: Record<string, (clock: HandClock) => RateLimiter<string>> = {
  "exponential": (clock) => exponential(clock),
  "max-of of limiters that count nothing": (clock) =>
    createMaxOfLimiter<string>(createBucketLimiter({ rate: 1e6, burst: 9, clock }), fixed),
  "max-of": (clock) => createMaxOfLimiter<string>(exponential(clock), exponential(clock, "1h")),
  "third-party": () => fixed,
};

/**
 * Returns the attempt numbers of an item that fails three times. The last retry is canceled, and the item is added
 * again `pause` milliseconds after the canceled delay would have ended.
 */
async function attemptsAfter(
  { runWorkers }: Engine,
  limiter: RateLimiter<string>,
  clock: HandClock,
  pause: number,
): Promise<number[]> {
  const queue = createRateLimitingQueue<string>(limiter, { clock });
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempts.length <= 2) throw new Error("no");
    if (attempts.length === 3) throw new Error("no, and never again");
  }, { maxRetries: 5, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(200);
  assertEquals(attempts, [1, 2, 3]);
  queue.cancelDelayed("a");
  await clock.advance(100 + pause);
  queue.add("a");
  await flush();
  await pool.stop();
  queue.shutDown();
  return attempts;
}

for (const [name, make] of Object.entries(forgetting)) {
  test(`rule 14: pools forget how often an item was tried when its limiter does: ${name}`, async (engine) => {
    const [before, after] = [new HandClock(), new HandClock()];
    assertEquals(await attemptsAfter(engine, make(before), before, HOUR - 1), [1, 2, 3, 4]);
    assertEquals(await attemptsAfter(engine, make(after), after, HOUR), [1, 2, 3, 1]);
  });
}

for (const [name, make] of Object.entries(lasting)) {
  test(`rule 14: pools remember how often an item was tried if its limiter forgets nothing: ${name}`, async (engine) => {
    const clock = new HandClock();
    assertEquals(await attemptsAfter(engine, make(clock), clock, 1000 * HOUR), [1, 2, 3, 4]);
  });
}

Deno.test("rule 14: counts of keys that never come again are dropped as others come", () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(exponential(clock, "1h"), { clock });
  const source = sourceOf(queue);
  const counts = () => keys.filter((key) => source.isFailing!(key, key)).length;
  const keys = Array.from({ length: 1000 }, (_, i) => `${i}`);
  const fail = (key: string) => {
    queue.add(key);
    const lease = source.tryTake()!;
    source.finish({ lease, key, number: 1 }, { kind: "failed", error: "no", minDelay: 0 }, () => {});
    lease[Symbol.dispose]();
    queue.cancelDelayed(key);
  };
  keys.forEach(fail);
  assertEquals(counts(), 1000);
  const time = clock.time += HOUR + 100;
  for (let key = 1000; key < 2000; key++) fail(`${key}`);
  clock.time = 0; // at this earlier time, expired counts would be counted if they were still stored
  assert(counts() <= 10, `${counts()} are left`);
  clock.time = time;
});

/**
 * Lets an item fail three times, changes `forgetAfter` by a reload, and adds the item again `pause` milliseconds later.
 * Returns the limiter's count before that add, and the numbers of all attempts.
 */
async function attemptsAfterReload(
  { runWorkers }: Engine,
  before: string | undefined,
  after: string | undefined,
  pause: number,
) {
  const clock = new HandClock();
  const document = (forgetAfter?: string) => ({
    limiters: { a: { type: "exponential", baseDelay: 100, maxDelay: 100, ...(forgetAfter && { forgetAfter }) } },
  });
  const config = loadConfig(document(before), { clock });
  const queue = createRateLimitingQueue<string>(config.limiter("a"), { clock });
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    if (attempts.length <= 3) throw new Error("no");
  }, { maxRetries: 9, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(200);
  queue.cancelDelayed("a");
  config.reload(document(after));
  await clock.advance(pause);
  const known = queue.numRequeues("a");
  queue.add("a");
  await flush();
  await pool.stop();
  queue.shutDown();
  return [known, attempts];
}

for (
  const [before, after, pause, known, attempt] of [
    [undefined, "1s", HOUR, 0, 1],
    [undefined, "1s", 1000, 3, 4],
    ["1s", "1h", 10_000, 3, 4],
    ["1h", "1s", 10_000, 0, 1],
    ["1s", undefined, HOUR, 3, 4],
  ] as const
) {
  test(`rules 14 and 16: pools count as the limiter does after a reload of forgetAfter from ${before} to ${after}`, async (engine) => {
    assertEquals(await attemptsAfterReload(engine, before, after, pause), [known, [1, 2, 3, attempt]]);
  });
}
