/**
 * Output of objects in consoles and strings. A console prints enumerable properties, and the objects of this package
 * have none, because their state is private. Deno, Node and Bun first call a method under a registered symbol.
 * Conversion to a string calls `toString`.
 */

import { inspect } from "./errors.ts";

const INSPECT = "nodejs.util.inspect.custom";

/**
 * Makes consoles and string conversion show the objects of a class in one line, as `title: description`. Call it in the
 * constructor of a class that bundlers should remove if nothing uses it, and in a static block of any other class.
 *
 * @typeParam T The class.
 * @param prototype The prototype of the class.
 * @param title Returns the title of an object.
 * @param describe Returns the description of an object. If it throws, the line says so.
 */
export function setInspection<T extends object>(
  prototype: T,
  title: (object: T) => string,
  describe: (object: T) => string,
): void {
  if (Object.hasOwn(prototype, "toString")) return;
  const method = {
    __proto__: null, // no inherited `get`
    value(this: T): string {
      const description = attempt(() => describe(this), "cannot be described, as something in it throws");
      return `${attempt(() => title(this), "An object")}: ${description}`;
    },
  } as PropertyDescriptor;
  Object.defineProperty(prototype, "toString", method);
  Object.defineProperty(prototype, Symbol.for(INSPECT), method);
}

function attempt(action: () => string, otherwise: string): string {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

/** Returns the title of an object: its type, and its name if it has one. */
export function titleOf(type: string, name: string | undefined): string {
  return name ? `${type} ${inspect(name)}` : type;
}

/**
 * Formats a number for people: `4,820`, `3.2` or `0.017`.
 *
 * @param number The number.
 * @returns The number with commas between thousands, and with at most one decimal place, or two significant digits
 * below 1.
 */
export function formatNumber(number: number): string {
  const rounded = Math.abs(number) < 1 ? Number(number.toPrecision(2)) : Math.round(number * 10) / 10;
  return String(rounded).replace(/\B(?=(\d{3})+(\.|$))/g, ",");
}

const UNITS: readonly (readonly [unit: string, inNext: number])[] = [["ms", 1000], ["s", 60], ["min", 60], ["h", 24]];

/**
 * Formats a length of time for people: `80 ms`, `4.2 s` or `3 min`.
 *
 * @param ms The length in milliseconds.
 * @returns The length in the largest unit in which it is at least 1; in whole milliseconds below a second.
 */
export function formatDuration(ms: number): string {
  let length = Math.round(ms);
  for (const [unit, inNext] of UNITS) {
    if (Math.round(length * 10) / 10 < inNext) return `${formatNumber(length)} ${unit}`;
    length /= inNext;
  }
  return `${formatNumber(length)} d`;
}
