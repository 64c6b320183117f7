/**
 * How objects are printed. A console prints what is enumerable: of ours, an empty object, as everything is private.
 * Deno, Node and Bun all ask an object first what to print, by a method under a registered symbol. Texts ask by
 * `toString`.
 */

import { inspect } from "./errors.ts";

const INSPECT = "nodejs.util.inspect.custom";

/**
 * Has consoles and texts print the objects of a class in one line, as `title: description`. Call it in the constructor
 * of a class that bundlers should leave out where nothing uses it, and in a static block of any other class.
 *
 * @typeParam T The class.
 * @param prototype The prototype of the class.
 * @param title What an object is called.
 * @param describe What is said of it. It may throw: then that is said.
 */
export function setInspection<T extends object>(
  prototype: T,
  title: (object: T) => string,
  describe: (object: T) => string,
): void {
  if (Object.hasOwn(prototype, "toString")) return;
  const method = {
    __proto__: null, // inherits no `get`
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

/** What an object is called that may have a name from its user. */
export function titleOf(type: string, name: string | undefined): string {
  return name ? `${type} ${inspect(name)}` : type;
}

/**
 * Writes a number for people: `4,820`, `3.2` or `0.017`.
 *
 * @param number The number.
 * @returns The number with one digit after the point at most, or two that count of what is less than 1; and a comma
 * between thousands.
 */
export function formatNumber(number: number): string {
  const rounded = Math.abs(number) < 1 ? Number(number.toPrecision(2)) : Math.round(number * 10) / 10;
  return String(rounded).replace(/\B(?=(\d{3})+(\.|$))/g, ",");
}

const UNITS: readonly (readonly [unit: string, inNext: number])[] = [["ms", 1000], ["s", 60], ["min", 60], ["h", 24]];

/**
 * Writes a length of time for people: `80 ms`, `4.2 s` or `3 min`.
 *
 * @param ms The length in milliseconds.
 * @returns The length in the largest unit of which there is at least one.
 */
export function formatDuration(ms: number): string {
  let length = Math.round(ms);
  for (const [unit, inNext] of UNITS) {
    if (Math.round(length * 10) / 10 < inNext) return `${formatNumber(length)} ${unit}`;
    length /= inNext;
  }
  return `${formatNumber(length)} d`;
}
