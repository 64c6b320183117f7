import type { WorkQueueConfig } from "@workqueue/core";
import { hasMethods, invalidArgument, requireOptions } from "@workqueue/core/arguments";
import type { RedisQueue, RedisQueueOptions } from "./contract.ts";
import { openQueue } from "./create_queue.ts";
import { followReloads, requireOwnBuckets, settingsIn } from "./document.ts";

/** Where the queues of a document are, and what they have in common. */
export type RedisQueuesOptions = Pick<
  RedisQueueOptions<never>,
  "url" | "client" | "lease" | "maxLapses" | "patience" | "metrics" | "onError"
>;

/** The queues of a document, on a server. */
export interface RedisQueues {
  /**
   * Opens a queue as the document describes it. When the document is reloaded, it does what the new one says, until it is shut
   * down: of the limiter, and of the bucket `starts`. Its workers do so that are run by `config.runWorkers`.
   *
   * @param name The name of the queue, in the document and on the server.
   * @param options What the document cannot say, such as `keyOf`.
   * @returns The queue, as this process sees it.
   * @throws {ConfigError} If its limiter cannot work on Redis, or it has a discipline.
   * @throws {RangeError} If the document has no queue of that name.
   * @throws {TypeError} If the document says something of the queue that is not possible on Redis, or an option is not right.
   */
  queue<T = string>(
    name: string,
    options?: Pick<RedisQueueOptions<T>, "keyOf" | "lease" | "maxLapses" | "patience" | "metrics" | "onError">,
  ): RedisQueue<T>;
}

const ACTION = "open Redis queue";

/**
 * The queues of a config document on a server, instead of in memory. They measure where those in memory would, and follow its reloads: while one of them is not shut
 * down, a document that cannot be on Redis is rejected.
 *
 * @example Usage
 * ```ts ignore
 * import { loadConfig } from "@workqueue/core";
 * import { redisQueues } from "@workqueue/redis";
 *
 * const config = loadConfig({ queues: { images: { concurrency: 10, starts: { rate: 100, burst: 10 } } } });
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
 * @throws {TypeError} If an option is unknown.
 */
export function redisQueues(config: WorkQueueConfig, options: RedisQueuesOptions): RedisQueues {
  if (!hasMethods(config, "describe", "onReload")) {
    throw invalidArgument(ACTION, "config", "must be what loadConfig returns", config);
  }
  requireOwnBuckets(ACTION, config);
  requireOptions(ACTION, options, ["url", "client", "lease", "maxLapses", "patience", "metrics", "onError"]);
  return {
    queue<T>(name: string, own: Partial<RedisQueueOptions<T>> = {}) {
      requireOptions(ACTION, own, ["keyOf", "lease", "maxLapses", "patience", "metrics", "onError"]);
      const { whileWaiting } = config.describe(name);
      const metrics = own.metrics ?? options.metrics ?? config.metrics;
      const queue = openQueue({ ...options, ...own, name, whileWaiting, metrics }, settingsIn(ACTION, config, name));
      followReloads(config, queue);
      return queue;
    },
  };
}
