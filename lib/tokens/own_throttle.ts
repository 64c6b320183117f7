import { THROTTLE } from "../base/brands.ts";
import type { AttemptResult, OwnThrottle, Permit, Throttle } from "../contracts/throttle.ts";

/** Result of a permit for which no attempt was made. */
export const UNUSED: AttemptResult = { outcome: "unused", durationMs: 0 };

/** Returns the throttle of a token bucket, possibly of another copy of this package, and any other throttle itself. */
export function throttleOf(throttle: Throttle): OwnThrottle {
  return (throttle as { [THROTTLE]?: () => OwnThrottle })[THROTTLE]?.() ?? throttle;
}

/** Ends all permits, even if a third-party throttle throws. Then throws the first error. */
export function endAll(permits: Iterable<Permit>, result: AttemptResult): void {
  const errors: unknown[] = [];
  for (const permit of permits) {
    try {
      permit.end(result);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
