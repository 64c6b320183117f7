/** What is shown of items and errors: texts, and short ones. */

import { inOneLine } from "@workqueue/core/internal";

const MAX_LENGTH = 500;

/** A text cut down to what is shown of it. No character is cut in half. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const end = /[\ud800-\udbff]/.test(text[MAX_LENGTH - 2]!) ? MAX_LENGTH - 2 : MAX_LENGTH - 1;
  return text.slice(0, end) + "…";
}

/** Whether a text that is shown is the whole of it, as far as one can tell. */
export function isWhole(text: string): boolean {
  return !text.endsWith("…");
}

/** An error in one line. */
export function errorText(error: string): string {
  return cut(inOneLine(error.slice(0, 2 * MAX_LENGTH)).trim());
}

/** Words what was thrown. Anything can be, also what throws when it is looked at. */
export function thrownText(thrown: unknown): string {
  try {
    return errorText(thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown));
  } catch {
    return "something that cannot be shown";
  }
}

/**
 * Gives the text of an item, by which it is shown and found. Whatever the user's functions do, there is one. That of an
 * object is made once, as objects may be big: what changes in it later is not seen.
 */
export function keyTexts(
  keyOf: (item: unknown) => unknown,
  keyText: ((item: never) => string) | undefined,
): (item: unknown) => string {
  const made = new WeakMap<object, string>();
  const make = (item: unknown) => {
    try {
      if (keyText !== undefined) return cut(String(keyText(item as never)));
      return cut(typeof item === "string" ? item : textOf(keyOf(item)));
    } catch (error) {
      return cut(`(no text: ${thrownText(error)})`);
    }
  };
  return (item) => {
    if (typeof item !== "object" || item === null) return make(item);
    let text = made.get(item);
    if (text === undefined) made.set(item, text = copyOf(make(item)));
    return text;
  };
}

/** The same text, in memory of its own: a part of a text may keep all of that. */
function copyOf(text: string): string {
  return text.length < MAX_LENGTH - 1 ? text : JSON.parse(JSON.stringify(text));
}

/** A key as JSON, with what JSON cannot say as text. */
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
