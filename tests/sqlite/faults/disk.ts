/**
 * Files of a database, and what crashes leave of them. The rules are those that SQLite documents for a write-ahead log:
 *
 * - a transaction appends frames to the log, in order. With `synchronous=FULL`, the log is synced afterwards;
 * - a checkpoint syncs the log, copies pages into the database, and syncs the database;
 * - a transaction after a checkpoint may start the log again from its begin, with another salt in the header, which is
 *   synced before the first frame is written.
 *
 * See https://www.sqlite.org/pragma.html#pragma_synchronous and https://www.sqlite.org/fileformat.html#walformat
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const [HEADER, FRAME_HEADER, PAGE, SECTOR] = [32, 24, 4096, 512];
/** Places of the salt in the header of a log, and in that of a frame. */
const [SALT, FRAME_SALT] = [16, 8];
/** Levels of `PRAGMA synchronous`. */
const [NORMAL, FULL] = [1, 2];

/** Contents of the files of a database: the database, its log, and its rollback journal until it has a log. */
export interface Files {
  readonly database: Uint8Array;
  readonly log: Uint8Array;
  readonly journal: Uint8Array;
}

const SUFFIXES: Readonly<Record<keyof Files, string>> = { database: "", log: "-wal", journal: "-journal" };

/** Reads the files as a process leaves them that is killed now. */
export function readFiles(path: string): Files {
  const read = (name: keyof Files) => {
    const file = path + SUFFIXES[name];
    return existsSync(file) ? new Uint8Array(readFileSync(file)) : new Uint8Array();
  };
  return { database: read("database"), log: read("log"), journal: read("journal") };
}

export function writeFiles(path: string, files: Files): void {
  for (const [name, suffix] of Object.entries(SUFFIXES)) {
    const bytes = files[name as keyof Files];
    if (bytes.length > 0) writeFileSync(path + suffix, bytes);
  }
}

/** Returns the files as a process leaves them that is killed while a statement turns some files into others. */
export function midway(before: Files, after: Files, random: () => number): Files {
  const isLogged = isSame(before.log, after.log) || (!isSame(before.database, after.database) && random() < 0.5);
  return isLogged
    ? { ...after, database: partOf(before.database, after.database, random) }
    : { ...before, log: partOf(before.log, after.log, random) };
}

/** Returns a file of which the first changed bytes have been written. */
function partOf(before: Uint8Array, after: Uint8Array, random: () => number): Uint8Array {
  const changed = after.findIndex((byte, i) => byte !== before[i]);
  if (changed < 0) return after;
  const end = changed + Math.floor(random() * (after.length - changed));
  const part = new Uint8Array(Math.max(end, before.length));
  part.set(before);
  part.set(after.subarray(0, end));
  return part;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/** Log of a database, and how much of it is on the disk. */
export class SyncedLog {
  readonly #path: string;
  /** Number of bytes that are on the disk. */
  #synced = 0;
  #salt: bigint | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Follows a statement that has run. Returns whether all transactions are on the disk now. */
  follow(sql: string, connection: DatabaseSync): boolean {
    const isCheckpoint = sql.includes("wal_checkpoint");
    if (!isCheckpoint && sql !== "COMMIT") return false;
    const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { synchronous: number };
    const { log } = readFiles(this.#path);
    const end = endOf(log);
    this.#restart(log);
    if (synchronous >= (isCheckpoint ? NORMAL : FULL)) this.#synced = end;
    return this.#synced === end;
  }

  /**
   * Returns the files as a power cut leaves them, if a kill would leave `files`: of what has not been synced, any part
   * may be missing.
   *
   * @param before The files before the statement that is running.
   */
  cut(files: Files, before: Files, random: () => number): Files {
    const kept = [0, 0.5, 1][Math.floor(random() * 3)]!;
    const isLost = () => random() >= kept;
    const [log, database] = [files.log.slice(), files.database.slice()];
    this.#restart(log);
    const isCheckpoint = !isSame(database, before.database); // the log was synced before
    const end = endOf(log);
    for (let at = isCheckpoint ? end : this.#synced; at < end; at += SECTOR - at % SECTOR) {
      if (isLost()) log.fill(0, at, at + SECTOR - at % SECTOR);
    }
    for (let at = 0; isCheckpoint && at < database.length; at += PAGE) {
      if (!isLost()) continue;
      database.fill(0, at, at + PAGE);
      database.set(before.database.subarray(at, at + PAGE), at);
    }
    return { ...files, log, database };
  }

  /** Notices that the log has started again. Its header is on the disk then. */
  #restart(log: Uint8Array): void {
    const salt = saltAt(log, SALT);
    if (salt !== this.#salt) this.#synced = Math.min(HEADER, log.length);
    this.#salt = salt;
  }
}

/** Returns the end of the frames since the last start of a log. */
function endOf(log: Uint8Array): number {
  const salt = saltAt(log, SALT);
  let end = Math.min(HEADER, log.length);
  while (end + FRAME_HEADER <= log.length && saltAt(log, end + FRAME_SALT) === salt) end += FRAME_HEADER + PAGE;
  return Math.min(end, log.length);
}

/** Returns the salt that all frames since the last start of a log have; `undefined` if the log ends before it. */
function saltAt(log: Uint8Array, at: number): bigint | undefined {
  return log.length < at + 8 ? undefined : new DataView(log.buffer, log.byteOffset).getBigUint64(at);
}
