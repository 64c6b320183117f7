/** Checks of the arguments of queues that keep given-up items: in memory, and outside the process. */

import { A_NON_NEGATIVE_INTEGER, A_POSITIVE_INTEGER, A_STRING, type Rule } from "./arguments.ts";
import { type Duration, parseDuration, tryParseDuration } from "./duration.ts";
import { argumentError } from "./errors.ts";

/** Words for calls of `givenUp` in messages. */
export const LIST_GIVEN_UP = "list given-up items";
/** Words for calls of `redrive`. */
export const REDRIVE = "redrive items";
/** Words for calls of `discard`. */
export const DISCARD = "discard items";

/** Maximum number of items on a page. */
const MAX_LIMIT = 1000;

/** Rule for the length of a page, and of a list of a queue outside the process. */
export const A_LIMIT: Rule = [
  (value: unknown) => A_NON_NEGATIVE_INTEGER[0](value as never) && (value as number) <= MAX_LIMIT,
  "must be an integer from 0 to 1000", // a literal, because bundlers keep computed texts that nothing uses
];
const A_CURSOR: Rule = [(value: string) => /^\d{1,16}(-\d{1,9})?$/.test(value), "must be the 'cursor' of a page"];
const A_LIST: Rule = [Array.isArray, "must be a list of keys"];
const A_RATE: Rule = [(value: unknown) => Number.isFinite(value) && (value as number) > 0, "must be a positive number"];

/** Rules for the options of `givenUp`. */
export const LIST_OPTIONS = { search: A_STRING, limit: A_LIMIT, cursor: A_CURSOR };
/** Rules for the options of `discard`. */
export const SELECTION_OPTIONS = { search: A_STRING, keys: A_LIST };
/** Rules for the options of `redrive`. There is no spread, because a spread stays in bundles that don't need it. */
export const REDRIVE_OPTIONS = { search: A_STRING, keys: A_LIST, rate: A_RATE };

/** Returns the error of a redrive while another one is running. */
export function redriveRuns(): Error {
  const reason = "a redrive of this queue is running; wait until it ends, or call stopRedrive()";
  return argumentError(REDRIVE, reason, Error);
}

/** Rule for the maximum age of given-up items. */
export const A_MAX_AGE: Rule = [isMaxAge, "must be a duration of at least 1 ms"];

function isMaxAge(value: unknown): boolean {
  return (tryParseDuration(value) ?? 0) >= 1;
}

/** Rule for the option `keepGivenUp` of queues outside the process. */
export const A_RETENTION: Rule = [
  isRetention,
  "must be a positive integer, or an object with a positive integer 'max' and a 'maxAge'",
];

function isRetention(value: unknown): boolean {
  const [isPositiveInteger] = A_POSITIVE_INTEGER as readonly [(value: unknown) => boolean, string];
  if (typeof value !== "object" || value === null) return isPositiveInteger(value);
  const { max, maxAge, ...others } = value as { max?: unknown; maxAge?: unknown };
  const isAge = maxAge === undefined || isMaxAge(maxAge);
  return isPositiveInteger(max) && isAge && Object.keys(others).length === 0;
}

/** Returns the maximum number of given-up items, and their maximum age in milliseconds. */
export function limitsOf(
  retention: number | { readonly max: number; readonly maxAge?: Duration | undefined },
): { max: number; maxAge: number } {
  if (typeof retention === "number") return { max: retention, maxAge: Infinity };
  const { max, maxAge } = retention;
  return { max, maxAge: maxAge === undefined ? Infinity : parseDuration(maxAge) };
}
