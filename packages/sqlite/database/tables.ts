import type { DatabaseSync } from "node:sqlite";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import type { Statements } from "./statements.ts";

/**
 * Reports whether a database has the tables of queues.
 *
 * @throws {Error} If they have another version, or if another program has set the version.
 */
export function hasTables(sql: Statements): boolean {
  const version = versionOf(sql);
  if (version === 0) return false;
  if (sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'queues'") === undefined) {
    throw new Error(`another program has set its user_version to ${version}. Give the queue a file of its own`);
  }
  requireVersion(sql);
  return true;
}

/**
 * Throws if the tables of a database have another version. Another release may have changed them while the database was
 * open, so each transaction must know the version.
 */
export function requireVersion(sql: Statements): void {
  const version = versionOf(sql);
  if (version === SCHEMA_VERSION) return;
  if (version === 0) throw new Error("it has no tables of queues");
  throw new Error(
    `it has version ${version} of the tables, and this release uses version ${SCHEMA_VERSION}. ` +
      "Use the release that wrote it, or another file",
  );
}

/** Creates the tables of queues if a database has none. */
export function createTables(database: DatabaseSync, sql: Statements): void {
  if (hasTables(sql)) return;
  sql.run("BEGIN IMMEDIATE");
  // Another process may have created them meanwhile.
  if (!hasTables(sql)) database.exec(`${SCHEMA}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  sql.run("COMMIT");
}

function versionOf(sql: Statements): number {
  return sql.get<{ user_version: number }>("PRAGMA user_version")!.user_version;
}
