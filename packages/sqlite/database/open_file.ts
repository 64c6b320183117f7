import { statSync } from "node:fs";
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { reasonOf } from "./errors.ts";
import { networkTypeOf, readMounts } from "./place.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** Statement after which calls wait for other processes: they may be opening or closing the file. */
const WAIT = "PRAGMA busy_timeout = 1000";

/**
 * Opens a database file. Creates its tables if it has none.
 *
 * @param path The real path.
 * @throws {Error} If this runtime has no SQLite, the file can't be opened, or its tables have another version.
 */
export function openFile(path: string): DatabaseSync {
  const { DatabaseSync } = requireSqlite(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // Several processes may open the file at the same time.
    database.exec(WAIT);
    hasTables(database); // first, because a file that is refused must not change
    database.exec("PRAGMA journal_mode = WAL");
    createTables(database);
    database.exec("PRAGMA busy_timeout = 0");
    return database;
  } catch (error) {
    database?.close();
    throw cannotOpen(path, error);
  }
}

/**
 * Reads a file, which must exist. Creates and changes nothing.
 *
 * @param path The path.
 * @param read Reads from the tables of this release.
 * @returns The result of `read`; `undefined` if the file has no tables yet.
 * @throws {Error} If this runtime has no SQLite, or the file can't be opened or read.
 */
export function readFile<R>(path: string, read: (database: DatabaseSync) => R): R | undefined {
  const { DatabaseSync } = requireSqlite(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    database.exec(WAIT);
    return hasTables(database) ? read(database) : undefined;
  } catch (error) {
    throw cannotOpen(path, error);
  } finally {
    database?.close();
  }
}

/** Reports whether a connection has the right to write to a file, as far as `node:sqlite` can see its lock. */
export function isLocked(path: string): boolean {
  const { DatabaseSync } = requireSqlite(path);
  const database = new DatabaseSync(path);
  try {
    database.prepare("BEGIN IMMEDIATE").run();
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

/** Returns the module `node:sqlite` of this runtime, unless it can't be used for a file. */
function requireSqlite(path: string): typeof import("node:sqlite") {
  const sqlite = process.getBuiltinModule?.("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (sqlite === undefined) {
    throw new Error(`Cannot open ${path}: this runtime has no node:sqlite. Use Deno, Bun, or Node 22.13 or later`);
  }
  const network = networkTypeOf(path, readMounts());
  if (network !== undefined) {
    throw new Error(
      `Cannot open ${path}: it is on a network file system (${network}), where SQLite does not lock files reliably. ` +
        "Use a local disk, or Redis",
    );
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`Cannot open ${path}: it is a folder`);
  return sqlite;
}

function cannotOpen(path: string, error: unknown): Error {
  return new Error(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
}

/**
 * Reports whether the database has the tables of queues.
 *
 * @throws {Error} If they have another version, or if another program has set the version.
 */
function hasTables(database: DatabaseSync): boolean {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === 0) return false;
  const isOfQueues = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'queues'").get() !== undefined;
  if (!isOfQueues) {
    throw new Error(`another program has set its user_version to ${version}. Give the queue a file of its own`);
  }
  if (version === SCHEMA_VERSION) return true;
  throw new Error(
    `it has version ${version} of the tables, and this release uses version ${SCHEMA_VERSION}. ` +
      "Use the release that wrote it, or another file",
  );
}

function createTables(database: DatabaseSync): void {
  if (hasTables(database)) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have created them meanwhile.
  if (!hasTables(database)) database.exec(`${SCHEMA}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  database.exec("COMMIT");
}
