/**
 * Text form of objects, for consoles and for conversion to strings. By default, a console prints an object's enumerable
 * properties. The objects of this package have no enumerable properties, because their state is private. If an object
 * has a method under a certain registered symbol, the consoles of Deno, Node and Bun print the method's result.
 * Conversion to a string calls `toString`.
 */

import { inspect } from "./errors.ts";

const INSPECT = "nodejs.util.inspect.custom";

/**
 * Makes consoles and string conversion show the objects of a class on one line, as `title: description`.
 *
 * @typeParam T The class.
 * @param prototype The prototype of the class.
 * @param title Returns the title of an object.
 * @param describe Returns the description of an object. If `describe` throws, the line says so.
 */
export function setInspection<T extends object>(
  prototype: T,
  title: (object: T) => string,
  describe: (object: T) => string,
): void {
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
 * @returns The number with commas between thousands, and with at most one decimal place. A number below 1 has two
 * significant digits.
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
 * @returns The length in the largest unit in which the number is at least 1. A length below a second is in whole
 * milliseconds.
 */
export function formatDuration(ms: number): string {
  let length = Math.round(ms);
  for (const [unit, inNext] of UNITS) {
    if (Math.round(length * 10) / 10 < inNext) return `${formatNumber(length)} ${unit}`;
    length /= inNext;
  }
  return `${formatNumber(length)} d`;
}
