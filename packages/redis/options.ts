/** Rules for the options of queues on Redis, grouped by the functions that accept the options. */

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
import { requireServer, type ServerOptions } from "./connection/connect.ts";
import type { RedisQueueOptions, RedisQueuesOptions } from "./contract.ts";
import { refuseMemoryOptions } from "./memory_options.ts";

/** Rules for the options in `Option`, with one rule per option. Omitting a rule is a type error. */
type RulesOf<Option extends keyof RedisQueueOptions> = Readonly<Record<Option, Rule>>;

/** Shortest and longest allowed interval, in milliseconds. */
const MIN = 100;
const MAX = 86_400_000;

/** Rule that accepts any value, because `intervalsOf` checks intervals. */
const AN_INTERVAL: Rule = [() => true, ""];

/** Rule that accepts any value, because `requireServer` checks it. Its messages contain no secrets. */
const A_SECRET: Rule = AN_INTERVAL;

/** Rule for a queue's name. Also checks names from a config document, because a document accepts names with braces. */
export const A_NAME: Rule = [isName, "must be a non-empty string without braces"];

/** Options that can be set for all queues of `redisQueues`, and also for a single queue. */
const COMMON: RulesOf<Exclude<keyof RedisQueuesOptions, keyof ServerOptions>> = {
  leaseDuration: AN_INTERVAL,
  maxStalls: A_POSITIVE_INTEGER,
  callTimeout: AN_INTERVAL,
  metrics: [isProvider, "must be a metrics provider"],
  onQueueError: A_FUNCTION,
};

/** Options of `redisQueues`. */
export const OF_QUEUES: RulesOf<keyof RedisQueuesOptions> = {
  url: A_STRING,
  sentinels: A_SECRET,
  tls: A_SECRET,
  client: [(value: unknown) => typeof value === "object" && value !== null, "must be a Redis client"],
  ...COMMON,
};

/** Options of a single queue of `redisQueues`. */
export const OF_ONE_QUEUE: RulesOf<keyof typeof COMMON | "keyOf"> = { keyOf: A_FUNCTION, ...COMMON };

/** Options of `createRedisQueue`. */
export const OF_QUEUE: RulesOf<keyof RedisQueueOptions> = {
  name: A_NAME,
  limiter: [isLimiterConfig, 'must be a limiter as in a config document, such as { "type": "exponential", … }'],
  limiters: [(value: unknown) => hasMethods(value, "describe", "build"), "must be a registry of limiters"],
  addWhileDelayed: [
    (value: unknown) => value === "keep" || value === "replace" || value === "fold",
    'must be one of "keep", "replace", "fold"',
  ],
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
  refuseMemoryOptions(action, options);
  requireRules(action, options, rules);
  intervalsOf(action, options);
  requireServer(action, options);
}

/**
 * Returns the options that are intervals, in milliseconds.
 *
 * @throws {TypeError} If an interval is not a duration.
 * @throws {RangeError} If an interval is out of range.
 */
export function intervalsOf(
  action: string,
  { leaseDuration = "30s", callTimeout = "10s" }: Pick<RedisQueueOptions, "leaseDuration" | "callTimeout">,
): { leaseDuration: number; callTimeout: number } {
  return {
    leaseDuration: requireInterval(action, "leaseDuration", leaseDuration),
    callTimeout: requireInterval(action, "callTimeout", callTimeout),
  };
}

/**
 * Converts a duration to milliseconds. The duration must be from 100 ms to one day.
 *
 * @throws {TypeError} If the value is not a duration.
 * @throws {RangeError} If the duration is out of range.
 */
export function requireInterval(action: string, option: string, value: unknown): number {
  const ms = requireDuration(action, option, value);
  if (ms >= MIN && ms <= MAX) return ms;
  throw invalidArgument(action, option, "must be a duration from 100 ms to a day", ms);
}

/**
 * Reports whether a value is a valid name. Braces are refused, because they could spread the keys of one queue over
 * several nodes of a cluster.
 */
function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/[{}]/.test(value);
}

/** Reports whether a value has the methods for all metrics that a queue measures in each process. */
function isProvider(value: unknown): boolean {
  return hasMethods(value, "queueLatency", "workDuration", "unfinishedWork", "longestRunningProcessor", "retries");
}

function isLimiterConfig(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}
