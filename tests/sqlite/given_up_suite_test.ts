/** Runs the suite for queues with given-up items on a file, under a clock that the tests set. */

import { givenUpSuite } from "../contracts/given_up_suite.ts";
import { TimedQueues } from "./timed_queue.ts";

const BACKOFF = { type: "exponential", baseDelay: 10, maxDelay: 10 } as const;

givenUpSuite("in a file", async ({ keepGivenUp, hasGroups, ignoresEarly }) => {
  const queues = new TimedQueues();
  const queue = queues.open("given-up", {
    limiter: ignoresEarly ? { type: "ignore-early", limiter: BACKOFF } : BACKOFF,
    keyOf: (item) => item,
    retryBudget: { ratio: 1, minRate: 1000 },
    onQueueError() {},
    keepGivenUp,
    ...hasGroups && { discipline: { type: "fair", separator: "/" } },
  });
  await queues.settle();
  return {
    queue,
    clock: queues.clock,
    lateness: 20,
    // Each call takes some microseconds of the queue's time, so a little more time must pass.
    async advance(ms) {
      await queues.advance(ms + 3);
      if (ms > 0) await queue.redriveProgress();
    },
    async [Symbol.asyncDispose]() {
      await queue.shutDownWithDrain();
      await queues[Symbol.asyncDispose]();
    },
  };
});
