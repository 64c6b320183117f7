/** Built-in disciplines, one line for each. Their types, entry points and docs are generated from this list. */

export * from "./fair.ts";
export * from "./priority.ts";
