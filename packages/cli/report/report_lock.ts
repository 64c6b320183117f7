import { randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { isAlive, type LockOwner, thisProcess } from "./lock_owner.ts";

/** Exclusive right of this process to a report, until it is disposed. */
export interface ReportLock extends Disposable {
  /** Aborts, with a {@linkcode UsageError}, if another process has taken the report while this one was stopped. */
  readonly lost: AbortSignal;
}

/** Time between two touches of a lock, how long a lock is watched for one, and time between two looks; milliseconds. */
const BEAT = 1000;
const WATCH = 3500;
const LOOK = 100;
/** Most bytes of a lock. */
const MAX_SIZE = 4096;
const MAX_LINKS = 40;

/**
 * Locks a report: two processes that write one report would run items twice. The lock is a file beside the report that
 * names the process and is touched every second. A lock left behind by a killed process has no effect: the system says
 * that the process is gone, or, if it may run on another machine or in another container, the file is no longer
 * touched.
 *
 * @param path The report. A pipe or the like is not locked, nor is a report in a folder where this process can't create
 * files.
 * @returns The lock. Dispose it to unlock the report.
 * @throws {UsageError} If another process has the report, or another file is in the place of the lock.
 */
export async function lockReport(path: string): Promise<ReportLock> {
  const lock = `${targetOf(path)}.lock`;
  const text = JSON.stringify(thisProcess()) + "\n";
  const fail = (reason: string) => new UsageError(`Cannot write report '${path}' as ${reason}`);
  const lost = new AbortController();
  const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  if (isOther || !await take(lock, text, fail)) return { lost: lost.signal, [Symbol.dispose]() {} };
  const own = read(lock);
  const timer = setInterval(() => {
    const found = read(lock);
    if (found === own) touch(lock);
    else if (tryCreate(lock, text) === "EEXIST") {
      lost.abort(fail("another process writes it since this one was stopped for a while"));
    }
  }, BEAT);
  timer.unref();
  return {
    lost: lost.signal,
    [Symbol.dispose]() {
      clearInterval(timer);
      if (read(lock) === own) rmSync(lock, { force: true });
    },
  };
}

/** Returns the path that links lead to, even if no file is there. */
function targetOf(path: string): string {
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return realpathSync(path);
    } catch {
      // The file does not exist, but there may be a link to its place.
    }
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      break;
    }
  }
  return path;
}

/** Makes the lock. Returns false if this process can't create files there. */
async function take(lock: string, text: string, fail: (reason: string) => UsageError): Promise<boolean> {
  for (;;) {
    const code = tryCreate(lock, text);
    if (code !== "EEXIST") return code === undefined;
    if (lstatSync(lock, { throwIfNoEntry: false }) === undefined) continue; // it was removed in the meantime
    const found = read(lock);
    const owner = parse(found);
    if (owner === undefined && found !== "") throw fail(`'${lock}' is no lock of a report, or cannot be read`);
    if ((owner && isAlive(owner)) ?? await isTouched(lock)) {
      throw fail(owner === undefined ? "another process writes it" : `process ${owner.pid} on ${owner.host} writes it`);
    }
    try {
      remove(lock, found!);
    } catch (error) {
      throw fail(`'${lock}' cannot be removed: ${describeSystemError(error, "file")}`);
    }
  }
}

/** Creates the file if there is none; returns the error code if that fails. On a full disk, the file is empty. */
function tryCreate(lock: string, text: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(lock, "wx");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
  try {
    fchmodSync(fd, 0o644); // other users need to read the owner
    writeFileSync(fd, text);
  } catch {
    // An empty lock works too: it is touched.
  } finally {
    closeSync(fd);
  }
  return undefined;
}

/** Removes the lock that was found. If another process has replaced it in the meantime, the new one stays. */
function remove(lock: string, found: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (read(aside) !== found) linkSync(aside, lock);
  unlinkSync(aside);
}

/** Reports whether a file is touched within a few seconds. */
async function isTouched(lock: string): Promise<boolean> {
  const before = modifiedAt(lock);
  for (const end = performance.now() + WATCH; performance.now() < end;) {
    await delay(LOOK);
    const now = modifiedAt(lock);
    if (now !== before) return now !== undefined; // undefined: its owner has removed it
  }
  return false;
}

/** Returns when a file was modified. Opens it, as this refreshes the cache of a network file system. */
function modifiedAt(file: string): number | undefined {
  try {
    const fd = openSync(file, "r");
    try {
      return fstatSync(fd).mtimeMs;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function touch(lock: string): void {
  try {
    utimesSync(lock, new Date(), new Date());
  } catch {
    // It was removed.
  }
}

/** Returns the text of a lock; `undefined` if it cannot be read, or is too long or not a regular file. */
function read(lock: string): string | undefined {
  try {
    const stats = lstatSync(lock);
    return stats.isFile() && stats.size <= MAX_SIZE ? readFileSync(lock, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the owner that a lock names; `undefined` if the text was cut short or is not a lock. */
function parse(text: string | undefined): LockOwner | undefined {
  try {
    const owner = JSON.parse(text ?? "");
    return Number.isSafeInteger(owner.pid) && typeof owner.host === "string" ? owner : undefined;
  } catch {
    return undefined;
  }
}
