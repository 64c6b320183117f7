import { type LimiterConfig, limiters as defaultLimiters } from "@workqueue/core";
import { invalidArgument } from "@workqueue/core/internal";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import { connect } from "./connection/connect.ts";
import type { RedisQueue, RedisQueueOptions } from "./contract.ts";
import { Engine } from "./engine.ts";
import { planLimiter } from "./limiter_plan.ts";
import { intervalsOf, OF_QUEUE, requireRedisOptions } from "./options.ts";
import { type LiveSettings, Queue } from "./queue.ts";
import { createScripts } from "./scripts/script.ts";

const ACTION = "create Redis queue";
const scripts = createScripts();

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
 * await queue.whenIdle(); // nothing is ready, delayed or processing, in any process
 * await queue.shutDownWithDrain(); // this process takes no more, and ends what it has
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's name, and where the server is.
 * @returns The queue, as this process sees it.
 * @throws {ConfigError} If `limiter` is not right.
 * @throws {TypeError} If an option is unknown, missing or of the wrong type, if the `client` would send a call twice,
 * if the process may not reach the server, or a limiter cannot work on Redis.
 * @throws {RangeError} If an option is out of its bounds.
 */
export function createRedisQueue<T = string>(options: RedisQueueOptions<T>): RedisQueue<T> {
  requireRedisOptions(ACTION, options, OF_QUEUE);
  if (options.name === undefined) throw invalidArgument(ACTION, "name", "must be a non-empty string", undefined);
  const { limiter = defaultControllerConfig, limiters = defaultLimiters } = options;
  const plan = planLimiter(ACTION, limiters.describe(limiter as LimiterConfig));
  return openQueue(options, { limiter: plan, throttleName: { path: "" } });
}

/** Opens a queue whose options are checked, and whose limiter is known already. */
export function openQueue<T>(
  options: RedisQueueOptions<T>,
  { limiter, throttleName }: LiveSettings,
): Queue<T> {
  const { name, url, client, maxStalls = 5, keyOf, addWhileDelayed = "keep", metrics, onQueueError } = options;
  const { leaseDuration, callTimeout } = intervalsOf(ACTION, options);
  const connection = connect(ACTION, { url, client, callTimeout });
  const engine = new Engine(connection, scripts, {
    name,
    leaseDuration,
    maxStalls,
    replaces: addWhileDelayed === "replace",
    hasItems: keyOf !== undefined,
    limiter,
    measuresTimes: metrics !== undefined,
  });
  return new Queue({ engine, connection, keyOf, throttleName, metrics, onQueueError });
}
