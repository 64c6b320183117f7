import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { cannotOpen, isBusy } from "./errors.ts";
import { OpenFiles } from "./open_files.ts";
import { requireOnePlace } from "./place.ts";
import { requireSqlite } from "./sqlite.ts";
import { Statements } from "./statements.ts";
import { createTables, hasTables, requireVersion } from "./tables.ts";
import { requireAllFiles } from "./all_files.ts";

/** Whether a transaction must be on disk before its promise resolves, or may be lost by a power cut. */
export type Durability = "full" | "normal";

/** Maximum size of the log in bytes once it has been copied into the file. */
export const MAX_LOG = 5_000_000;

/** Open file. */
interface Opened {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly files: OpenFiles;
  durability: Durability | undefined;
  /** Version of the file in the latest transaction, by which SQLite notices commits of other connections. */
  version: number | undefined;
}

/**
 * Connection to a file, which is opened when it is first used. Never waits for a lock: a use that needs a locked file
 * fails with an error of SQLite that says so, and the next use tries again.
 */
export class FileConnection {
  readonly #path: string;
  #opened: Opened | undefined;
  /** Why the file is not opened any more. */
  #end: string | undefined;

  /** @param path The real path. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Statements of the open file. */
  get sql(): Statements {
    return this.open().sql;
  }

  /**
   * Opens the file, unless it is open. Creates its tables if it has none.
   *
   * @throws {Error} If this runtime has no SQLite, the file can't be opened, or its tables have another version.
   */
  open(): Opened {
    if (this.#end !== undefined) throw new Error(this.#end);
    return this.#opened ??= openNow(this.#path);
  }

  /**
   * Opens the file, unless it is open, or another connection has locked it.
   *
   * @throws {Error} For any other reason that the file can't be opened.
   */
  openUnlessLocked(): void {
    try {
      this.open();
    } catch (error) {
      if (!isBusy(error)) throw cannotOpen(this.#path, error);
    }
  }

  /** Sets the durability of the next transactions. */
  setDurability(durability: Durability): void {
    const opened = this.open();
    if (durability === opened.durability) return;
    opened.sql.run(durability === "full" ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    opened.durability = durability;
  }

  /**
   * Reports whether another connection has written to the file since the previous transaction. Called in a transaction.
   *
   * @throws {Error} If that was another release, which has changed the tables.
   */
  isChanged(): boolean {
    const opened = this.open();
    const { data_version } = opened.sql.get<{ data_version: number }>("PRAGMA data_version")!;
    if (data_version === opened.version) return false;
    requireVersion(opened.sql);
    opened.version = data_version;
    return true;
  }

  /**
   * Throws if the files are not those that were opened, or have several names.
   *
   * @throws {Error} Also if the folder can't be read.
   */
  requireSound(): void {
    const fault = this.#opened?.files.findFault();
    if (fault?.isFinal) this.#abandon(fault.reason);
    if (fault !== undefined) throw new Error(fault.reason);
  }

  /**
   * Syncs the log, copies it into the file, and truncates it if it is large and nobody reads. Returns whether it is
   * small now.
   */
  checkpoint(): boolean {
    try {
      this.requireSound();
      const isLarge = () => statSync(`${this.#path}-wal`).size > MAX_LOG;
      this.sql.get(`PRAGMA wal_checkpoint(${isLarge() ? "TRUNCATE" : "PASSIVE"})`);
      return !isLarge();
    } catch {
      return true; // the log keeps everything until the next checkpoint
    }
  }

  /** Ends the transaction, if one is open. */
  rollBack(): void {
    if (this.#opened?.database.isTransaction) this.sql.run("ROLLBACK");
  }

  close(): void {
    try {
      this.requireSound();
    } catch {
      // No call is left that could reject with the reason.
    }
    this.#opened?.database.close();
    this.#opened = undefined;
    this.#end ??= "it was closed";
  }

  /**
   * Closes files that are not those of other processes. The last connection that closes a file removes its log, which
   * would be the log of other processes now, so a second connection has the file open meanwhile.
   */
  #abandon(reason: string): void {
    const { database } = this.#opened!;
    this.#opened = undefined;
    this.#end = reason;
    let second: DatabaseSync | undefined;
    try {
      const { DatabaseSync } = requireSqlite();
      second = new DatabaseSync(this.#path, { readOnly: true });
      second.prepare("SELECT 1 FROM sqlite_schema").get();
    } catch {
      // The file itself was removed or replaced. SQLite notices that when it closes the file.
    }
    database.close();
    second?.close();
  }
}

function openNow(path: string): Opened {
  const { DatabaseSync } = requireSqlite();
  requireOnePlace(path);
  requireAllFiles(path);
  const database = new DatabaseSync(path);
  try {
    const sql = new Statements(database);
    hasTables(sql); // first, because a file that is refused must not change
    sql.get("PRAGMA journal_mode = WAL");
    createTables(database, sql);
    // A log that grew beyond this size while somebody read is cut off when it begins again.
    sql.get(`PRAGMA journal_size_limit = ${MAX_LOG}`);
    return { database, sql, files: new OpenFiles(path), durability: undefined, version: undefined };
  } catch (error) {
    database.close();
    throw error;
  }
}
