/** Short texts of items, errors and counts for display. */

import { formatNumber, inOneLine } from "@workqueue/core/internal";

const MAX_LENGTH = 500;

/** Truncates a text for display. Doesn't split a surrogate pair. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const end = /[\ud800-\udbff]/.test(text[MAX_LENGTH - 2]!) ? MAX_LENGTH - 2 : MAX_LENGTH - 1;
  return text.slice(0, end) + "…";
}

/** Reports whether a displayed text seems to be complete. */
export function isWhole(text: string): boolean {
  return !text.endsWith("…");
}

/** Formats an error in one line. */
export function errorText(error: string): string {
  return cut(inOneLine(error.slice(0, 2 * MAX_LENGTH)).trim());
}

/** Formats a thrown value. Any value can be thrown, even an object whose getters throw. */
export function thrownText(thrown: unknown): string {
  try {
    return errorText(thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown));
  } catch {
    return "something that cannot be shown";
  }
}

/**
 * Creates a function that returns the text of an item for display and search. The function always returns a text, even
 * if `keyOf` or `keyText` throws: for a string, which may be the key of an item that this process can't read, the
 * string. The text of an object is cached because the object may be large. Later changes to the object are therefore
 * ignored.
 */
export function keyTexts(
  keyOf: (item: unknown) => unknown,
  keyText: ((item: never) => string) | undefined,
): (item: unknown) => string {
  const made = new WeakMap<object, string>();
  const make = (item: unknown) => {
    try {
      if (keyText !== undefined) return cut(String(keyText(item as never)));
      if (typeof item !== "string") return cut(textOf(keyOf(item)));
    } catch (error) {
      if (typeof item !== "string") return cut(`(no text: ${thrownText(error)})`);
    }
    return cut(item);
  };
  return (item) => {
    if (typeof item !== "object" || item === null) return make(item);
    let text = made.get(item);
    if (text === undefined) made.set(item, text = copyOf(make(item)));
    return text;
  };
}

/** Copies a string. Runtimes store a slice of a long string as a reference to it, which keeps it in memory. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text));
}

/** Formats a key as JSON. Values that JSON doesn't support are converted to strings. */
function textOf(key: unknown): string {
  if (typeof key === "string") return key;
  const around: unknown[] = [];
  const text = JSON.stringify(key, function (this: unknown, _name, value: unknown) {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return value;
    while (around.length > 0 && around.at(-1) !== this) around.pop();
    if (around.includes(value)) return "(itself)";
    around.push(value);
    return value;
  });
  return text ?? String(key);
}

/** Formats a count with its noun: `1 item`, `4,820 items`. */
export function many(number: number, one: string): string {
  return `${formatNumber(number)} ${one}${number === 1 ? "" : "s"}`;
}
