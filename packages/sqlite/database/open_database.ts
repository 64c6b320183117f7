import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Database } from "./database.ts";

/** Databases that are open in this process, by path. Each has one connection, which all of its queues share. */
const open = new Map<string, { readonly database: Database; users: number }>();

/** Opens a file, or returns the connection that this process has. Each caller must close it. */
export function openDatabase(path: string): Database {
  const whole = realPathOf(path);
  let entry = open.get(whole);
  if (entry === undefined) {
    entry = { database: new Database(whole, { onClose: () => leave(whole) }), users: 0 };
    open.set(whole, entry);
  }
  entry.users++;
  return entry.database;
}

/** Returns the path without links, as SQLite must have one connection to a file, not one for each of its names. */
function realPathOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch (error) {
    throw new Error(`Cannot open ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Counts one user less. Returns whether that was the last one. */
function leave(path: string): boolean {
  const entry = open.get(path);
  if (entry === undefined || --entry.users > 0) return false;
  open.delete(path);
  return true;
}
