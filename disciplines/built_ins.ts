/**
 * The disciplines that come with this module: one line for each. Their types, entries and docs are made of this list.
 */

export * from "./fair.ts";
export * from "./priority.ts";
