import { MAX_TIMEOUT } from "./clock.ts";
import { DURATION_RULE, tryParseDuration } from "./duration.ts";
import { invalidArgument } from "./errors.ts";

/** Whether a value is a duration that a timer can hold. */
export function isTimeout(value: unknown): boolean {
  const ms = tryParseDuration(value);
  return ms !== undefined && ms >= 1 && ms <= MAX_TIMEOUT;
}

/** What {@linkcode isTimeout} asks, in words. */
export function timeoutRule(): string {
  return `${DURATION_RULE} from 1 to ${MAX_TIMEOUT} ms`;
}

/** The milliseconds of a duration. */
export function requireDuration(action: string, option: string, value: unknown): number {
  const ms = tryParseDuration(value);
  if (ms === undefined) throw invalidArgument(action, option, DURATION_RULE, value);
  return ms;
}
