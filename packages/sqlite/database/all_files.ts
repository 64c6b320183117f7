import { existsSync, statSync } from "node:fs";
import { isBusy, LockedError } from "./errors.ts";
import { filesOf } from "./place.ts";
import { requireSqlite } from "./sqlite.ts";
import { Statements } from "./statements.ts";

/**
 * Throws if another connection uses a file without its log, or without the memory that processes share, because
 * somebody has removed them. A new connection would create them again, and neither would see the locks of the other.
 *
 * A connection that has a file open shares a lock on it, so a connection that gets an exclusive lock is alone.
 *
 * @param path The real path of the file.
 * @param wait The time for which the event loop may stand still, in milliseconds.
 * @throws {LockedError} If another connection uses the file, perhaps only to open or close it.
 */
export function requireAllFiles(path: string, wait = 0): void {
  const missing = filesOf(path).find((file) => !existsSync(file));
  if (missing === undefined || missing === path || statSync(path).size === 0) return;
  const { DatabaseSync } = requireSqlite();
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${wait}; PRAGMA locking_mode = EXCLUSIVE`);
    new Statements(database).get("SELECT 1 FROM sqlite_schema");
  } catch (error) {
    if (!isBusy(error)) return; // the caller opens the file too, and finds the same error
    throw new LockedError(
      `another connection has locked it, or uses it without ${missing}, which was removed. ` +
        "If it was removed, restart all processes that use the file",
      { cause: error },
    );
  } finally {
    database.close();
  }
}
