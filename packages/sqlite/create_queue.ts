import { disciplines as defaultDisciplines, type LimiterConfig, limiters as defaultLimiters } from "@workqueue/core";
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
  type RemoteAddAllOptions,
  resultsOf,
  retentionOf,
  retriesFirstOf,
} from "@workqueue/engine";
import type { SqliteQueue, SqliteQueueOptions } from "./contract.ts";
import { realPathOf } from "./database/place.ts";
import type { SqliteConnection } from "./database/statements.ts";
import { SQLITE } from "./interpreter.ts";
import { OF_QUEUE, requireSqliteOptions } from "./options.ts";
import { addWithin } from "./outbox.ts";
import { clock, openPartsNow } from "./parts.ts";
import { PRODUCT } from "./product.ts";
import { openThreadParts } from "./thread/thread_parts.ts";

const ACTION = "create SQLite queue";

/**
 * Opens a queue in a file. Creates the file if it doesn't exist. If another connection has locked the file, the first
 * call of the queue opens it.
 *
 * @example Usage
 * ```ts
 * import { runWorkers } from "@workqueue/core";
 * import { createSqliteQueue } from "@workqueue/sqlite";
 * import { mkdtempSync } from "node:fs";
 *
 * const folder = mkdtempSync("/tmp/images-"); // use a folder that stays
 * const queue = createSqliteQueue({ name: "images", path: `${folder}/queue.db` });
 * runWorkers(queue, (image) => console.log(image), { concurrency: 10 });
 * await queue.add("cat.jpg"); // on the disk, from any process of this machine
 * await queue.whenIdle(); // nothing is ready, delayed or processing, in any process
 * await queue.shutDownWithDrain(); // this process takes no more items and finishes its current items
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam R The type of the results, which handlers return.
 * @param options The queue's name, its file and its settings.
 * @returns The queue object of this process.
 * @throws {ConfigError} If `limiter` or `discipline` is invalid or can't work in a queue that processes share. The
 * error lists every problem.
 * @throws {Error} If this runtime has no SQLite, or if the file can't be opened.
 * @throws {TypeError} If an option is unknown, missing, of the wrong type or only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function createSqliteQueue<T = string, R = unknown>(options: SqliteQueueOptions<T>): SqliteQueue<T, R> {
  requireSqliteOptions(ACTION, options, OF_QUEUE, ["name", "path"]);
  const { limiter = defaultControllerConfig, limiters = defaultLimiters } = options;
  const { discipline, disciplines = defaultDisciplines, keepGivenUp, retryBudget } = options;
  const forgetAfter = forgetAfterOf(ACTION, options);
  const plan = planLimiter(ACTION, limiters.describe(limiter as LimiterConfig), { forgetAfter });
  const order = discipline && planDisciplineFor(SQLITE, ACTION, disciplines.describe(discipline));
  const settings = { limiter: plan, throttleName: { path: "" }, shared: undefined, keepGivenUp, retryBudget };
  return openQueue(options, settings, order);
}

/** Opens a queue. The caller must have checked the options and planned the limiter and the discipline. */
export function openQueue<T, R = unknown>(
  options: SqliteQueueOptions<T>,
  { limiter, keepGivenUp, retryBudget, ...throttles }: LiveSettings,
  discipline: DisciplinePlan | undefined,
): SqliteQueue<T, R> & LiveRemoteQueue<T, R> {
  const { durability = "full", name, maxStalls = 5, keyOf, addWhileDelayed = "keep", metrics, onQueueError } = options;
  const { retryPriority } = options;
  const { leaseDuration, callTimeout } = intervalsOf(ACTION, options);
  const { storesResults, keepOutcomesFor } = resultsOf(ACTION, options);
  const path = realPathOf(options.path);
  const settings = {
    name,
    leaseDuration,
    maxStalls,
    ...entryOf(ADDS_WHILE_DELAYED, PRODUCT, "addWhileDelayed", addWhileDelayed),
    retriesFirst: retriesFirstOf(ACTION, options, discipline),
    hasItems: keyOf !== undefined,
    durability,
    callTimeout,
    limiter,
    discipline,
    retention: keepGivenUp === undefined ? undefined : retentionOf(keepGivenUp),
    retryBudget: retryBudget && budgetOf(retryBudget),
    keepOutcomesFor,
    clock,
  };
  const parts = options.thread ? openThreadParts(path, options.thread, settings) : openPartsNow(path, settings);
  const own = { keyOf, metrics, onQueueError, storesResults, retryPriority };
  const queue = createRemoteQueue<T, R>({ ...parts, ...throttles, ...own });
  return Object.assign(queue, {
    addWithin(connection: SqliteConnection, items: Iterable<T>, addOptions?: RemoteAddAllOptions<T>): void {
      const action = "add items within a transaction";
      addWithin(action, { ...settings, path }, connection, queue.entriesOf(action, items, addOptions));
    },
  });
}
