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
import { LimiterRegistry } from "../registry/registry.ts";

/** The default registry: `bucket`, `exponential`, `fast-slow`, `max-of` and `max-wait`. */
export const limiters: LimiterRegistry = /* @__PURE__ */ builtIns(); // left out of a bundle that does not use it

function builtIns(): LimiterRegistry {
  return new LimiterRegistry()
    .register(bucketLimiter)
    .register(exponentialLimiter)
    .register(fastSlowLimiter)
    .register(maxOfLimiter)
    .register(maxWaitLimiter);
}
