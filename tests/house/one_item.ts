/**
 * Program for `calls_test.ts`: items go one after the other through a queue and a pool. Each is added, fails once, is
 * delayed, retried and done. Arguments: `plain` or `whole`, and the number of items.
 */

import { delay } from "@std/async";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createGivenUpStore,
  createIgnoreEarlyLimiter,
  createRateLimitingQueue,
  createRetryBudget,
  type RateLimitingQueueOptions,
  runWorkers,
} from "@workqueue/core";
import { createConcurrencyThrottle } from "@workqueue/core/throttles";
import process from "node:process";

const [, , kind, count] = process.argv;
const isWhole = kind === "whole";
const exponential = createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1 });
const options: RateLimitingQueueOptions<string> = {
  discipline: createFairDiscipline<string>({ separator: "/" }),
  addWhileDelayed: "fold",
  retryBudget: createRetryBudget({ ratio: 1, minRate: 1000 }),
  keepGivenUp: createGivenUpStore({ max: 10 }),
};
const queue = isWhole
  ? createRateLimitingQueue(createIgnoreEarlyLimiter(exponential), options)
  : createRateLimitingQueue(exponential);
const failed = new Set<string>();
let finished = Promise.withResolvers<void>();
runWorkers(queue, async (item) => {
  await Promise.resolve();
  if (failed.has(item)) return finished.resolve();
  failed.add(item);
  throw new Error("once");
}, {
  onError() {},
  maxRetries: 3,
  ...isWhole && { throttle: createConcurrencyThrottle({ limit: 100 }) },
});
for (let i = 1; i <= Number(count); i++) {
  queue.add(`group/${i}`);
  await finished.promise;
  finished = Promise.withResolvers();
  await delay(5); // until the pool waits for the next item
}
queue.shutDown();
