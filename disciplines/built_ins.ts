/**
 * Built-in disciplines, one line for each. The types, entry points and docs of these disciplines are generated from
 * this list.
 */

export * from "./fair.ts";
export * from "./priority.ts";
