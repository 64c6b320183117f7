/**
 * Built-in throttles, one line for each. The types, entry points and docs of these throttles are generated from this
 * list.
 */

export * from "./bucket.ts";
export * from "./concurrency.ts";
export * from "./aimd.ts";
export * from "./gradient.ts";
export * from "./breaker.ts";
export * from "./all_of.ts";
