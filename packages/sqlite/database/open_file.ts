import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { reasonOf } from "./errors.ts";
import { networkTypeOf, readMounts } from "./place.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

/** Pages in the write-ahead log, of 4 KiB each, at which a transaction makes a checkpoint if there was no idle time. */
const MAX_LOG = 4000;

/**
 * Opens a database file, and brings its tables to the version of this release.
 *
 * @param path The real path.
 * @throws {Error} If this runtime has no SQLite, or the file can't be opened.
 */
export function openFile(path: string): DatabaseSync {
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
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(path);
    // Several processes may open the file at the same time.
    database.exec("PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL");
    migrate(database);
    database.exec(`PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = ${MAX_LOG}`);
    return database;
  } catch (error) {
    database?.close();
    throw new Error(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function migrate(database: DatabaseSync): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `it has version ${version} of the tables, and this release uses ${SCHEMA_VERSION}. ` +
        "Use the release that wrote it",
    );
  }
  if (version === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  const { user_version: current } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  for (const statements of MIGRATIONS.slice(current)) database.exec(statements); // unless another process has run them
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
