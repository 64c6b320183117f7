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

/**
 * Throws if SQLite can't lock a file.
 *
 * @param path The real path of the file, which need not exist.
 */
export function requireLocalFile(path: string): void {
  const network = networkTypeOf(path, readMounts());
  if (network !== undefined) {
    throw new Error(
      `it is on a network file system (${network}), where SQLite does not lock files reliably. ` +
        "Use a local disk, or Redis",
    );
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
}

/**
 * Milliseconds after a change to a folder during which another change may have the same time, and steps in which some
 * file systems, and Deno, count times.
 */
const [SAME_TIME, LARGE_STEP] = [20, 2000];

/** State of a folder, which changes whenever a file in it is created, removed or renamed. Nobody can set its time. */
interface FolderState {
  readonly dev: number;
  readonly ino: number;
  readonly ctimeMs: number;
}

/** Files of an open database. While they are open, somebody may remove or replace them: SQLite would not notice. */
export class OpenFiles {
  readonly #folder: string;
  readonly #paths: readonly string[];
  readonly #nodes: readonly (number | undefined)[];
  /** State of the folder in which the files were last found. */
  #known: FolderState | undefined = undefined;

  constructor(path: string) {
    this.#folder = dirname(path);
    this.#paths = [path, `${path}-wal`];
    this.#nodes = this.#paths.map(nodeOf);
  }

  /**
   * Returns the path of a file that is not the one that was opened; `undefined` if all are. Looks at the files only if
   * their folder has changed, because syncs of a file take longer when its state was read since the last one: Linux
   * then stores the time of the next write exactly.
   *
   * @throws {Error} If the folder can't be read.
   */
  findReplaced(): string | undefined {
    const folder = statSync(this.#folder, { throwIfNoEntry: false });
    if (folder !== undefined && isSame(folder, this.#known)) return undefined;
    this.#known = undefined;
    const replaced = this.#paths.find((path, i) => nodeOf(path) !== this.#nodes[i]);
    if (folder !== undefined && replaced === undefined && isAtRest(folder)) this.#known = folder;
    return replaced;
  }
}

function isSame({ dev, ino, ctimeMs }: FolderState, known: FolderState | undefined): boolean {
  return known !== undefined && known.dev === dev && known.ino === ino && known.ctimeMs === ctimeMs;
}

/** Reports whether the next change to a folder will have another time. */
function isAtRest({ ctimeMs }: FolderState): boolean {
  const step = ctimeMs % 1000 === 0 ? LARGE_STEP : 0;
  return Date.now() > ctimeMs + step + SAME_TIME;
}

function nodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
