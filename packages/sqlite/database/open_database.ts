import { Database } from "./database.ts";

/** Databases that are open in this process, by path. Each has one connection, which all of its queues share. */
const open = new Map<string, { readonly database: Database; users: number }>();

/**
 * Opens a file, or returns the connection that this process has. Each caller must close it.
 *
 * @param path The real path.
 */
export function openDatabase(path: string): Database {
  let entry = open.get(path);
  if (entry === undefined) {
    entry = { database: new Database(path, { onClose: () => leave(path) }), users: 0 };
    open.set(path, entry);
  }
  entry.users++;
  return entry.database;
}

/** Records that a user no longer needs the database. Returns whether that was the last one. */
function leave(path: string): boolean {
  const entry = open.get(path);
  if (entry === undefined || --entry.users > 0) return false;
  open.delete(path);
  return true;
}
