/**
 * Script in which many keys fail, whose counts expire soon. For each limiter and for a queue, the script prints the
 * bytes in use when these have become steady, and after more than twice as many keys.
 */

import process from "node:process";
import {
  createExponentialLimiter,
  createGivenUpStore,
  createIgnoreEarlyLimiter,
  createRateLimitingQueue,
  type RateLimiter,
  runWorkers,
} from "../../../mod.ts";
import { collectLater, heapUsed } from "./collect.ts";

/** Number of keys whose counts have not expired. More than a `Map` has before a map of many keys is divided. */
const UNEXPIRED = 70_000;

let now = 0;
const clock = { now: () => now, setTimeout: () => 0, clearTimeout() {} };
const forgetAfter = UNEXPIRED / 1000 - 5;
const exponential = () => createExponentialLimiter({ baseDelay: 5, maxDelay: 5, forgetAfter, clock });

const limiters: Record<string, () => RateLimiter<string>> = {
  "exponential": exponential,
  "ignore-early": () => createIgnoreEarlyLimiter(exponential(), { forgetAfter, clock }),
};

let keys = 0;

/** Lets new keys fail, 1,000 in each millisecond. Every second key succeeds soon afterwards. */
async function fail(when: (key: string) => unknown, forget: (key: string) => void, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const failed = when(`key ${++keys}`);
    if (failed instanceof Promise) await failed;
    if (keys % 2 === 0) forget(`key ${keys}`);
    if (keys % 1000 === 0) now++;
  }
}

/** Prints the bytes in use after many keys, and after more than twice as many. */
async function measure(
  name: string,
  when: (key: string) => unknown,
  forget: (key: string) => void,
): Promise<void> {
  await fail(when, forget, 4 * UNEXPIRED);
  await collectLater();
  const before = process.memoryUsage().heapUsed;
  await fail(when, forget, 6 * UNEXPIRED);
  console.log(`${name}: ${before} ${await heapUsed(1.5 * before)}`);
}

for (const [name, create] of Object.entries(limiters)) {
  const limiter = create();
  await measure(name, (key) => limiter.when(key), (key) => limiter.forget(key));
}

const limiter = createExponentialLimiter<string>({ baseDelay: 5, maxDelay: 5 });
const queue = createRateLimitingQueue<string>(limiter, {
  clock,
  keepGivenUp: createGivenUpStore({ max: 10 }),
  forgetAfter,
});
let onFailed = (): void => {};
const down = new Error("down"); // one error for all keys, because creating an error takes longer than an attempt
runWorkers(queue, () => {
  throw down;
}, { clock, onError: () => onFailed() });
await measure("queue", async (key) => {
  const failed = new Promise<void>((resolve) => onFailed = resolve);
  queue.add(key);
  await failed;
  queue.cancelDelayed(key); // the key is deleted
}, (key) => queue.forget(key));
