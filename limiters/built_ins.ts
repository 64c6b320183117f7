/**
 * Exports of the built-in limiters, with one line for each limiter. The types, entry points and docs of these limiters
 * are generated from this list.
 */

export * from "./bucket.ts";
export * from "./exponential.ts";
export * from "./fast_slow.ts";
export * from "./ignore_early.ts";
export * from "./jitter.ts";
export * from "./max_of.ts";
export * from "./max_wait.ts";
export * from "./per_group.ts";
export * from "./steps.ts";
