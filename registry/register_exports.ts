import { hasMethods } from "../lib/base/arguments.ts";

/** Registers the definitions among the exports of a module. The others are functions, and options by themselves. */
export function registerExports<R extends { register(definition: never): unknown }>(registry: R, exports: object): R {
  for (const value of Object.values(exports)) if (hasMethods(value, "create")) registry.register(value as never);
  return registry;
}
