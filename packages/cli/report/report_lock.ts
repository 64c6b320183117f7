import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/** The process that has a report, as the lock says it. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Where the number means that process: a boot of a system, and a container there; `undefined` if that is not told. */
  readonly space: string | undefined;
  /** When it began, as the system counts: numbers are given again. */
  readonly start: string | undefined;
}

/** How often a lock is touched, and how long one is watched for that, in milliseconds. */
const BEAT = 1000;
const WATCH = 3500;
const LOOK = 100;

/**
 * Keeps a report to this process: two that add to one would run items twice. It is a file beside the report, which says
 * whose it is, and is touched every second. One that was left behind by a process which was killed is of no effect: that
 * such a process is gone, the system says; or, where it may run on another machine or in another container, that nobody
 * touches the file.
 *
 * @param path The report. What is no regular file, such as a pipe, needs none of this.
 * @returns Ends that.
 * @throws {UsageError} If another process has the report.
 */
export async function lockReport(path: string): Promise<Disposable> {
  const lock = `${realPath(path)}.lock`;
  const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  if (isOther || !await create(lock, path)) return { [Symbol.dispose]() {} };
  const timer = setInterval(() => touch(lock), BEAT);
  timer.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      rmSync(lock, { force: true });
    },
  };
}

/** The path of a report that is there, whatever it is called here. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Makes the file. Where that is not possible, as in a folder that nobody may write to, there is none. */
async function create(lock: string, path: string): Promise<boolean> {
  const { pid } = process;
  const own: Owner = { pid, host: hostname(), space: spaceOfNumbers(), start: startOf(pid) };
  const fail = (reason: string) => new UsageError(`Cannot write report '${path}' as ${reason}`);
  for (;;) {
    const code = tryCreate(lock, JSON.stringify(own) + "\n");
    if (code !== "EEXIST") return code === undefined;
    const text = read(lock);
    const owner = parse(text);
    if (await isHeld(lock, owner, own)) {
      throw fail(owner === undefined ? "another process writes it" : `process ${owner.pid} on ${owner.host} writes it`);
    }
    if (read(lock) !== text) continue; // somebody else was faster
    try {
      rmSync(lock, { force: true });
    } catch (error) {
      throw fail(`'${lock}' cannot be removed: ${describeSystemError(error, "file")}`);
    }
  }
}

/** Creates the file, if there is none; gives what the system says if that fails. On a full disk, it is empty. */
function tryCreate(file: string, text: string): string | undefined {
  try {
    closeSync(openSync(file, "wx"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
  try {
    writeFileSync(file, text);
  } catch {
    // It is touched all the same.
  }
  return undefined;
}

async function isHeld(lock: string, owner: Owner | undefined, own: Owner): Promise<boolean> {
  if (owner?.space === undefined || owner.space !== own.space) return await isTouched(lock);
  return owner.start !== undefined && owner.start === startOf(owner.pid);
}

/** The boot of the system and the container, where it is Linux; process numbers mean something else elsewhere. */
function spaceOfNumbers(): string | undefined {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/** When a process began; `undefined` if there is none of that number, or it has ended and its parent does not know. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the third and all after it, as proc(5) counts
    return ["Z", "X"].includes(fields[0]!) ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** Whether somebody touches a file. What a file system over the network has cached of it is asked anew by opening it. */
async function isTouched(lock: string): Promise<boolean> {
  const before = modifiedAt(lock);
  for (const end = performance.now() + WATCH; performance.now() < end;) {
    await delay(LOOK);
    const now = modifiedAt(lock);
    if (now !== before) return now !== undefined; // else its owner has removed it
  }
  return false;
}

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

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** `undefined` for what was cut short, or is not ours. */
function parse(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text);
    return Number.isSafeInteger(owner.pid) && typeof owner.host === "string" ? owner : undefined;
  } catch {
    return undefined;
  }
}
