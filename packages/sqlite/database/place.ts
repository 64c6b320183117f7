/**
 * Checks of the place where a file is.
 *
 * @module
 */

import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { networkTypeOf, readMounts } from "./mounts.ts";

/** Returns the path without links, as SQLite must have one connection to a file, not one for each of its names. */
export function realPathOf(path: string): string {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path);
    const folder = realpathSync(dirname(path));
    // SQLite will create the file that a link leads to. Another process may have created the file itself meanwhile.
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? realPathOf(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "its folder does not exist" : message;
    throw new Error(`Cannot open ${path}: ${reason}`, { cause: error });
  }
}

/** Returns the paths of a file, of its log, and of the memory that its processes share. */
export function filesOf(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`];
}

/**
 * Throws if SQLite can't lock a file, or if the file has several names. For each name, SQLite would use another log and
 * other locks, and the processes would overwrite each other's work:
 * https://www.sqlite.org/howtocorrupt.html, section 2.5
 *
 * @param path The real path of the file, which need not exist.
 */
export function requireOnePlace(path: string): void {
  const mounts = readMounts();
  const network = networkTypeOf(path, mounts);
  if (network !== undefined) {
    throw new Error(
      `it is on a network file system (${network}), where SQLite does not lock files reliably. ` +
        "Use a local disk, or Redis",
    );
  }
  for (const file of filesOf(path)) {
    const name = file === path ? "it" : file;
    if (mounts.has(file)) {
      throw new Error(`${name} is mounted as a single file, without its log. Mount its folder instead`);
    }
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw new Error(`${name} is a folder`);
    if (stats !== undefined && stats.nlink > 1) throw new Error(`${name} ${HAS_LINKS}`);
  }
}

/** Reason for which a file with several hard links is refused. */
export const HAS_LINKS =
  "has several names (hard links), each of which would have a log of its own. Remove the other names, or replace them " +
  "by symbolic links";
