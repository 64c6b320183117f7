import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";

/** A process, as a lock names it. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /**
   * Space in which the number is unique: a boot of a system, and a container there. Absent if the system doesn't tell.
   */
  readonly space?: string | undefined;
  /** Start time, as the system counts it, since numbers are reused. Absent if the system doesn't tell. */
  readonly start?: string | undefined;
}

/** Describes this process. */
export function thisProcess(): LockOwner {
  const { pid } = process;
  return { pid, host: hostname(), space: spaceOfNumbers(), start: stateOf(pid)?.start };
}

/** Reports whether a process still runs; `undefined` if this can't be known, as on another machine. */
export function isAlive({ pid, space, start }: LockOwner): boolean | undefined {
  if (space === undefined || space !== spaceOfNumbers()) return undefined;
  const state = stateOf(pid);
  if (state === undefined) return isGone(pid) ? false : undefined; // some systems hide processes of other users
  if (state.hasEnded) return false;
  return start === undefined ? undefined : start === state.start;
}

/** Returns the boot and the container, in which a process number is unique; `undefined` if this is not Linux. */
function spaceOfNumbers(): string | undefined {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/** Returns when a process began, and whether it is a zombie; `undefined` if the system doesn't tell. */
function stateOf(pid: number): { readonly start: string | undefined; readonly hasEnded: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the third and all after it, as proc(5) counts
    return { start: fields[19], hasEnded: ["Z", "X"].includes(fields[0]!) };
  } catch {
    return undefined;
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
