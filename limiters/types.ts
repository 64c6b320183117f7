/** Types that appear in the signatures of a limiter's exports. Each limiter's file also exports these types. */

export type { NOT_COUNTED } from "../lib/base/brands.ts";
export type { Clock } from "../lib/base/clock.ts";
export type { Duration } from "../lib/base/duration.ts";
export type { Random } from "../lib/base/random.ts";
export type { FailedAttempt, FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
export type { AttemptResult, Permit, Throttle, ThrottleSnapshot } from "../lib/contracts/throttle.ts";
export type { BrokenRule, BuildContext, PartContext, PartDefinition, PartKind } from "../registry/definition.ts";
export type { OptionDescription, PartDescription } from "../registry/description.ts";
export type * from "../registry/fields.ts";
export type { LimiterDefinition, LimiterDescription, LimiterFields, LimiterOptions } from "./definition.ts";
