import { THROTTLE } from "../base/brands.ts";
import type { OwnThrottle, Throttle } from "../contracts/throttle.ts";
import type { TokenSource } from "../contracts/token_source.ts";

/** Returns the throttle of a token bucket, possibly of another copy of this package, and any other throttle itself. */
export function throttleOf(throttle: Throttle | TokenSource): OwnThrottle {
  return (throttle as { [THROTTLE]?: () => OwnThrottle })[THROTTLE]?.() ?? throttle as Throttle;
}
