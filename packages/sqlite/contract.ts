import type { RemoteAddAllOptions, RemoteLease, RemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import type { SqliteConnection } from "./database/statements.ts";

/** Options of {@linkcode createSqliteQueue}. */
export interface SqliteQueueOptions<T = string> extends RemoteQueueOptions<T> {
  /** Name of the queue: a non-empty string. Processes that use the same name in the same file share the queue. */
  name: string;
  /**
   * Path of the database file, which is created if it doesn't exist. The file must be on a local disk: SQLite does not
   * lock files reliably on network file systems. Beside it are files with `-wal`, `-shm` and `-wake` after its name.
   */
  path: string;
  /**
   * Whether the promise of an add resolves when the item is on the disk (`"full"`), or already when the operating
   * system has it (`"normal"`). With `"normal"`, adds are faster, and a power cut or a crash of the machine loses the
   * adds of the last seconds. A killed process loses no adds. Takes and finishes are always `"normal"`.
   *
   * @default {"full"}
   */
  durability?: "full" | "normal" | undefined;
  /**
   * Whether a thread of its own writes to the file, so that the event loop never waits for the disk. A call then takes
   * about 0.1 ms longer. All queues of a process with the same file and this option share a thread. In a program that
   * is bundled into one file, `true` throws: bundle a second file that calls `serveThread` of
   * `@workqueue/sqlite/thread`, and give its URL.
   *
   * @default {false}
   */
  thread?: boolean | string | URL | undefined;
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
  | "forgetAfter"
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
 * Each failed call is reported to `onQueueError`, or, without this callback, to `console.error` unless the program
 * handles the rejection. Promises need not be awaited, because no rejection counts as unhandled. Calls reject with:
 *
 * - a {@linkcode SqliteConnectionError} if another program locks the file for longer than `callTimeout`, or if the disk
 *   is full;
 * - a `TypeError` or `RangeError` if an argument is invalid;
 * - an `Error` if this queue object was shut down (see {@linkcode RemoteQueue.shutDown}).
 *
 * Created by {@linkcode createSqliteQueue}.
 *
 * @typeParam T The type of the items.
 * @typeParam R The type of the results, which handlers return.
 */
export interface SqliteQueue<T = string, R = unknown> extends RemoteQueue<T, R> {
  /**
   * Adds items in a transaction of your own on the same file: if it commits, the items are in the queue, and if it is
   * rolled back, they are not. Begin the transaction with `BEGIN IMMEDIATE`. The items are handed out after `COMMIT`,
   * which returns when they are on the disk, if the connection has `synchronous=FULL`, SQLite's default. Other calls of
   * all queues in the file wait until the transaction ends.
   *
   * @example Usage
   * ```ts
   * import { createSqliteQueue } from "@workqueue/sqlite";
   * import { mkdtempSync } from "node:fs";
   * import { DatabaseSync } from "node:sqlite";
   *
   * const path = `${mkdtempSync("/tmp/orders-")}/orders.db`; // use a folder that stays
   * await using mails = createSqliteQueue({ name: "mails", path });
   * const database = new DatabaseSync(path, { timeout: 5000 });
   * database.exec("CREATE TABLE orders (id TEXT PRIMARY KEY)");
   *
   * database.exec("BEGIN IMMEDIATE");
   * database.prepare("INSERT INTO orders (id) VALUES (?)").run("order-1");
   * mails.addWithin(database, ["order-1"]);
   * database.exec("COMMIT"); // both or neither
   * database.close();
   * ```
   *
   * @param connection A connection with an open transaction, whose main database is the file of the queue: a
   * `DatabaseSync` of `node:sqlite`, or on Bun a `Database` of `bun:sqlite`. Other libraries, such as `better-sqlite3`,
   * have their own copy of SQLite: if a process opens one file with two copies, the file is damaged.
   * @param items The items.
   * @param options Priorities and delays, and the span that adds the items.
   * @throws {Error} If the queue object was shut down, if no transaction is open, if the connection is to another file
   * or comes from another copy of SQLite, or if SQLite fails. Nothing was added then, and the transaction stays open.
   * @throws {RangeError} If a priority or a delay is invalid.
   * @throws {TypeError} If an item has no valid key or no JSON form, or if an argument is of the wrong type.
   */
  addWithin(connection: SqliteConnection, items: Iterable<T>, options?: RemoteAddAllOptions<T>): void;
}

/** Right to work on an item of a {@linkcode SqliteQueue}. */
export type SqliteLease<T = string> = RemoteLease<T>;
