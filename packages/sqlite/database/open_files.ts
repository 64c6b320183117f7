import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { filesOf, HAS_LINKS } from "./place.ts";

/**
 * Milliseconds after a change to a folder during which another change may have the same time, and steps in which some
 * file systems, and Deno, count times.
 */
const [SAME_TIME, LARGE_STEP] = [20, 2000];

/** Milliseconds after which the files are looked at although their folder has not changed. */
const LOOK_AGAIN = 250;

/** Reason why open files must not be used, and whether it is permanent. */
export interface Fault {
  readonly reason: string;
  readonly isFinal: boolean;
}

/** State of a folder, which changes whenever a file in it is created, removed or renamed. Nobody can set its time. */
interface FolderState {
  readonly dev: number;
  readonly ino: number;
  readonly ctimeMs: number;
}

/**
 * Files of an open database. While they are open, somebody may remove or replace them, or give them other names: SQLite
 * would not notice.
 */
export class OpenFiles {
  readonly #folder: string;
  readonly #paths: readonly string[];
  readonly #nodes: readonly (string | undefined)[];
  /** State of the folder in which the files were last found. */
  #known: FolderState | undefined = undefined;
  #lookedAt = -Infinity;

  constructor(path: string) {
    this.#folder = dirname(path);
    this.#paths = filesOf(path);
    this.#nodes = this.#paths.map((file) => nodeOf(statSync(file, { throwIfNoEntry: false })));
  }

  /**
   * Returns why the files must not be used; `undefined` if nothing is wrong. Looks at the files only if their folder
   * has changed, because syncs of a file take longer when its state was read since the last one: Linux then stores the
   * time of the next write exactly. Looks at the files from time to time as well, because a mount, or a hard link in
   * another folder, does not change their folder.
   *
   * @throws {Error} If the folder can't be read.
   */
  findFault(): Fault | undefined {
    const folder = statSync(this.#folder, { throwIfNoEntry: false });
    const now = performance.now();
    const isKnown = folder !== undefined && isSame(folder, this.#known);
    if (isKnown && now < this.#lookedAt + LOOK_AGAIN) return undefined;
    this.#known = undefined;
    for (const [i, path] of this.#paths.entries()) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (nodeOf(stats) !== this.#nodes[i]) {
        const reason = `${path} was removed or replaced while it was open. Restart all processes that use it`;
        return { reason, isFinal: folder?.isDirectory() === true }; // a folder that was moved may be moved back
      }
      if (stats !== undefined && stats.nlink > 1) return { reason: `${path} ${HAS_LINKS}`, isFinal: false };
    }
    if (folder !== undefined && isAtRest(folder)) this.#known = folder;
    this.#lookedAt = now;
    return undefined;
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

/** Returns the identity of a file; `undefined` if there is no file. */
function nodeOf(stats: Stats | undefined): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}
