/** Runs the suite for `retriesFirst` on Redis, under a clock that the tests set. */

import { retriesFirstSuite } from "../contracts/retries_first_suite.ts";
import { REDIS_URL, uniqueName } from "./redis_tests.ts";
import { TimedQueues } from "./timed_queue.ts";

if (REDIS_URL !== undefined) {
  retriesFirstSuite("on Redis", async (options) => {
    const queues = await TimedQueues.connect(REDIS_URL!);
    const queue = queues.open(uniqueName("retries"), {
      limiter: { type: "exponential", baseDelay: 10, maxDelay: 10 },
      retriesFirst: true,
      ...options,
    });
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
}
