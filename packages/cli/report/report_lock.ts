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

/** This process's exclusive right to a report, which lasts until the lock is disposed. */
export interface ReportLock extends Disposable {
  /** Aborts with a {@linkcode UsageError} if another process took over the report while this process was suspended. */
  readonly lost: AbortSignal;
}

/** Interval at which the owner touches a lock, in milliseconds. */
const BEAT = 1000;
/** Time, in milliseconds, after which a lock is considered abandoned if its owner has not touched it. */
const WATCH = 3500;
/** Interval between two checks of a watched lock, in milliseconds. */
const LOOK = 100;
/** Largest size of a lock, in bytes. */
const MAX_SIZE = 4096;
const MAX_LINKS = 40;

/**
 * Locks a report. Without a lock, two processes that write the same report would run each item twice. The lock is a
 * file next to the report. The file names the process and is touched every second. A lock left behind by a killed
 * process has no effect, because the system reports that the process has ended. If the process might be on another
 * machine or in another container, its lock has no effect after the process stops touching it.
 *
 * @param path The path of the report. Special files such as pipes are not locked. A report in a folder where this
 * process can't create files is not locked either.
 * @returns The lock. Dispose the lock to unlock the report.
 * @throws {UsageError} If another process writes the report, or another file has the lock's name.
 */
export async function lockReport(path: string): Promise<ReportLock> {
  const lock = `${targetOf(path)}.lock`;
  const text = JSON.stringify(thisProcess()) + "\n";
  const fail = (reason: string) => new UsageError(`Cannot write report '${path}': ${reason}`);
  const lost = new AbortController();
  if (isSpecial(path) || !await take(lock, text, fail)) return { lost: lost.signal, [Symbol.dispose]() {} };
  const own = read(lock);
  const timer = setInterval(() => {
    const found = read(lock);
    if (found === own) touch(lock);
    else if (tryCreate(lock, text) === "EEXIST") {
      lost.abort(fail("another process took it over while this one was suspended"));
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

/** Reports whether a path names a pipe, a device or a directory. */
function isSpecial(path: string): boolean {
  try {
    return !statSync(path).isFile();
  } catch {
    return false; // if there is no such file, it can be locked; any other error is reported when the file is opened
  }
}

/** Returns a path with its symbolic links resolved, even if no file exists there. */
function targetOf(path: string): string {
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return realpathSync(path);
    } catch {
      // The file doesn't exist, but the path might be a symbolic link.
    }
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      break;
    }
  }
  return path;
}

/**
 * Creates the lock. Returns `false` if this process can't create files in the lock's folder.
 *
 * @throws {UsageError} If another process has the lock, or the existing lock can't be replaced.
 */
async function take(lock: string, text: string, fail: (reason: string) => UsageError): Promise<boolean> {
  for (;;) {
    const code = tryCreate(lock, text);
    if (code !== "EEXIST") return code === undefined;
    if (lstatSync(lock, { throwIfNoEntry: false }) === undefined) continue; // the lock was removed in the meantime
    const found = read(lock);
    const owner = parse(found);
    if (owner === undefined && found !== "") throw fail(`'${lock}' is not the lock of a report, or cannot be read`);
    if ((owner && isAlive(owner)) ?? await isTouched(lock)) {
      throw fail(
        owner === undefined ? "another process is writing it" : `process ${owner.pid} on ${owner.host} is writing it`,
      );
    }
    try {
      remove(lock, found!);
    } catch (error) {
      throw fail(`'${lock}' cannot be removed: ${describeSystemError(error, "file")}`);
    }
  }
}

/**
 * Creates the lock file if it doesn't exist. Returns an error code if that fails. On a full disk, an empty file is
 * created.
 */
function tryCreate(lock: string, text: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(lock, "wx");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
  try {
    fchmodSync(fd, 0o644); // other users must be able to read the lock's owner
    writeFileSync(fd, text);
  } catch {
    // An empty lock also works, because its owner touches the file.
  } finally {
    closeSync(fd);
  }
  return undefined;
}

/**
 * Removes the lock if its text is still `found`. If another process has replaced the lock in the meantime, the new lock
 * stays.
 */
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

/** Reports whether a lock is touched within a few seconds. */
async function isTouched(lock: string): Promise<boolean> {
  const before = modifiedAt(lock);
  for (const end = performance.now() + WATCH; performance.now() < end;) {
    await delay(LOOK);
    const now = modifiedAt(lock);
    if (now !== before) return now !== undefined; // `undefined`: the owner has removed it
  }
  return false;
}

/**
 * Returns the time of the last modification of a file, in milliseconds; `undefined` if the file can't be opened. Opens
 * the file first, because opening refreshes the cache of a network file system.
 */
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
    // The lock was removed.
  }
}

/** Returns the text of a lock; `undefined` if the file can't be read, is too long or is not a regular file. */
function read(lock: string): string | undefined {
  try {
    const stats = lstatSync(lock);
    return stats.isFile() && stats.size <= MAX_SIZE ? readFileSync(lock, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Parses the text of a lock. Returns the owner; `undefined` if the text is truncated or not a lock. */
function parse(text: string | undefined): LockOwner | undefined {
  try {
    const owner = JSON.parse(text ?? "");
    return Number.isSafeInteger(owner.pid) && typeof owner.host === "string" ? owner : undefined;
  } catch {
    return undefined;
  }
}
