/** A property of the object itself. What other code put on `Object.prototype` does not count. */
export function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Escapes a key for use in a JSON Pointer, as RFC 6901 says. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Whether a value is an object such as JSON has: no array, no instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Names that mean something to JavaScript objects. Only what means harm has one. */
export const PROTOTYPE_NAMES: readonly string[] = ["__proto__", "constructor", "prototype"];

/** Leaves out options that are undefined, so that they replace no others where objects are merged. */
export function withoutAbsent<O extends object>(options: O): { [K in keyof O]?: NonNullable<O[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as typeof options;
}

/** Some of an object's members. */
export function pick<O extends object, K extends keyof O>(object: O, keys: readonly K[]): Pick<O, K> {
  return Object.fromEntries(keys.map((key) => [key, object[key]])) as Pick<O, K>;
}
