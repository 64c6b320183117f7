/** Types that appear in the signatures of a throttle's exports. Each throttle's file also exports these types. */

export type { Clock } from "../lib/base/clock.ts";
export type { Duration } from "../lib/base/duration.ts";
export type { Random } from "../lib/base/random.ts";
export type { AttemptResult, Permit, Throttle, ThrottleSnapshot } from "../lib/contracts/throttle.ts";
export type { TokenSource } from "../lib/contracts/token_source.ts";
export type { BrokenRule, BuildContext, PartContext, PartDefinition, PartKind } from "../registry/definition.ts";
export type { OptionDescription, PartDescription } from "../registry/description.ts";
export type * from "../registry/fields.ts";
export type { ThrottleDefinition, ThrottleDescription, ThrottleFields, ThrottleOptions } from "./definition.ts";
