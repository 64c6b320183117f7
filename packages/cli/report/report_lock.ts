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

/** A report that is this process's alone. Disposing it ends that. */
export interface ReportLock extends Disposable {
  /** Aborts, with a {@linkcode UsageError}, if another process has taken the report while this one was stopped. */
  readonly lost: AbortSignal;
}

/** How often a lock is touched, and how long one is watched for that, in milliseconds. */
const BEAT = 1000;
const WATCH = 3500;
const LOOK = 100;
/** No lock has more bytes. */
const MAX_SIZE = 4096;
const MAX_LINKS = 40;

/**
 * Keeps a report to this process: two that add to one would run items twice. It is a file beside the report, which says
 * whose it is, and is touched every second. One that was left behind by a process which was killed is of no effect: that
 * such a process is gone, the system says; or, where it may run on another machine or in another container, that nobody
 * touches the file.
 *
 * @param path The report. What is no regular file, such as a pipe, needs none of this, and where nobody may create files,
 * there is none.
 * @returns Ends that.
 * @throws {UsageError} If another process has the report, or there is another file where the lock would be.
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

/** The file that a path leads to by links, whether it is there or not. */
function targetOf(path: string): string {
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return realpathSync(path);
    } catch {
      // It is not there; but there may be a link.
    }
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      break;
    }
  }
  return path;
}

/** Makes the lock. Gives false where nobody may. */
async function take(lock: string, text: string, fail: (reason: string) => UsageError): Promise<boolean> {
  for (;;) {
    const code = tryCreate(lock, text);
    if (code !== "EEXIST") return code === undefined;
    if (lstatSync(lock, { throwIfNoEntry: false }) === undefined) continue; // it is gone by now
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

/** Creates the file, if there is none; gives what the system says if that fails. On a full disk, it is empty. */
function tryCreate(lock: string, text: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(lock, "wx");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
  try {
    fchmodSync(fd, 0o644); // others need to know whose it is
    writeFileSync(fd, text);
  } catch {
    // It is touched all the same.
  } finally {
    closeSync(fd);
  }
  return undefined;
}

/** Removes the lock that was found. If somebody else was faster, and it is a new one by now, that stays. */
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

/** Whether somebody touches a file. */
async function isTouched(lock: string): Promise<boolean> {
  const before = modifiedAt(lock);
  for (const end = performance.now() + WATCH; performance.now() < end;) {
    await delay(LOOK);
    const now = modifiedAt(lock);
    if (now !== before) return now !== undefined; // else its owner has removed it
  }
  return false;
}

/** What a file system over the network has cached of a file is asked anew by opening it. */
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
    // Somebody has removed it.
  }
}

/** What the file says; `undefined` for what cannot be read, or is no lock by its looks. */
function read(lock: string): string | undefined {
  try {
    const stats = lstatSync(lock);
    return stats.isFile() && stats.size <= MAX_SIZE ? readFileSync(lock, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` for what was cut short, or is no lock. */
function parse(text: string | undefined): LockOwner | undefined {
  try {
    const owner = JSON.parse(text ?? "");
    return Number.isSafeInteger(owner.pid) && typeof owner.host === "string" ? owner : undefined;
  } catch {
    return undefined;
  }
}
