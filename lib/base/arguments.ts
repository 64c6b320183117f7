import { MAX_TIMEOUT } from "./clock.ts";
import { DURATION_RULE, tryParseDuration } from "./duration.ts";
import { inspect, invalidArgument } from "./errors.ts";
import { suggest } from "./suggest.ts";

/** Whether a value is an object with all of these methods. */
export function hasMethods(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function");
}

/**
 * Refuses what are no options: anything but an object, and an object with an option that is not among those known.
 * What is undefined counts as left out, and symbols are ignored.
 */
export function requireOptions(action: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options) || isSignal(options)) {
    throw invalidArgument(action, "options", "must be an object", options);
  }
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !known.includes(option)) {
      throw new TypeError(`Cannot ${action} as ${inspect(option)} is not an option here${suggest(option, known)}`);
    }
  }
}

/** Refuses anything but a whole number from `min` on. */
export function requireInteger(action: string, option: string, value: unknown, min: 0 | 1): void {
  if (!Number.isSafeInteger(value) || (value as number) < min) {
    throw invalidArgument(action, option, `must be a ${min === 0 ? "non-negative" : "positive"} integer`, value);
  }
}

/** Refuses what is given and is no function. */
export function requireCallback(action: string, option: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") {
    throw invalidArgument(action, option, "must be a function", value);
  }
}

/** Refuses what is given and is no clock. */
export function requireClock(action: string, value: unknown): void {
  if (value !== undefined && !hasMethods(value, "now", "setTimeout", "clearTimeout")) {
    throw invalidArgument(action, "clock", "must be a clock", value);
  }
}

/** Refuses what is given and is no `AbortSignal`. */
export function requireSignal(action: string, value: unknown): void {
  if (value !== undefined && !isSignal(value)) {
    throw invalidArgument(action, "signal", "must be an AbortSignal", value);
  }
}

/** The signal of the options of a call that takes nothing else. A call in a hot path: options are looked through only without one. */
export function signalOf(action: string, options: { signal?: AbortSignal | undefined }): AbortSignal | undefined {
  const signal = (options as typeof options | null)?.signal;
  if (signal === undefined) requireOptions(action, options, ["signal"]);
  requireSignal(action, signal);
  return signal;
}

function isSignal(value: unknown): boolean {
  return hasMethods(value, "addEventListener", "removeEventListener");
}

/** The milliseconds of a duration that a timer can hold: from 1 to 2^31 - 1. */
export function requireTimeout(action: string, option: string, value: unknown): number {
  const ms = tryParseDuration(value);
  if (ms !== undefined && ms >= 1 && ms <= MAX_TIMEOUT) return ms;
  throw invalidArgument(action, option, `${DURATION_RULE} from 1 to ${MAX_TIMEOUT} ms`, value);
}

/** The milliseconds of a duration. */
export function requireDuration(action: string, option: string, value: unknown): number {
  const ms = tryParseDuration(value);
  if (ms === undefined) throw invalidArgument(action, option, DURATION_RULE, value);
  return ms;
}
