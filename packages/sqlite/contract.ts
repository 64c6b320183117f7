import type { RemoteLease, RemoteQueue, RemoteQueueOptions } from "@workqueue/engine";

/** Options of {@linkcode createSqliteQueue}. */
export interface SqliteQueueOptions<T = string> extends RemoteQueueOptions<T> {
  /** Name of the queue: a non-empty string. Processes that use the same name in the same file share the queue. */
  name: string;
  /**
   * Path of the database file, which is created if it doesn't exist. The file must be on a local disk: SQLite does not
   * lock files reliably on network file systems. Beside it are files with `-wal`, `-shm` and `-wake` after its name.
   */
  path: string;
}

/**
 * Options of {@linkcode sqliteQueues}: the file, and settings that apply to all of its queues. Other settings come from
 * the config document or are set for each queue.
 */
export type SqliteQueuesOptions = Omit<
  SqliteQueueOptions<never>,
  | "name"
  | "limiter"
  | "limiters"
  | "discipline"
  | "disciplines"
  | "retryBudget"
  | "keepGivenUp"
  | "addWhileDelayed"
  | "keyOf"
>;

/**
 * Work queue in a file that the processes of one machine share. Results cover all processes. Shutdown affects only this
 * process.
 *
 * `await add(…)` resolves when the item is on the disk. Adds that are made at the same time share one write to the
 * disk. A process that is killed loses nothing. After a power cut, work that was finished right before may be repeated.
 *
 * Each failed call is reported to `onQueueError`. Promises need not be awaited, because their rejections are handled.
 * Calls reject with:
 *
 * - a {@linkcode SqliteConnectionError} if another program locks the file for longer than `callTimeout`, or if the disk
 *   is full;
 * - a `TypeError` or `RangeError` if an argument is invalid;
 * - an `Error` if this queue object was shut down (see {@linkcode RemoteQueue.shutDown}).
 *
 * Created by {@linkcode createSqliteQueue}.
 *
 * @typeParam T The type of the items.
 */
export interface SqliteQueue<T = string> extends RemoteQueue<T> {}

/** Right to work on an item of a {@linkcode SqliteQueue}. */
export type SqliteLease<T = string> = RemoteLease<T>;
