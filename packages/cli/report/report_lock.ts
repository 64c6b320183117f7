import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { UsageError } from "../system/usage_error.ts";

/**
 * Keeps a report to this process: two that add to one would run items twice. It is a file beside the report, with the
 * number of the process. One that is left behind by a process which was killed is of no effect.
 *
 * @param path The report. What is no regular file, such as a pipe, needs none of this.
 * @returns Ends that.
 * @throws {UsageError} If another process has the report.
 */
export function lockReport(path: string): Disposable {
  const lock = `${path}.lock`;
  const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  if (isOther || !create(lock, path)) return { [Symbol.dispose]() {} };
  return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
}

/** Makes the file. Where that is not possible, as in a folder that nobody may write to, there is none. */
function create(lock: string, path: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
  }
  const owner = Number.parseInt(readFileSync(lock, "utf8"));
  if (owner !== process.pid && isRunning(owner)) {
    throw new UsageError(
      `Cannot write report '${path}' as process ${owner} writes it; if that is no run, remove '${lock}'`,
    );
  }
  rmSync(lock, { force: true });
  return create(lock, path);
}

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
