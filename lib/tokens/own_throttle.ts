import { THROTTLE } from "../base/brands.ts";
import type { AttemptResult, OwnThrottle, Throttle } from "../contracts/throttle.ts";

/** Result of a permit for which no attempt was made. */
export const UNUSED: AttemptResult = { outcome: "unused", durationMs: 0 };

/** Returns the throttle of a token bucket, possibly of another copy of this package, and any other throttle itself. */
export function throttleOf(throttle: Throttle): OwnThrottle {
  return (throttle as { [THROTTLE]?: () => OwnThrottle })[THROTTLE]?.() ?? throttle;
}
