import { BUILT_IN } from "../lib/base/brands.ts";

/**
 * Marks the `create` of a built-in limiter. Engines that compute delays themselves recognize built-in limiters by the
 * mark, even those of another copy of this package. A definition with another `create` is not built in, whatever its
 * type.
 *
 * @param version The version of the limiter's behavior. Raise it when the same options produce other delays.
 * @param create The function.
 * @returns The same function.
 */
export function builtIn<Create extends (...args: never[]) => unknown>(version: number, create: Create): Create {
  return Object.assign(create, { [BUILT_IN]: version });
}
