/** Benchmarks of `runWorkers`, compared with calling the handler without a queue. */

import { createExponentialLimiter, createRateLimitingQueue, type Handler, runWorkers } from "@workqueue/core";
import { distinctKeys } from "./keys.ts";

const KEYS = distinctKeys(100_000);

async function run(handler: Handler<string>): Promise<void> {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
  for (const key of KEYS) queue.add(key);
  const pool = runWorkers(queue, handler, { concurrency: 10 });
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
