/** Script that runs 400,000 keys through one queue. The script prints the heap growth in bytes. */

import {
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createRateLimitingQueue,
  InMemoryMetrics,
  runWorkers,
} from "../../../mod.ts";
import { growthSince, heapUsed } from "./collect.ts";

const BATCHES = 40;
const KEYS_A_BATCH = 10_000;

let now = 0;
const clock = {
  now: () => now,
  timers: new Set<() => void>(),
  setTimeout(callback: () => void): () => void {
    this.timers.add(callback);
    return callback;
  },
  clearTimeout(callback: unknown): void {
    this.timers.delete(callback as () => void);
  },
  pass(ms: number): void {
    now += ms;
    for (const callback of [...this.timers]) {
      this.timers.delete(callback);
      callback();
    }
  },
};

interface Item {
  readonly key: string;
}

const limiter = createMaxOfLimiter<Item>(
  createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 }),
  createDefaultControllerLimiter({ clock }),
);
const queue = createRateLimitingQueue<Item>(limiter, {
  name: "q",
  clock,
  keyOf: ({ key }) => key,
  metrics: new InMemoryMetrics(),
});

/**
 * Runs keys through the queue in every way: some keys are added directly, after a delay or with rate limiting, some
 * fail once in a pool, and some are handed to a pending `get`. Also aborts pending calls to `get`. Returns the number
 * of handled items.
 */
async function pushBatch(batch: number): Promise<number> {
  let handled = 0;
  for (let i = 0; i < KEYS_A_BATCH; i++) {
    const item = () => ({ key: `${batch}/${i}` });
    if (i % 2 === 0) queue.addAfter(item(), i % 7);
    if (i % 3 === 0) queue.add(item());
    queue.addRateLimited(item());
  }
  const failOnce = runWorkers(queue, (_item, { attempt }) => {
    if (attempt === 1) throw "not yet"; // throws a string, because creating an error would take too long
    handled++;
  }, { onError() {} });
  const controller = new AbortController();
  while (queue.length + queue.delayed + failOnce.active > 0) {
    clock.pass(1e6);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await failOnce.stop();
  const waits = Array.from({ length: 100 }, () => queue.get({ signal: controller.signal }).catch(() => {}));
  controller.abort();
  await Promise.all(waits);
  for (let i = 0; i < KEYS_A_BATCH; i += 10) {
    const waiter = queue.get();
    queue.add({ key: `waited/${batch}/${i}` });
    const { item } = await waiter;
    queue.addRateLimited(item!);
    queue.forget(item!);
    queue.done(item!);
  }
  while (queue.delayed > 0) clock.pass(1e6);
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) lease[Symbol.dispose]();
  return handled;
}

await pushBatch(-1); // warm-up, because one-time allocations are not leaks
const before = await heapUsed();
let handled = 0;
for (let batch = 0; batch < BATCHES; batch++) handled += await pushBatch(batch);
const growth = await growthSince(before);
console.log(handled);
console.log(growth);
console.log(queue.length + queue.delayed); // keeps the queue alive until here
