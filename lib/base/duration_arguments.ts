import type { Rule } from "./arguments.ts";
import { MAX_TIMEOUT } from "./clock.ts";
import { DURATION_RULE, tryParseDuration } from "./duration.ts";
import { invalidArgument } from "./errors.ts";

/** Returns the rule for a duration that timers support: from 1 ms to 2^31 - 1 ms. */
export function timeoutRule(): Rule {
  return [isTimeout, `${DURATION_RULE} from 1 to ${MAX_TIMEOUT} ms`];
}

function isTimeout(value: unknown): boolean {
  const ms = tryParseDuration(value);
  return ms !== undefined && ms >= 1 && ms <= MAX_TIMEOUT;
}

/**
 * Converts a duration to milliseconds.
 *
 * @throws {TypeError} If `value` is neither a duration nor a number.
 * @throws {RangeError} If `value` is `NaN` or infinite.
 */
export function requireDuration(action: string, option: string, value: unknown): number {
  const ms = tryParseDuration(value);
  if (ms === undefined) throw invalidArgument(action, option, DURATION_RULE, value);
  return ms;
}
