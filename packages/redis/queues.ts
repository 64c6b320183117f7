import type { WorkQueueConfig } from "@workqueue/core";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { RedisQueue, RedisQueueOptions, RedisQueuesOptions } from "./contract.ts";
import { openQueue } from "./create_queue.ts";
import { followReloads, requireOwnBuckets, settingsIn } from "./document.ts";
import { OF_ONE_QUEUE, OF_QUEUES, requireRedisOptions } from "./options.ts";

/** The queues of a document, on a server. */
export interface RedisQueues {
  /**
   * Opens a queue as the document describes it. When the document is reloaded, it does what the new one says, until it
   * is shut down: of the limiter, and of the bucket `throttle`. Its workers do so that are run by `config.runWorkers`.
   *
   * @param name The name of the queue, in the document and on the server.
   * @param options What the document cannot say, such as `keyOf`. An option that is `undefined` counts as not given.
   * @returns The queue, as this process sees it.
   * @throws {ConfigError} If its limiter cannot work on Redis, or it has a discipline.
   * @throws {RangeError} If the document has no queue of that name.
   * @throws {TypeError} If the document says something of the queue that is not possible on Redis, or an option is not
   * right.
   */
  queue<T = string>(
    name: string,
    options?: Omit<RedisQueuesOptions, "url" | "client"> & Pick<RedisQueueOptions<T>, "keyOf">,
  ): RedisQueue<T>;
}

const ACTION = "open Redis queue";

/**
 * The queues of a config document on a server, instead of in memory. They measure where those in memory would, and
 * follow its reloads: while one of them is not shut down, a document that cannot be on Redis is rejected. `maxSleep`
 * has no effect.
 *
 * @example Usage
 * ```ts ignore
 * import { loadConfig } from "@workqueue/core";
 * import { redisQueues } from "@workqueue/redis";
 *
 * const config = loadConfig({ queues: { images: { concurrency: 10, throttle: { rate: 100, burst: 10 } } } });
 * const queue = redisQueues(config, { url: "redis://localhost:6379" }).queue("images");
 * config.runWorkers("images", queue, (image) => console.log(image));
 * await queue.add("cat.jpg");
 * await queue.whenIdle();
 * await queue.shutDownWithDrain();
 * ```
 *
 * @param config The document.
 * @param options Where the server is, and what holds for all of the queues.
 * @returns What opens them by name.
 * @throws {ConfigError} If queues of the document share a bucket; with all of them.
 * @throws {TypeError} If an option is unknown or of the wrong type.
 * @throws {RangeError} If an option is out of its bounds.
 */
export function redisQueues(config: WorkQueueConfig, options: RedisQueuesOptions): RedisQueues {
  if (!hasMethods(config, "describe", "onReload")) {
    throw invalidArgument(ACTION, "config", "must be what loadConfig returns", config);
  }
  requireOwnBuckets(ACTION, config);
  requireRedisOptions(ACTION, options, OF_QUEUES);
  const common = { metrics: config.metrics, ...given(options) };
  return {
    queue<T>(name: string, own: Partial<RedisQueueOptions<T>> = {}) {
      requireRedisOptions(ACTION, own, OF_ONE_QUEUE);
      const { addWhileDelayed } = config.describe(name);
      const queue = openQueue<T>({ ...common, ...given(own), name, addWhileDelayed }, settingsIn(ACTION, config, name));
      followReloads(config, queue);
      return queue;
    },
  };
}

/** The options that are not `undefined`. */
function given<O extends object>(options: O): O {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O;
}
