/** Runs the suite for queues with given-up items on Redis, under a clock that the tests set. */

import type { RemoteQueueOptions } from "@workqueue/engine";
import { givenUpSuite, type KeepingSubject, type KeepingSubjectOptions } from "../contracts/given_up_suite.ts";
import { REDIS_URL, uniqueName } from "./redis_tests.ts";
import { TimedQueues } from "./timed_queue.ts";

const BACKOFF = { type: "exponential", baseDelay: 10, maxDelay: 10 } as const;

/** Returns a function that creates a subject with further options. */
function onRedis(more: RemoteQueueOptions = {}) {
  return async ({ keepGivenUp, hasGroups, ignoresEarly }: KeepingSubjectOptions): Promise<KeepingSubject> => {
    const queues = await TimedQueues.connect(REDIS_URL!);
    const queue = queues.open(uniqueName("given-up"), {
      limiter: ignoresEarly ? { type: "ignore-early", limiter: BACKOFF } : BACKOFF,
      onQueueError() {},
      keepGivenUp,
      ...hasGroups && { discipline: { type: "fair", separator: "/" } },
      ...more,
    });
    return {
      queue,
      clock: queues.clock,
      lateness: 20,
      // Each call takes some microseconds of the queue's time, so a little more time must pass.
      async advance(ms) {
        await queues.advance(ms + 1);
        if (ms > 0) await queue.redriveProgress();
      },
      async [Symbol.asyncDispose]() {
        await queue.shutDownWithDrain();
        await queues[Symbol.asyncDispose]();
      },
    };
  };
}

if (REDIS_URL !== undefined) {
  givenUpSuite("on Redis", onRedis());
  givenUpSuite("on Redis with keyOf", onRedis({ keyOf: (item) => item }));
  givenUpSuite("on Redis with a retry budget", onRedis({ retryBudget: { ratio: 1, minRate: 1000 } }));
}
