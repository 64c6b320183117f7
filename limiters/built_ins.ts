/**
 * The limiters that come with this module, registered as anybody's own are.
 *
 * @module
 */

import { bucketLimiter } from "./bucket.ts";
import { exponentialLimiter } from "./exponential.ts";
import { fastSlowLimiter } from "./fast_slow.ts";
import { maxOfLimiter } from "./max_of.ts";
import { maxWaitLimiter } from "./max_wait.ts";
import { LimiterRegistry } from "./registry.ts";

/** The default registry: `bucket`, `exponential`, `fast-slow`, `max-of` and `max-wait`. */
export const limiters: LimiterRegistry = new LimiterRegistry()
  .register(bucketLimiter)
  .register(exponentialLimiter)
  .register(fastSlowLimiter)
  .register(maxOfLimiter)
  .register(maxWaitLimiter);
