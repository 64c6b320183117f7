import { BUILT_IN } from "../lib/base/brands.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { PartDefinition } from "../registry/definition.ts";
import type { PartSource } from "../registry/reader.ts";

/**
 * Marks a function of a built-in definition. A mark on `create` tells an engine that computes delays itself which
 * limiters are built in, even if a limiter comes from another copy of this package. A mark on `update` says that the
 * function never throws. A definition with any other function is not built in, even if it has the same type.
 *
 * @param version The version of the limiter's behavior. Raise the version of `create` whenever a change to the code
 * makes the same options produce different delays.
 * @param member The function.
 * @returns The same function.
 */
export function builtIn<Member extends (...args: never[]) => unknown>(version: number, member: Member): Member {
  return Object.assign(member, { [BUILT_IN]: version });
}

/** Reports whether a definition creates built-in limiters. */
export function isBuiltIn({ create }: Pick<PartDefinition<string, RateLimiter>, "create">): boolean {
  return Object.hasOwn(create, BUILT_IN);
}

/** Returns the definitions without those that don't create built-in limiters. */
export function onlyBuiltIn(
  definitions: PartSource<RateLimiter>["definitions"],
): PartSource<RateLimiter>["definitions"] {
  return {
    get(type) {
      const definition = definitions.get(type);
      return definition !== undefined && isBuiltIn(definition) ? definition : undefined;
    },
    types: () => definitions.types(),
  };
}
