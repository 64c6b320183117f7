import { disciplines as defaultDisciplines, type LimiterConfig, limiters as defaultLimiters } from "@workqueue/core";
import { invalidArgument, requireRule } from "@workqueue/core/internal";
import { defaultControllerConfig } from "@workqueue/core/limiters";
import {
  ADDS_WHILE_DELAYED,
  budgetOf,
  createRemoteQueue,
  type DisciplinePlan,
  entryOf,
  forgetAfterOf,
  intervalsOf,
  type LiveRemoteQueue,
  type LiveSettings,
  planDisciplineFor,
  planLimiter,
  resultsOf,
  retentionOf,
  retriesFirstOf,
} from "@workqueue/engine";
import { connect } from "./connection/connect.ts";
import type { Connection } from "./connection/connection.ts";
import type { RedisQueue, RedisQueueOptions } from "./contract.ts";
import { namesOf } from "./division.ts";
import { RedisEngine, type RedisEngineSettings } from "./engine.ts";
import { REDIS } from "./interpreter.ts";
import { A_NAME, A_NUMBER_OF_PARTITIONS, expireAfterOf, OF_QUEUE, requireRedisOptions } from "./options.ts";
import { PartitionedRedisEngine, partOfBudget, partOfRetention } from "./partitioned_engine.ts";
import { Partitioning } from "./partitioning.ts";
import { PRODUCT } from "./product.ts";
import { Repartition } from "./repartition.ts";
import { createScripts, type Scripts } from "./scripts/script.ts";
import { createThrottleScripts } from "./scripts/throttle_script.ts";
import { RedisThrottleStore } from "./throttle_store.ts";

const ACTION = "create Redis queue";
const scripts = createScripts();
let partitionScripts: Scripts | undefined;
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
 * @typeParam R The type of the results, which handlers return.
 * @param options The queue's name, its server and its settings.
 * @returns The queue object of this process.
 * @throws {ConfigError} If `limiter` or `discipline` is invalid or can't work on Redis. The error lists every problem.
 * @throws {TypeError} If an option is unknown, missing, of the wrong type or only for in-memory queues; if more than
 * one of `url`, `cluster` and `client` is given; if `tls` or `sentinels` lacks the `url` that it needs; or if the
 * `client` is not supported, for example because it may send a call twice.
 * @throws {RangeError} If an option is out of range.
 */
export function createRedisQueue<T = string, R = unknown>(options: RedisQueueOptions<T>): RedisQueue<T, R> {
  requireRedisOptions(ACTION, options, OF_QUEUE);
  if (options.name === undefined) throw invalidArgument(ACTION, "name", A_NAME[1], undefined);
  const { limiter = defaultControllerConfig, limiters = defaultLimiters } = options;
  const { partitions } = options;
  const forgetAfter = forgetAfterOf(ACTION, options);
  const described = limiters.describe(limiter as LimiterConfig);
  const plan = planLimiter(ACTION, described, { partitions, forgetAfter });
  const { discipline, disciplines = defaultDisciplines, keepGivenUp, retryBudget } = options;
  const order = discipline && planDisciplineFor(REDIS, ACTION, disciplines.describe(discipline));
  const settings = { limiter: plan, throttleName: { path: "" }, shared: undefined, keepGivenUp, retryBudget };
  return openQueue(options, settings, order);
}

/** Opens a queue. The caller must have checked the options and planned the limiter and the discipline. */
export function openQueue<T, R = unknown>(
  options: RedisQueueOptions<T>,
  { limiter, keepGivenUp, retryBudget, ...throttles }: LiveSettings,
  discipline: DisciplinePlan | undefined,
): LiveRemoteQueue<T, R> & RedisQueue<T, R> {
  const { name, maxStalls = 5, keyOf, addWhileDelayed = "keep", metrics, onQueueError, retryPriority } = options;
  const { leaseDuration, callTimeout } = intervalsOf(ACTION, options);
  const { storesResults, keepOutcomesFor } = resultsOf(ACTION, options);
  const connection = connect(ACTION, { ...options, callTimeout });
  const settings: RedisEngineSettings = {
    name,
    leaseDuration,
    maxStalls,
    ...entryOf(ADDS_WHILE_DELAYED, PRODUCT, "addWhileDelayed", addWhileDelayed),
    retriesFirst: retriesFirstOf(ACTION, options, discipline),
    hasItems: keyOf !== undefined,
    limiter,
    discipline,
    retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
    retryBudget: retryBudget && budgetOf(retryBudget),
    expireAfter: expireAfterOf(ACTION, options),
    keepOutcomesFor,
  };
  const { partitions = 1 } = options;
  const engine = partitions === 1
    ? new RedisEngine(connection, scripts, settings)
    : createPartitions(connection, settings, partitions);
  const throttleStore = new RedisThrottleStore(connection, throttleScripts, settings.expireAfter);
  const own = { keyOf, metrics, onQueueError, storesResults, retryPriority };
  const queue = createRemoteQueue<T, R>({ engine, throttleStore, ...throttles, ...own });
  const separator = discipline?.separator ?? null;
  return Object.assign(queue, {
    async repartition(count: number) {
      requireRule("divide queue", "partitions", count, A_NUMBER_OF_PARTITIONS);
      if (queue.shuttingDown) throw new Error("Cannot divide queue: this queue object was shut down");
      const own = connect(ACTION, { ...options, callTimeout }); // a shutdown of the queue object doesn't end the move
      try {
        await new Repartition(own, name, separator).run(count);
      } finally {
        await own.release();
      }
    },
  });
}

function createPartitions(
  connection: Connection,
  settings: RedisEngineSettings,
  count: number,
): PartitionedRedisEngine {
  partitionScripts ??= createScripts(undefined, true);
  const { name, discipline, retention, retryBudget } = settings;
  const partitioning = new Partitioning(connection, name, { count, separator: discipline?.separator ?? null });
  const common = {
    ...settings,
    retention: retention && partOfRetention(retention, count),
    retryBudget: retryBudget && partOfBudget(retryBudget, count),
    partitioning,
  };
  const engines = namesOf(name, { count }).map((name) => {
    return new RedisEngine(connection, partitionScripts!, { ...common, name });
  });
  return new PartitionedRedisEngine(settings, partitioning, engines);
}
