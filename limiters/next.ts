import type { NOT_COUNTED } from "../lib/base/brands.ts";
import type { FailedAttempt, RateLimiter } from "../lib/contracts/rate_limiter.ts";

/** Returns the delay of a limiter that another one combines. A limiter without `next` counts the failure itself. */
export function nextOf(
  limiter: RateLimiter,
  failures: number,
  item: unknown,
  key: unknown,
  retry: FailedAttempt,
): number | typeof NOT_COUNTED {
  return limiter.next === undefined ? limiter.when(item, key, retry) : limiter.next(failures, item, key, retry);
}

/** Tells a limiter that another one combines that a queue has forgotten an item. */
export function tellForgotten(limiter: RateLimiter, item: unknown, key: unknown): void {
  if (limiter.next === undefined) limiter.forget(item, key);
  else limiter.forgotten?.(item, key);
}
