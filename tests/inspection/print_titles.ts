/** Script that prints queues and pools as parts of texts, in a program without `@workqueue/core/inspect`. */

import {
  createDelayingQueue,
  createExponentialLimiter,
  createGivenUpStore,
  createRateLimitingQueue,
  createWorkQueue,
  runWorkers,
} from "../../mod.ts";

const limiter = createExponentialLimiter({ baseDelay: 4200, maxDelay: 4200 });
const queue = createRateLimitingQueue(limiter, { name: "images", keepGivenUp: createGivenUpStore({ max: 10 }) });
const unnamed = createRateLimitingQueue(limiter);

console.log(`${createWorkQueue()}, ${createWorkQueue({ name: "odd\n" })}, ${createDelayingQueue()}`);
console.log(`${queue}, ${unnamed}, ${runWorkers(queue, () => {})}, ${runWorkers(unnamed, () => {})}`);
