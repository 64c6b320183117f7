import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/** Whether a limiter says that it is at rest. One that cannot tell is not. */
export function isAtRest(limiter: RateLimiter): boolean {
  return limiter.atRest?.() === true;
}
