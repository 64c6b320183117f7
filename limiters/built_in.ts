import { BUILT_IN } from "../lib/base/brands.ts";

/**
 * Marks the `create` of a built-in limiter. An engine that computes such limiters itself knows them by the mark, also
 * those of another copy of this package. A definition with another `create` is not built in, whatever its type is
 * called.
 *
 * @param version The version of what the limiter does. Raise it when the same options give other delays.
 * @param create The function.
 * @returns The same function.
 */
export function builtIn<Create extends (...args: never[]) => unknown>(version: number, create: Create): Create {
  return Object.assign(create, { [BUILT_IN]: version });
}
