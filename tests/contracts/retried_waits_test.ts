/** Runs the suite for calls whose items are retried by hand in memory. */

import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
import { retriedWaitsSuite } from "./retried_waits_suite.ts";

retriedWaitsSuite((name, run) => {
  Deno.test(`in memory: ${name}`, () => {
    return run(createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 })));
  });
});
