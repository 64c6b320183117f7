/** Runs the suite for `retriesFirst` in memory. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  createRetryBudget,
  type RateLimitingQueueOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { type RetriesFirstOptions, type RetriesFirstSubject, retriesFirstSuite } from "./retries_first_suite.ts";

/** Returns a function that creates a subject in memory with further options. */
function inMemory(more: RateLimitingQueueOptions<string> = {}) {
  return ({ retryBudget, addWhileDelayed }: RetriesFirstOptions): RetriesFirstSubject => {
    const clock = new HandClock(1e9);
    const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
      clock,
      addWhileDelayed,
      retriesFirst: true,
      retryBudget: retryBudget && createRetryBudget(retryBudget),
      ...more,
    });
    return {
      queue,
      clock,
      async advance(ms) {
        await flush();
        for (let left = ms; left > 0; left -= 10) {
          await clock.advance(Math.min(left, 10));
          await flush();
        }
      },
      async [Symbol.asyncDispose]() {
        queue.shutDown();
        await flush();
        assertEquals(clock.timers, 0);
      },
    };
  };
}

retriesFirstSuite("in memory", inMemory());
retriesFirstSuite("in memory with keyOf", inMemory({ keyOf: (item) => item }));
