/**
 * Plans of gates: the parts of a throttle in a config that all processes share, and their identities in the store.
 *
 * @module
 */

import type { BuiltInThrottleOptions, ThrottleDescription } from "@workqueue/core";
import { allOf, bucket, concurrency } from "@workqueue/core/throttles";
import type { DescribedOptions } from "./planned_part.ts";
import type { GatePlan } from "./throttle_store.ts";

/**
 * Returns plans for the parts of a throttle that all processes share: `concurrency` and `bucket`, also inside `all-of`.
 * A part with a name in the section `throttles` has keys of its own, which all queues with such a part share. Any other
 * part has keys of its queue. No plans are returned for a bucket of the queue or of a limiter: its tokens come with the
 * items.
 *
 * The plans are in the order in which permits must be acquired: tokens first, because a process that waits for a permit
 * may keep a token, but not the other way around; then permits in the order of their names, so that two processes never
 * wait for each other.
 *
 * @param queue The name of the queue.
 * @param throttle The description of its throttle.
 * @param objectOf Returns the throttle that the config built for a part; `undefined` if it can't be known.
 */
export function planGates(queue: string, throttle: ThrottleDescription, objectOf: ThrottleObjectOf): GatePlan[] {
  if (isA(throttle, bucket) && !isNamedThrottle(throttle)) return [];
  const plans = new Map(
    gatesOf(throttle, `workqueue:{${queue}}:throttle`, objectOf).map((plan) => [plan.id, plan]),
  );
  return [...plans.values()].sort((one, other) => RANKS[one.kind] - RANKS[other.kind] || (one.id < other.id ? -1 : 1));
}

/** Function that returns the throttle that a config built for a part; `undefined` if it can't be known. */
export type ThrottleObjectOf = (part: ThrottleDescription) => object | undefined;

/** Planner of the gates of a built-in throttle. */
interface BuiltInPlan<Type extends keyof BuiltInThrottleOptions> {
  readonly definition: object;
  /** Returns the gates. Must name each option. */
  gatesOf(part: Part<Type>): GatePlan[];
}

/** Entry of a throttle that each process has for itself. */
const OF_EACH_PROCESS = undefined;

/** Throttle, with the data on which its gates depend. */
interface Part<Type extends keyof BuiltInThrottleOptions> {
  readonly path: string;
  readonly options: DescribedOptions<BuiltInThrottleOptions[Type]>;
  /** Identity of the throttle in the store. */
  readonly id: string;
  /** Throttle that the config built for the part; `undefined` if it can't be known. */
  readonly object: object | undefined;
  readonly objectOf: ThrottleObjectOf;
}

/** Planner of each built-in throttle. A throttle of the core without an entry is a type error. */
const BUILT_INS: { readonly [Type in keyof BuiltInThrottleOptions]: BuiltInPlan<Type> | typeof OF_EACH_PROCESS } = {
  "concurrency": {
    definition: concurrency,
    gatesOf({ options: { limit, ...others }, id, object }) {
      others satisfies Record<string, never>;
      return [{ kind: "permits", id, values: (object ?? { limit }) as { limit: number } }];
    },
  },
  "bucket": {
    definition: bucket,
    gatesOf({ path, options: { rate, burst, counts = "cost", ...others }, id, object }) {
      others satisfies Record<string, never>;
      if (path.startsWith("/limiters/")) return [];
      const values = (object ?? { rate, burst }) as { rate: number; burst: number };
      return [{ kind: "tokens", id, values, countsCosts: COUNTS_COSTS[counts] }];
    },
  },
  "all-of": {
    definition: allOf,
    gatesOf({ options: { throttles, ...others }, id, objectOf }) {
      others satisfies Record<string, never>;
      return throttles.flatMap((each, i) => gatesOf(each, `${id}/throttles/${i}`, objectOf));
    },
  },
  "aimd": OF_EACH_PROCESS,
  "gradient": OF_EACH_PROCESS,
  "breaker": OF_EACH_PROCESS,
};

/** Whether an attempt takes as many tokens as it costs, by the option `counts`. */
const COUNTS_COSTS: Readonly<Record<"cost" | "attempts", boolean>> = { cost: true, attempts: false };

/** Returns the gates of a part. Each process has a throttle of a custom type for itself. */
function gatesOf(part: ThrottleDescription, place: string, objectOf: ThrottleObjectOf): GatePlan[] {
  const id = isNamedThrottle(part) ? `workqueue:{throttle:${part.name!.toWellFormed()}}` : place;
  const { path, options } = part;
  const planner = Object.values<BuiltInPlan<never> | undefined>(BUILT_INS).find((planner) => {
    return planner !== undefined && isA(part, planner.definition);
  });
  return planner?.gatesOf({ path, options: options as never, id, object: objectOf(part), objectOf }) ?? [];
}

/** Reports whether a part is in the section `throttles`. Buckets of limiters also have names. */
export function isNamedThrottle({ name, path }: ThrottleDescription): boolean {
  return name !== undefined && path.startsWith("/throttles/");
}

/** Reports whether a part is of a built-in type, and not of a custom type with the same name. */
function isA(part: ThrottleDescription, definition: object): boolean {
  return (part.definition() as object) === definition;
}

/** Place of each kind of gate in the order in which permits must be acquired. */
const RANKS: Readonly<Record<GatePlan["kind"], number>> = { tokens: 0, permits: 1 };
