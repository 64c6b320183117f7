/** Runs the suite for `retriesFirst` on a file, under a clock that the tests set. */

import { retriesFirstSuite } from "../contracts/retries_first_suite.ts";
import { TimedQueues } from "./timed_queue.ts";

retriesFirstSuite("in a file", async (options) => {
  const queues = new TimedQueues();
  const queue = queues.open("retries", {
    limiter: { type: "exponential", baseDelay: 10, maxDelay: 10 },
    retriesFirst: true,
    ...options,
  });
  await queues.settle();
  return {
    queue,
    clock: queues.clock,
    advance: (ms) => queues.advance(ms + 1), // each call takes some microseconds of the queue's time
    async [Symbol.asyncDispose]() {
      await queue.shutDownWithDrain();
      await queues[Symbol.asyncDispose]();
    },
  };
});
