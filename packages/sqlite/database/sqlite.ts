import process from "node:process";

/**
 * Returns the module `node:sqlite`.
 *
 * @throws {Error} If this runtime has none.
 */
export function requireSqlite(): typeof import("node:sqlite") {
  const sqlite = process.getBuiltinModule?.("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (sqlite !== undefined) return sqlite;
  throw new Error("this runtime has no node:sqlite. Use Deno, Bun, or Node 22.13 or later");
}

/** Reports whether a connection has the right to write to a file, as far as `node:sqlite` can see its lock. */
export function isLocked(path: string): boolean {
  const { DatabaseSync } = requireSqlite();
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
