/**
 * Script that prints queues, a pool, a lease and a bucket. The test bundles this program and runs it on every runtime.
 */

import {
  type Clock,
  createDelayingQueue,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  runWorkers,
  TokenBucket,
} from "../../mod.ts";
import "../../lib/inspection/mod.ts";

const clock: Clock = { now: () => 0, setTimeout: () => 0, clearTimeout() {} };
const limiter = createExponentialLimiter<string>({ baseDelay: 4200, maxDelay: 4200 });
const queue = createRateLimitingQueue<string>(limiter, { name: "images", clock });
const bucket = new TokenBucket(5, 10, { clock });
const pool = runWorkers(queue, () => {
  throw new Error("db down");
}, { concurrency: 10, onError() {} });

console.log(createWorkQueue());
console.log(createDelayingQueue({ name: "thumbs" }));
queue.add("a.jpg");
await new Promise((resolve) => setTimeout(resolve));
pool.pause();
await new Promise((resolve) => setTimeout(resolve));
for (let i = 0; i < 5000; i++) queue.addAfter(`${i}`, 60_000);
for (const item of ["b.jpg", "c.jpg"]) queue.add(item);
const lease = queue.tryGet();
bucket.take(7);
bucket.pauseFor("30s");
console.log(queue);
console.log(pool);
console.log(lease);
console.log(bucket);
console.log({ queue, list: [pool] });
