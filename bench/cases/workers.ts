import {
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  type Handler,
  runWorkers,
  type Throttle,
  TokenBucket,
} from "@workqueue/core";
import type { Case, Groups } from "./case.ts";

const pool = (handler: Handler<string>, createThrottle?: () => Throttle | TokenBucket): Case => (keys) => async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
  for (const key of keys) queue.add(key);
  const { finished } = runWorkers(queue, handler, { concurrency: 10, throttle: createThrottle?.() });
  queue.shutDown();
  await finished;
};

const asynchronous = async () => {};
const synchronous = () => {};

/** Cases of `runWorkers`, compared with calling the handler without a queue. */
export const workerCases: Groups = {
  "a handler that is async": {
    "ten loops over an array": ({ length }) => async () => {
      let next = 0;
      await Promise.all(Array.from({ length: 10 }, async () => {
        while (next++ < length) await asynchronous();
      }));
    },
    "runWorkers": pool(asynchronous),
    "runWorkers, the handler reads its signal": pool(async (_item, { signal }) => {
      await signal.aborted;
    }),
  },
  "a handler that is not": {
    "runWorkers": pool(synchronous),
    // These throttles always grant a permit, so that only their cost is measured.
    "runWorkers with a bucket": pool(synchronous, () => new TokenBucket(1e9, 1e9)),
    "runWorkers with a concurrency throttle": pool(synchronous, () => createConcurrencyThrottle({ limit: 10 })),
  },
};
