/**
 * Durations as people write them: `"1h30m"`, `"250ms"`.
 *
 * @module
 */

import { invalidArgument } from "./errors.ts";

/**
 * Length of time: a number of milliseconds, or a string such as `"5ms"` or `"1h30m"` (see {@linkcode parseDuration}).
 */
export type Duration = number | string;

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "µs": 1e3, // U+00B5, the micro sign
  "μs": 1e3, // U+03BC, the Greek letter
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Pattern of a duration string. */
export const DURATION: RegExp = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const NUMBER_AND_UNIT = /([\d.]+)([^\d.]+)/g; // each part of a duration string

/** Rule for the argument of {@linkcode parseDuration}, in the words that messages use. */
export const DURATION_RULE = `must be a duration such as "250ms", "1h30m" or a number of milliseconds`;

/** Maximum length of a duration string, in characters. Nobody writes a longer string by hand. */
export const MAX_DURATION_LENGTH = 100;

/** Converts a duration to milliseconds. Returns `undefined` if the value is not a duration. */
export function tryParseDuration(text: unknown): number | undefined {
  if (typeof text === "number") return Number.isFinite(text) ? text : undefined;
  if (typeof text !== "string" || text.length > MAX_DURATION_LENGTH || !DURATION.test(text)) return undefined;
  let ns = 0;
  for (const [, number, unit] of text.matchAll(NUMBER_AND_UNIT)) {
    ns += wholeNumber(Number(number) * NANOSECONDS[unit!]!);
  }
  return (text.startsWith("-") ? -ns : ns) / 1e6;
}

/**
 * Drops any fraction of a nanosecond, as Go does. Rounds to 15 digits first, because the binary value of 1.001 × 10^9
 * is slightly too small and would lose a nanosecond.
 */
function wholeNumber(product: number): number {
  return Number.isInteger(product) ? product : Math.trunc(Number(product.toPrecision(15)));
}

/**
 * Converts a duration to milliseconds.
 *
 * A string is one or more decimal numbers, each with a unit, as in Go's
 * [`time.ParseDuration`](https://pkg.go.dev/time#ParseDuration). The units are `h`, `m`, `s`, `ms`, `us` (or `µs`) and
 * `ns`, in any order. The string may begin with a sign. `"0"` needs no unit. Fractions of a nanosecond are dropped. A
 * number is already in milliseconds.
 *
 * @example Usage
 * ```ts
 * import { parseDuration } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseDuration("1h2m3.5s"), 3_723_500);
 * assertEquals(parseDuration("5us"), 0.005);
 * assertEquals(parseDuration(250), 250);
 * ```
 *
 * @param text The duration.
 * @returns The duration in milliseconds.
 * @throws {TypeError} If `text` is neither a duration nor a number, or has more than 100 characters.
 * @throws {RangeError} If `text` is `NaN` or infinite.
 */
export function parseDuration(text: string | number): number {
  const ms = tryParseDuration(text);
  if (ms === undefined) throw invalidArgument("parse duration", "text", DURATION_RULE, text);
  return ms;
}
