import { BUILT_IN } from "../lib/base/brands.ts";

/**
 * Marks the `create` function of a built-in limiter. The mark tells an engine that computes delays itself which
 * limiters are built in, even if a limiter comes from another copy of this package. A definition with any other
 * `create` function is not built in, even if it has the same type.
 *
 * @param version The version of the limiter's behavior. Raise the version whenever a change to the code makes the same
 * options produce different delays.
 * @param create The function.
 * @returns The same function.
 */
export function builtIn<Create extends (...args: never[]) => unknown>(version: number, create: Create): Create {
  return Object.assign(create, { [BUILT_IN]: version });
}
