/**
 * Returns the value of an object's own property; `undefined` if the property does not exist. Ignores anything that
 * other code added to `Object.prototype`.
 */
export function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Escapes a key for use in a JSON Pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Reports whether a value is a plain object, as in JSON: not an array, and not an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Property names with a special meaning in JavaScript, which only malicious input uses as keys. */
export const PROTOTYPE_NAMES: readonly string[] = ["__proto__", "constructor", "prototype"];

/**
 * Returns the options without the undefined ones, which would otherwise replace defined values when objects are merged.
 */
export function withoutAbsent<O extends object>(options: O): { [K in keyof O]?: NonNullable<O[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as typeof options;
}

/** Returns a copy of an object with only the given members. */
export function pick<O extends object, K extends keyof O>(object: O, keys: readonly K[]): Pick<O, K> {
  return Object.fromEntries(keys.map((key) => [key, object[key]])) as Pick<O, K>;
}
