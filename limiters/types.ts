/** The types that a limiter's function and definition name. Each limiter's file exports them with it. */

export type { Clock } from "../lib/base/clock.ts";
export type { Duration } from "../lib/base/duration.ts";
export type { bucketOptions } from "./bucket.ts";
export type { BrokenRule, BuildContext, LimiterDefinition } from "../registry/definition.ts";
export type { exponentialOptions } from "./exponential.ts";
export type { fastSlowOptions } from "./fast_slow.ts";
export type * from "../registry/fields.ts";
export type * from "./limiter_config.ts";
export type { maxOfOptions } from "./max_of.ts";
export type { maxWaitOptions } from "./max_wait.ts";
export type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
