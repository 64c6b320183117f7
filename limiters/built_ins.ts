/** The limiters that come with this module: one line for each. Their types, entries and docs are made of this list. */

export * from "./bucket.ts";
export * from "./exponential.ts";
export * from "./fast_slow.ts";
export * from "./jitter.ts";
export * from "./max_of.ts";
export * from "./max_wait.ts";
export * from "./per_group.ts";
