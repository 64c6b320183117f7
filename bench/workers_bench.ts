/** Benchmarks of `runWorkers`, compared with calling the handler without a queue. */

import {
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type Handler,
  runWorkers,
  type Throttle,
  TokenBucket,
} from "@workqueue/core";
import { distinctKeys } from "./keys.ts";

const KEYS = distinctKeys(100_000);

async function run(handler: Handler<string>, throttle?: Throttle | TokenBucket): Promise<void> {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
  for (const key of KEYS) queue.add(key);
  const pool = runWorkers(queue, handler, { concurrency: 10, throttle });
  queue.shutDown();
  await pool.finished;
}

const asynchronous = async () => {};

Deno.bench("ten loops over an array", { group: "a handler that is async", baseline: true }, async () => {
  let next = 0;
  await Promise.all(Array.from({ length: 10 }, async () => {
    while (next++ < KEYS.length) await asynchronous();
  }));
});

Deno.bench("runWorkers", { group: "a handler that is async" }, () => run(asynchronous));

Deno.bench(
  "runWorkers, the handler reads its signal",
  { group: "a handler that is async" },
  () =>
    run(async (_item, { signal }) => {
      await signal.aborted;
    }),
);

Deno.bench("runWorkers", { group: "a handler that is not" }, () => run(() => {}));

// These throttles always grant a permit, so that only their cost is measured.
Deno.bench(
  "runWorkers with a bucket",
  { group: "a handler that is not" },
  () => run(() => {}, new TokenBucket(1e9, 1e9)),
);
Deno.bench(
  "runWorkers with a concurrency throttle",
  { group: "a handler that is not" },
  () => run(() => {}, createConcurrencyThrottle({ limit: 10 })),
);
