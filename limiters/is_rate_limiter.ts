import { hasMethods } from "../lib/base/arguments.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/** Whether a value has a rate limiter's methods. */
export function isRateLimiter(value: unknown): value is RateLimiter {
  return hasMethods(value, "when", "forget", "numRequeues");
}
