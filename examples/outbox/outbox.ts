/**
 * Outbox in the SQLite database of a service: items that are to go to a queue on Redis.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

/** Queue to which an outbox is flushed. */
interface Target {
  addAll(items: string[]): Promise<unknown>;
}

/** Opens the database of the service, with its tables. */
export function open(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY)");
  database.exec("CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL)");
  return database;
}

/**
 * Waits until this process is the only one that flushes the outbox. It is until it ends: the operating system gives the
 * lock of a killed process back.
 */
export async function becomeOwner(path: string): Promise<DatabaseSync> {
  const lock = new DatabaseSync(`${path}-owner`, { timeout: 0 });
  for (;;) {
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      if (!String(error).includes("locked")) throw error;
    }
    await delay(100);
  }
}

/**
 * Adds the oldest rows to the queue, and deletes them. Returns their number. If the process is killed before it has
 * deleted them, the next owner adds them again.
 */
export async function flush(database: DatabaseSync, queue: Target, size = 100): Promise<number> {
  const rows = database.prepare("SELECT id, item FROM outbox ORDER BY id LIMIT ?").all(size);
  if (rows.length === 0) return 0;
  await queue.addAll(rows.map(({ item }) => String(item)));
  // By their ids, not by the last one: a transaction with a smaller id may be committed later.
  const remove = database.prepare("DELETE FROM outbox WHERE id = ?");
  database.exec("BEGIN IMMEDIATE");
  for (const { id } of rows) remove.run(id as number);
  database.exec("COMMIT");
  return rows.length;
}
