/**
 * Reports whether two keys are the same, as a `Map` compares them: `NaN` is one key, and so are 0 and -0. Code may use
 * `===` if a key that it doesn't recognize costs only a lookup.
 */
export function isSameKey(one: unknown, other: unknown): boolean {
  return one === other || (one !== one && other !== other);
}

/** Key that stands for `undefined` in calls to limiters, where an `undefined` key means that the item is the key. */
export const UNDEFINED_KEY: unknown = ["undefined"];
