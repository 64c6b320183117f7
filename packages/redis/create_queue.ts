import { type LimiterConfig, limiters as defaultLimiters } from "@workqueue/core";
import {
  A_FUNCTION,
  A_POSITIVE_INTEGER,
  A_STRING,
  hasMethods,
  invalidArgument,
  requireDuration,
  requireRules,
  type Rule,
} from "@workqueue/core/arguments";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import { connect } from "./connection/connect.ts";
import type { RedisQueue, RedisQueueOptions } from "./contract.ts";
import { Engine } from "./engine.ts";
import { planLimiter } from "./limiter_plan.ts";
import { type LiveSettings, Queue } from "./queue.ts";
import { createScripts } from "./scripts/script.ts";

const ACTION = "create Redis queue";
const scripts = createScripts();
/** The bounds of `lease` and `patience`, in milliseconds. */
const MIN = 100;
const MAX = 86_400_000;

/**
 * Opens a queue on a server. Nothing is sent before it is used.
 *
 * @example Usage
 * ```ts ignore
 * import { runWorkers } from "@workqueue/core";
 * import { createRedisQueue } from "@workqueue/redis";
 *
 * const queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * runWorkers(queue, async (image, { signal }) => {
 *   await Promise.resolve(signal); // the work; the signal aborts when others may have taken over
 *   console.log(image);
 * }, { concurrency: 10 });
 * await queue.add("cat.jpg"); // by any process
 * await queue.whenIdle(); // nothing is ready, waiting or held, by any process
 * await queue.shutDownWithDrain(); // this process takes no more, and ends what it has
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's name, and where the server is.
 * @returns The queue, as this process sees it.
 * @throws {ConfigError} If `limiter` is not right.
 * @throws {TypeError} If an option is unknown, missing or of the wrong type, if the `client` would send a call twice, if
 * the process may not reach the server, or a limiter cannot work on Redis.
 * @throws {RangeError} If an option is out of its bounds.
 */
export function createRedisQueue<T = string>(options: RedisQueueOptions<T>): RedisQueue<T> {
  requireRules(ACTION, options, {
    name: [isName, "must be a non-empty string without braces"],
    url: A_STRING,
    client: [(value: unknown) => typeof value === "object" && value !== null, "must be a Redis client"],
    limiter: [isLimiterConfig, 'must be a limiter as in a config document, such as { "type": "exponential", … }'],
    limiters: [(value: unknown) => hasMethods(value, "describe", "build"), "must be a registry of limiters"],
    lease: ANY,
    maxLapses: A_POSITIVE_INTEGER,
    patience: ANY,
    keyOf: A_FUNCTION,
    whileWaiting: [(value: unknown) => value === "keep" || value === "replace", 'must be "keep" or "replace"'],
    metrics: [isProvider, "must be a metrics provider"],
    onError: A_FUNCTION,
  });
  if (options.name === undefined) throw invalidArgument(ACTION, "name", "must be a non-empty string", undefined);
  const { limiter = defaultControllerConfig, limiters = defaultLimiters } = options;
  const plan = planLimiter(ACTION, limiters.describe(limiter as LimiterConfig));
  return openQueue(options, { limiter: plan, startsName: { path: "" } });
}

/** Opens a queue whose limiter is known already. */
export function openQueue<T>(
  options: RedisQueueOptions<T>,
  { limiter, startsName }: LiveSettings,
): Queue<T> {
  const { name, url, client, maxLapses = 5, keyOf, whileWaiting = "keep", metrics, onError } = options;
  const lease = requireDuration(ACTION, "lease", options.lease ?? "30s");
  if (!(lease >= MIN && lease <= MAX)) {
    throw invalidArgument(ACTION, "lease", "must be a duration from 100 ms to a day", lease);
  }
  const patience = requireDuration(ACTION, "patience", options.patience ?? "10s");
  if (!(patience >= MIN && patience <= MAX)) {
    throw invalidArgument(ACTION, "patience", "must be a duration from 100 ms to a day", patience);
  }
  const connection = connect(ACTION, { url, client, patience });
  const engine = new Engine(connection, scripts, {
    name,
    lease,
    maxLapses,
    replaces: whileWaiting === "replace",
    hasItems: keyOf !== undefined,
    limiter,
    measuresTimes: metrics !== undefined,
  });
  return new Queue({ engine, connection, keyOf, startsName, metrics, onError });
}

/** What is checked where it is read. */
const ANY: Rule = [() => true, ""];

/** Braces in a name would tell a cluster to keep the keys of one queue in several places. */
function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/[{}]/.test(value);
}

/** Whether it has what is measured here. */
export function isProvider(value: unknown): boolean {
  return hasMethods(value, "queueLatency", "workDuration", "unfinishedWork", "longestRunningProcessor", "retries");
}

function isLimiterConfig(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}
