/**
 * Attempt counts in pools. A pool reads the failures that the queue counts, which are forgotten after the queue's
 * `forgetAfter`.
 */

import { assertEquals } from "@std/assert";
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

const exponential = (clock: HandClock): RateLimiter<string> =>
  createExponentialLimiter({ baseDelay: 100, maxDelay: 100, clock });
const fixed: RateLimiter<string> = { when: () => 100, forget() {}, numRequeues: () => 0 };
const bucket = (clock: HandClock) => createBucketLimiter({ rate: 1e6, burst: 9, clock });

/** Limiters whose delays are 100 ms. */
const LIMITERS: Record<string, (clock: HandClock) => RateLimiter<string>> = {
  "exponential": exponential,
  "max-of with a bucket": (clock) => createMaxOfLimiter<string>(bucket(clock), exponential(clock)),
  "max-of of limiters that count nothing": (clock) => createMaxOfLimiter<string>(bucket(clock), fixed),
  "max-wait": (clock) => createMaxWaitLimiter(exponential(clock), 100),
  "jitter": (clock) => createJitterLimiter(exponential(clock), { spread: 0, random: () => 0 }),
  "per-group": (clock) => createPerGroupLimiter<string>({ groupOf: () => "all", limiter: () => exponential(clock) }),
  "of a config": (clock) =>
    loadConfig({ limiters: { a: { type: "exponential", baseDelay: 100, maxDelay: 100 }, b: "a" } }, { clock })
      .limiter<string>("b"),
  "third-party": () => fixed,
};

/**
 * Returns the attempt numbers of an item that fails three times. The last retry is canceled, and the item is added
 * again `pause` milliseconds after the canceled delay would have ended.
 */
async function attemptsAfter(
  { runWorkers }: Engine,
  makeLimiter: (clock: HandClock) => RateLimiter<string>,
  forgetAfter: string | undefined,
  pause: number,
): Promise<number[]> {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(makeLimiter(clock), { clock, forgetAfter });
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

for (const [name, make] of Object.entries(LIMITERS)) {
  test(`rule 14: pools forget how often an item was tried when the queue does: ${name}`, async (engine) => {
    assertEquals(await attemptsAfter(engine, make, "1h", HOUR - 1), [1, 2, 3, 4]);
    assertEquals(await attemptsAfter(engine, make, "1h", HOUR), [1, 2, 3, 1]);
  });

  test(`rule 14: pools remember how often an item was tried if the queue forgets nothing: ${name}`, async (engine) => {
    assertEquals(await attemptsAfter(engine, make, undefined, 1000 * HOUR), [1, 2, 3, 4]);
  });
}

Deno.test("rule 14: counts of keys that never come again are dropped as other keys come", () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(exponential(clock), { clock, forgetAfter: "1h" });
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
  for (let key = 1000; key < 1500; key++) fail(`${key}`); // each failure drops two expired counts
  clock.time = 0; // at this earlier time, expired counts would be counted if they were still stored
  assertEquals(counts(), 0);
  clock.time = time;
});

/**
 * Lets an item fail three times, changes `forgetAfter` by a reload, and adds the item again `pause` milliseconds later.
 * Returns the queue's count before that add, and the numbers of all attempts.
 */
async function attemptsAfterReload(
  { runWorkers }: Engine,
  before: string | undefined,
  after: string | undefined,
  pause: number,
) {
  const clock = new HandClock();
  const limiter = { type: "exponential", baseDelay: 100, maxDelay: 100 };
  const document = (forgetAfter?: string) => ({ queues: { q: { limiter, forgetAfter } } });
  const config = loadConfig(document(before), { clock });
  const queue = config.queue<string>("q");
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
    [undefined, "1s", HOUR, 3, 4], // an added option is for queues that are created later
    ["1s", "1h", 10_000, 3, 4],
    ["1h", "1s", 1099, 3, 4],
    ["1h", "1s", 1100, 0, 1],
    ["1s", undefined, 1099, 3, 4],
    ["1s", undefined, 1100, 0, 1], // likewise, if the option is removed
  ] as const
) {
  test(`rules 14 and 16: pools count the same failures as the queue ${pause} ms after a reload of forgetAfter from ${before} to ${after}`, async (engine) => {
    assertEquals(await attemptsAfterReload(engine, before, after, pause), [known, [1, 2, 3, attempt]]);
  });
}
