import { disciplines as defaultDisciplines, type LimiterConfig, limiters as defaultLimiters } from "@workqueue/core";
import { invalidArgument } from "@workqueue/core/internal";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import {
  createRemoteQueue,
  intervalsOf,
  type LiveRemoteQueue,
  type LiveSettings,
  retentionOf,
} from "@workqueue/engine";
import { connect } from "./connection/connect.ts";
import type { RedisQueue, RedisQueueOptions } from "./contract.ts";
import { type DisciplinePlan, planDiscipline } from "./discipline_plan.ts";
import { RedisEngine } from "./engine.ts";
import { planLimiter } from "./limiter_plan.ts";
import { A_NAME, OF_QUEUE, requireRedisOptions } from "./options.ts";
import { createScripts } from "./scripts/script.ts";
import { createThrottleScripts } from "./scripts/throttle_script.ts";
import { RedisThrottleStore } from "./throttle_store.ts";

const ACTION = "create Redis queue";
const scripts = createScripts();
const throttleScripts = createThrottleScripts();

/**
 * Opens a queue on a server. Sends nothing until the queue is used.
 *
 * @example Usage
 * ```ts ignore
 * import { runWorkers } from "@workqueue/core";
 * import { createRedisQueue } from "@workqueue/redis";
 *
 * const queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * runWorkers(queue, async (image, { signal }) => {
 *   await Promise.resolve(signal); // the work; the signal aborts when another process may have the item
 *   console.log(image);
 * }, { concurrency: 10 });
 * await queue.add("cat.jpg"); // from any process
 * await queue.whenIdle(); // nothing is ready, delayed or processing, in any process
 * await queue.shutDownWithDrain(); // this process takes no more items and finishes its current items
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's name, its server and its settings.
 * @returns The queue object of this process.
 * @throws {ConfigError} If `limiter` or `discipline` is invalid or can't work on Redis. The error lists every problem.
 * @throws {TypeError} If an option is unknown, missing, of the wrong type or only for in-memory queues; if more than
 * one of `url`, `cluster` and `client` is given; if `tls` or `sentinels` lacks the `url` that it needs; or if the
 * `client` is not supported, for example because it may send a call twice.
 * @throws {RangeError} If an option is out of range.
 */
export function createRedisQueue<T = string>(options: RedisQueueOptions<T>): RedisQueue<T> {
  requireRedisOptions(ACTION, options, OF_QUEUE);
  if (options.name === undefined) throw invalidArgument(ACTION, "name", A_NAME[1], undefined);
  const { limiter = defaultControllerConfig, limiters = defaultLimiters } = options;
  const plan = planLimiter(ACTION, limiters.describe(limiter as LimiterConfig));
  const { discipline, disciplines = defaultDisciplines, keepGivenUp, retryBudget } = options;
  const order = discipline && planDiscipline(ACTION, disciplines.describe(discipline));
  const settings = { limiter: plan, throttleName: { path: "" }, shared: undefined, keepGivenUp, retryBudget };
  return openQueue(options, settings, order);
}

/** Opens a queue. The caller must have checked the options and planned the limiter and the discipline. */
export function openQueue<T>(
  options: RedisQueueOptions<T>,
  { limiter, keepGivenUp, retryBudget, ...throttles }: LiveSettings,
  discipline: DisciplinePlan | undefined,
): LiveRemoteQueue<T> {
  const { name, maxStalls = 5, keyOf, addWhileDelayed = "keep", metrics, onQueueError } = options;
  const { leaseDuration, callTimeout } = intervalsOf(ACTION, options);
  const connection = connect(ACTION, { ...options, callTimeout });
  const engine = new RedisEngine(connection, scripts, {
    name,
    leaseDuration,
    maxStalls,
    replaces: addWhileDelayed !== "keep",
    folds: addWhileDelayed === "fold",
    hasItems: keyOf !== undefined,
    limiter,
    discipline,
    retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
    retryBudget,
  });
  const throttleStore = new RedisThrottleStore(connection, throttleScripts);
  return createRemoteQueue({ engine, throttleStore, keyOf, ...throttles, metrics, onQueueError });
}
