/** Options of queues on Redis: each option's rule, and who takes it. */

import {
  A_FUNCTION,
  A_POSITIVE_INTEGER,
  A_STRING,
  hasMethods,
  invalidArgument,
  requireDuration,
  requireRules,
  type Rule,
} from "@workqueue/core/internal";
import { requireServer } from "./connection/connect.ts";
import type { RedisQueueOptions, RedisQueuesOptions } from "./contract.ts";
import { refuseMemoryOptions } from "./memory_options.ts";

/** A rule for each of some options: without one of them it does not compile. */
type RulesOf<Option extends keyof RedisQueueOptions> = Readonly<Record<Option, Rule>>;

/** The bounds of intervals, in milliseconds. */
const MIN = 100;
const MAX = 86_400_000;

/** Checked by `intervalsOf`. */
const AN_INTERVAL: Rule = [() => true, ""];

/** Options that `redisQueues` takes for all of its queues, and each queue for itself. */
const COMMON: RulesOf<Exclude<keyof RedisQueuesOptions, "url" | "client">> = {
  leaseDuration: AN_INTERVAL,
  maxStalls: A_POSITIVE_INTEGER,
  callTimeout: AN_INTERVAL,
  metrics: [isProvider, "must be a metrics provider"],
  onQueueError: A_FUNCTION,
};

/** Options of `redisQueues`. */
export const OF_QUEUES: RulesOf<keyof RedisQueuesOptions> = {
  url: A_STRING,
  client: [(value: unknown) => typeof value === "object" && value !== null, "must be a Redis client"],
  ...COMMON,
};

/** Options of one queue of `redisQueues`. */
export const OF_ONE_QUEUE: RulesOf<keyof typeof COMMON | "keyOf"> = { keyOf: A_FUNCTION, ...COMMON };

/** Options of `createRedisQueue`. */
export const OF_QUEUE: RulesOf<keyof RedisQueueOptions> = {
  name: [isName, "must be a non-empty string without braces"],
  limiter: [isLimiterConfig, 'must be a limiter as in a config document, such as { "type": "exponential", … }'],
  limiters: [(value: unknown) => hasMethods(value, "describe", "build"), "must be a registry of limiters"],
  addWhileDelayed: [(value: unknown) => value === "keep" || value === "replace", 'must be "keep" or "replace"'],
  ...OF_QUEUES,
  ...OF_ONE_QUEUE,
};

/**
 * Checks options by the rules of one of these sets.
 *
 * @throws {TypeError} If an option is unknown, of the wrong type, or for queues in memory.
 * @throws {RangeError} If an option is out of its bounds.
 */
export function requireRedisOptions(action: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  refuseMemoryOptions(action, options);
  requireRules(action, options, rules);
  intervalsOf(action, options);
  requireServer(action, options);
}

/** Returns the milliseconds of the options that are intervals. */
export function intervalsOf(
  action: string,
  { leaseDuration = "30s", callTimeout = "10s" }: Pick<RedisQueueOptions, "leaseDuration" | "callTimeout">,
): { leaseDuration: number; callTimeout: number } {
  return {
    leaseDuration: requireInterval(action, "leaseDuration", leaseDuration),
    callTimeout: requireInterval(action, "callTimeout", callTimeout),
  };
}

/** Returns the milliseconds of a duration from 100 ms to a day. */
export function requireInterval(action: string, option: string, value: unknown): number {
  const ms = requireDuration(action, option, value);
  if (ms >= MIN && ms <= MAX) return ms;
  throw invalidArgument(action, option, "must be a duration from 100 ms to a day", ms);
}

/** Braces in a name would tell a cluster to keep the keys of one queue in several places. */
function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/[{}]/.test(value);
}

/** Whether it has what is measured here. */
function isProvider(value: unknown): boolean {
  return hasMethods(value, "queueLatency", "workDuration", "unfinishedWork", "longestRunningProcessor", "retries");
}

function isLimiterConfig(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}
