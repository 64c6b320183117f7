/**
 * Plans of gates: the parts of a throttle in a config that are one for all processes, and their identities in the
 * store.
 *
 * @module
 */

import type { ThrottleDescription } from "@workqueue/core";
import { allOfThrottle, bucketThrottle, concurrencyThrottle } from "@workqueue/core/throttles";
import type { GatePlan } from "./throttle_store.ts";

/**
 * Returns plans for the parts of a throttle that are one for all processes: `concurrency` and `bucket`, also inside
 * `all-of`. A part with a name in the section `throttles` has keys of its own, which all queues with such a part share.
 * Any other part has keys of its queue. No plans are returned for a bucket of the queue or of a limiter: its tokens
 * come with the items.
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
  if (isA(throttle, bucketThrottle) && !isNamedThrottle(throttle)) return [];
  const plans = new Map(
    gatesOf(throttle, `workqueue:{${queue}}:throttle`, objectOf).map((plan) => [plan.id, plan]),
  );
  return [...plans.values()].sort((one, other) => rankOf(one) - rankOf(other) || (one.id < other.id ? -1 : 1));
}

/** Function that returns the throttle that a config built for a part; `undefined` if it can't be known. */
export type ThrottleObjectOf = (part: ThrottleDescription) => object | undefined;

function gatesOf(part: ThrottleDescription, place: string, objectOf: ThrottleObjectOf): GatePlan[] {
  const prefix = isNamedThrottle(part) ? `workqueue:{throttle:${part.name!.toWellFormed()}}` : place;
  const { options } = part as { options: Readonly<Record<string, unknown>> };
  const values = (objectOf(part) ?? options) as { limit: number; rate: number; burst: number };
  if (isA(part, concurrencyThrottle)) return [{ kind: "permits", id: prefix, values }];
  if (isA(part, allOfThrottle)) {
    const parts = options["throttles"] as readonly ThrottleDescription[];
    return parts.flatMap((each, i) => gatesOf(each, `${prefix}/throttles/${i}`, objectOf));
  }
  if (!isA(part, bucketThrottle) || part.path.startsWith("/limiters/")) return [];
  return [{ kind: "tokens", id: prefix, values, countsCosts: options["counts"] !== "attempts" }];
}

/** Reports whether a part is in the section `throttles`. Buckets of limiters also have names. */
export function isNamedThrottle({ name, path }: ThrottleDescription): boolean {
  return name !== undefined && path.startsWith("/throttles/");
}

/** Reports whether a part is of a built-in type, and not of a custom type with the same name. */
function isA(part: ThrottleDescription, definition: object): boolean {
  return (part.definition() as object) === definition;
}

function rankOf({ kind }: GatePlan): number {
  return kind === "tokens" ? 0 : 1;
}
