import { realpathSync } from "node:fs";
import { setImmediate } from "node:timers";
import type { Batch } from "./batch.ts";
import { announce, storeMessages } from "./messages.ts";
import { isLocked } from "./sqlite.ts";
import { type SqliteConnection, Statements } from "./statements.ts";
import { requireVersion } from "./tables.ts";

const statements = new WeakMap<SqliteConnection, Statements>();
/** Connections whose locks hold for the queue. */
const trusted = new WeakSet<SqliteConnection>();

/**
 * Runs a task in the open transaction of a user's connection to the file. If the task fails, it has changed nothing,
 * and the transaction stays open.
 *
 * @param path The real path of the file.
 * @throws {TypeError} If `connection` is not a connection.
 * @throws {Error} If no transaction is open, if the connection is to another file or comes from another copy of SQLite,
 * if its tables have another version, or if SQLite fails.
 */
export function runWithin(action: string, path: string, connection: SqliteConnection, task: (batch: Batch) => void) {
  const sql = statementsOf(connection);
  requireTransaction(action, path, connection, sql);
  sql.run("SAVEPOINT workqueue");
  try {
    const batch: Batch = { sql, shared: new Map(), kept: new Map() };
    task(batch);
    for (const each of batch.shared.values()) {
      each.end();
      storeMessages(sql, each.tx.messages, each.tx.now);
    }
    requireLock(action, path, connection);
    sql.run("RELEASE workqueue");
  } catch (error) {
    if (isInTransaction(connection) !== false) { // some errors of SQLite end the whole transaction
      sql.run("ROLLBACK TO workqueue");
      sql.run("RELEASE workqueue");
    }
    throw error;
  }
  // By then, most transactions have ended. Otherwise, the processes find the messages when they look again.
  setImmediate(() => announce(path));
}

function statementsOf(connection: SqliteConnection): Statements {
  let found = statements.get(connection);
  if (found === undefined) statements.set(connection, found = new Statements(connection));
  return found;
}

function requireTransaction(action: string, path: string, connection: SqliteConnection, sql: Statements): void {
  const file = sql.get<{ file: string | null }>("SELECT file FROM pragma_database_list WHERE name = 'main'")?.file;
  const isOfQueue = file !== undefined && file !== null && file !== "" && realpathSync(file) === path;
  if (!isOfQueue) {
    throw new Error(`Cannot ${action}: the connection is to ${file || "a database in memory"}, and not to ${path}`);
  }
  if (isInTransaction(connection) === false) {
    throw new Error(`Cannot ${action}: the connection has no open transaction. Begin one first`);
  }
  try {
    requireVersion(sql); // another release may have changed the tables since the queue was opened
  } catch (error) {
    throw new Error(`Cannot ${action} of ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Throws if the queue could write to the file during the transaction of a connection. A process has each lock of a file
 * only once, so two libraries with their own copies of SQLite don't see each other's locks. Their transactions would
 * overwrite each other: https://www.sqlite.org/howtocorrupt.html, section 2.2.1.
 */
function requireLock(action: string, path: string, connection: SqliteConnection): void {
  if (trusted.has(connection)) return;
  if (!isLocked(path)) {
    throw new Error(
      `Cannot ${action}: the connection comes from another copy of SQLite than node:sqlite. In one process, the locks ` +
        "of the two do not hold for each other, and they would damage the file. Open the connection with node:sqlite",
    );
  }
  trusted.add(connection);
}

/** Reports whether a transaction is open; `undefined` if the connection doesn't say so. */
function isInTransaction({ isTransaction, inTransaction }: SqliteConnection): boolean | undefined {
  return isTransaction ?? inTransaction;
}
