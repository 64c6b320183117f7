/** Rules for the options of queues on Redis, grouped by the functions that accept the options. */

import type { Duration } from "@workqueue/core";
import { A_FUNCTION, A_STRING, requireRules, type Rule } from "@workqueue/core/internal";
import {
  AN_INTERVAL,
  COMMON_OPTIONS,
  intervalsOf,
  OWN_OPTIONS,
  refuseMemoryOptions,
  requireInterval,
  resultsOf,
  type RulesOf,
} from "@workqueue/engine";
import { requireServer } from "./connection/connect.ts";
import type { RedisQueueOptions, RedisQueuesOptions } from "./contract.ts";
import { PRODUCT } from "./product.ts";

/** Rule that accepts any value, because `requireServer` checks it. Its messages contain no secrets. */
const A_SECRET: Rule = [() => true, ""];

/** Longest time after which an empty queue is forgotten, in milliseconds. */
const MAX_EXPIRE_AFTER = 3650 * 86_400_000;

/** Largest number of partitions of a queue. */
const MAX_PARTITIONS = 256;

/** Rule for a queue's name. Also checks names from a config document, because a document accepts names with braces. */
export const A_NAME: Rule = [isName, "must be a non-empty string without braces"];

/** Options of `redisQueues`. */
export const OF_QUEUES: RulesOf<keyof RedisQueuesOptions> = {
  url: A_STRING,
  sentinels: A_SECRET,
  cluster: A_SECRET,
  tls: A_SECRET,
  client: [(value: unknown) => typeof value === "object" && value !== null, "must be a Redis client"],
  forgetQueuesAfter: AN_INTERVAL,
  ...COMMON_OPTIONS,
};

/** Rule for the number of partitions of a queue. */
export const A_NUMBER_OF_PARTITIONS: Rule = [isCount, `must be an integer from 1 to ${MAX_PARTITIONS}`];

/** Options of a single queue of `redisQueues`. */
export const OF_ONE_QUEUE: RulesOf<keyof typeof COMMON_OPTIONS | "partitions" | "keyOf" | "forgetQueuesAfter"> = {
  partitions: A_NUMBER_OF_PARTITIONS,
  forgetQueuesAfter: AN_INTERVAL,
  keyOf: A_FUNCTION,
  ...COMMON_OPTIONS,
};

/** Options of `createRedisQueue`. */
export const OF_QUEUE: RulesOf<keyof RedisQueueOptions> = {
  name: A_NAME,
  ...OWN_OPTIONS,
  ...OF_QUEUES,
  ...OF_ONE_QUEUE,
};

/**
 * Checks options against a set of rules.
 *
 * @throws {TypeError} If an option is unknown, of the wrong type or only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function requireRedisOptions(action: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  refuseMemoryOptions(PRODUCT, action, options);
  requireRules(action, options, rules);
  intervalsOf(action, options);
  resultsOf(action, options);
  expireAfterOf(action, options);
  requireServer(action, options);
}

/**
 * Returns the option `forgetQueuesAfter` in milliseconds, if it is given.
 *
 * @throws {TypeError} If it is not a duration.
 * @throws {RangeError} If it is out of range.
 */
export function expireAfterOf(
  action: string,
  { forgetQueuesAfter }: { readonly forgetQueuesAfter?: Duration | undefined },
): number | undefined {
  if (forgetQueuesAfter === undefined) return undefined;
  return requireInterval(action, "forgetQueuesAfter", forgetQueuesAfter, MAX_EXPIRE_AFTER, "ten years");
}

/**
 * Reports whether a value is a valid name. Braces are refused, because they could spread the keys of one queue over
 * several nodes of a cluster.
 */
function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/[{}]/.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PARTITIONS;
}
