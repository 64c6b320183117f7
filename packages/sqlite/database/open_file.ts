import type { DatabaseSync } from "node:sqlite";
import { cannotOpen } from "./errors.ts";
import { FileConnection } from "./file_connection.ts";
import { realPathOf, requireOnePlace } from "./place.ts";
import { requireSqlite } from "./sqlite.ts";
import { Statements } from "./statements.ts";
import { hasTables } from "./tables.ts";
import { requireAllFiles } from "./all_files.ts";

/** Milliseconds for which a read waits while another process opens or closes the file. */
const WAIT = 1000;

/**
 * Opens a database file. Creates its tables if it has none. If another connection has locked the file, the result opens
 * it when it is used.
 *
 * @param path The real path.
 * @throws {Error} If this runtime has no SQLite, the file can't be opened, or its tables have another version.
 */
export function openFile(path: string): FileConnection {
  const connection = new FileConnection(path);
  connection.openUnlessLocked();
  return connection;
}

/**
 * Reads a file, which must exist. Creates and changes nothing.
 *
 * @param path The path.
 * @param read Reads from the tables of this release.
 * @returns The result of `read`; `undefined` if the file has no tables yet.
 * @throws {Error} If this runtime has no SQLite, or the file can't be opened or read.
 */
export function readFile<R>(path: string, read: (sql: Statements) => R): R | undefined {
  const realPath = realPathOf(path);
  let database: DatabaseSync | undefined;
  try {
    const { DatabaseSync } = requireSqlite();
    requireOnePlace(realPath);
    requireAllFiles(realPath, WAIT);
    database = new DatabaseSync(realPath, { readOnly: true });
    database.exec(`PRAGMA busy_timeout = ${WAIT}`);
    const sql = new Statements(database);
    return hasTables(sql) ? read(sql) : undefined;
  } catch (error) {
    throw cannotOpen(path, error);
  } finally {
    database?.close();
  }
}
