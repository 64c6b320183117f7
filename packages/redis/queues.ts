import type { ConfigContents, WorkQueueConfig } from "@workqueue/core";
import { hasMethods, invalidArgument, requireRule } from "@workqueue/core/internal";
import { disciplineIn, followReloads, requireOwnBuckets, settingsIn } from "@workqueue/engine";
import type { RedisQueue, RedisQueueOptions, RedisQueuesOptions } from "./contract.ts";
import { openQueue } from "./create_queue.ts";
import { REDIS } from "./interpreter.ts";
import { A_NAME, OF_ONE_QUEUE, OF_QUEUES, requireRedisOptions } from "./options.ts";

/** Queues on a server, as described by a config document. */
export interface RedisQueues {
  /**
   * Opens a queue as the document describes it. Reloads of the document change the queue's limiter, `throttle`,
   * `forgetAfter`, `keepGivenUp` and `retryBudget` until the queue object is shut down. Reloads also change the worker
   * pools that `config.runWorkers` started.
   *
   * @param name The name of the queue, in the document and on the server.
   * @param options Settings that the document can't contain, such as `keyOf`. An option that is `undefined` is ignored.
   * @returns The queue object of this process.
   * @throws {ConfigError} If the queue's limiter or discipline can't work on Redis, or if queues share the bucket of a
   * limiter.
   * @throws {RangeError} If the document has no queue with that name, or if an option is out of range.
   * @throws {TypeError} If the name has braces, or if an option is unknown, of the wrong type or only for in-memory
   * queues.
   */
  queue<T = string, R = unknown>(
    name: string,
    options?:
      & Omit<RedisQueuesOptions, "url" | "sentinels" | "cluster" | "tls" | "client">
      & Pick<RedisQueueOptions<T>, "partitions" | "keyOf">,
  ): RedisQueue<T, R>;
}

const ACTION = "open Redis queue";

/**
 * Opens queues of a config document on a server instead of in memory. By default, the queues report their metrics to
 * the config's provider, like the config's in-memory queues. The queues follow reloads of the document. Until a queue
 * object is shut down, a reload fails if the document can't work on Redis. `maxSleep` has no effect.
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
 * @param options The server, and settings for all queues.
 * @returns An object that opens the queues by name.
 * @throws {ConfigError} If queues in the document share the bucket of a limiter. The error lists every shared bucket.
 * @throws {TypeError} If `config` was not created by `loadConfig`, or if an option is unknown, of the wrong type or
 * only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function redisQueues(config: WorkQueueConfig, options: RedisQueuesOptions): RedisQueues {
  if (!hasMethods(config, "describe", "onReload")) {
    throw invalidArgument(ACTION, "config", "must be a config returned by loadConfig", config);
  }
  requireOwnBuckets(ACTION, config);
  requireRedisOptions(ACTION, options, OF_QUEUES);
  const common = { metrics: config.metrics, ...given(options) };
  return {
    queue<T, R = unknown>(name: string, own: Partial<RedisQueueOptions<T>> = {}) {
      requireRedisOptions(ACTION, own, OF_ONE_QUEUE);
      const { addWhileDelayed } = config.describe(name);
      requireRule(ACTION, "name", name, A_NAME);
      const discipline = disciplineIn(ACTION, config, name, REDIS);
      const settingsOf = (action: string, document: ConfigContents, name: string) => {
        return settingsIn(action, document, name, REDIS, own.partitions);
      };
      const settings = settingsOf(ACTION, config, name);
      const queue = openQueue<T, R>({ ...common, ...given(own), name, addWhileDelayed }, settings, discipline);
      followReloads(config, queue, settingsOf);
      return queue;
    },
  };
}

/** Returns the options that are not `undefined`. */
function given<O extends object>(options: O): O {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O;
}
