import type { ConfigContents, WorkQueueConfig } from "@workqueue/core";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import { disciplineIn, followReloads, type LiveSettings, settingsIn } from "@workqueue/engine";
import type { SqliteQueue, SqliteQueueOptions, SqliteQueuesOptions } from "./contract.ts";
import { openQueue } from "./create_queue.ts";
import { SQLITE } from "./interpreter.ts";
import { OF_ONE_QUEUE, OF_QUEUES, requireSqliteOptions } from "./options.ts";

/** Queues in a file, as described by a config document. */
export interface SqliteQueues {
  /**
   * Opens a queue as the document describes it. Reloads of the document change the queue's limiter, `throttle`,
   * `forgetAfter`, `keepGivenUp` and `retryBudget` until the queue object is shut down. Reloads also change the worker
   * pools that `config.runWorkers` started.
   *
   * @param name The name of the queue, in the document and in the file.
   * @param options Settings that the document can't contain, such as `keyOf`. An option that is `undefined` is ignored.
   * @returns The queue object of this process.
   * @throws {ConfigError} If the queue's limiter or discipline can't work in a queue that processes share, or if queues
   * share the bucket of a limiter.
   * @throws {Error} If the file can't be opened.
   * @throws {RangeError} If the document has no queue with that name, or if an option is out of range.
   * @throws {TypeError} If an option is unknown, of the wrong type or only for in-memory queues.
   */
  queue<T = string, R = unknown>(
    name: string,
    options?: Omit<SqliteQueuesOptions, "path"> & Pick<SqliteQueueOptions<T>, "keyOf">,
  ): SqliteQueue<T, R>;
}

const ACTION = "open SQLite queue";

/**
 * Opens queues of a config document in a file instead of in memory. By default, the queues report their metrics to the
 * config's provider, like the config's in-memory queues. The queues follow reloads of the document. Until a queue
 * object is shut down, a reload fails if the document can't work in a queue that processes share. `maxSleep` has no
 * effect.
 *
 * @example Usage
 * ```ts
 * import { loadConfig } from "@workqueue/core";
 * import { sqliteQueues } from "@workqueue/sqlite";
 * import { mkdtempSync } from "node:fs";
 *
 * const folder = mkdtempSync("/tmp/images-"); // use a folder that stays
 * const config = loadConfig({ queues: { images: { concurrency: 10, throttle: { rate: 100, burst: 10 } } } });
 * const queue = sqliteQueues(config, { path: `${folder}/queue.db` }).queue("images");
 * const pool = config.runWorkers("images", queue, (image) => console.log(image));
 * await queue.add("cat.jpg");
 * await queue.whenIdle();
 * await pool.stop();
 * await queue.shutDownWithDrain();
 * ```
 *
 * @param config The document.
 * @param options The file, and settings for all queues.
 * @returns An object that opens the queues by name.
 * @throws {TypeError} If `config` was not created by `loadConfig`, or if an option is unknown, missing, of the wrong
 * type or only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function sqliteQueues(config: WorkQueueConfig, options: SqliteQueuesOptions): SqliteQueues {
  if (!hasMethods(config, "describe", "onReload")) {
    throw invalidArgument(ACTION, "config", "must be a config returned by loadConfig", config);
  }
  requireSqliteOptions(ACTION, options, OF_QUEUES, ["path"]);
  const common = { metrics: config.metrics, ...given(options) };
  return {
    queue<T, R = unknown>(name: string, own: Partial<SqliteQueueOptions<T>> = {}) {
      requireSqliteOptions(ACTION, own, OF_ONE_QUEUE);
      const { addWhileDelayed } = config.describe(name);
      const settings = settingsOf(ACTION, config, name);
      const discipline = disciplineIn(ACTION, config, name, SQLITE);
      const queue = openQueue<T, R>({ ...common, ...given(own), name, addWhileDelayed }, settings, discipline);
      followReloads(config, queue, settingsOf);
      return queue;
    },
  };
}

function settingsOf(action: string, document: ConfigContents, name: string): LiveSettings {
  return settingsIn(action, document, name, SQLITE);
}

/** Returns the options that are not `undefined`. */
function given<O extends object>(options: O): O {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O;
}
