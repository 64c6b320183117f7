import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";

/** Process named by a lock. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /**
   * Scope within which the process ID is unique: the current boot of the system and the container. Absent if the system
   * doesn't report the scope.
   */
  readonly space?: string | undefined;
  /**
   * Start time of the process, in the system's own unit. The start time distinguishes processes that had the same ID at
   * different times. Absent if the system doesn't report the time.
   */
  readonly start?: string | undefined;
}

/** Describes this process. */
export function thisProcess(): LockOwner {
  const { pid } = process;
  return { pid, host: hostname(), space: spaceOfNumbers(), start: stateOf(pid)?.start };
}

/**
 * Reports whether a process is still running. Returns `undefined` if this is unknown, for example because the process
 * runs on another machine.
 */
export function isAlive({ pid, space, start }: LockOwner): boolean | undefined {
  if (space === undefined || space !== spaceOfNumbers()) return undefined;
  const state = stateOf(pid);
  if (state === undefined) return isGone(pid) ? false : undefined; // some systems hide the processes of other users
  if (state.hasEnded) return false;
  return start === undefined ? undefined : start === state.start;
}

/**
 * Returns the scope within which process IDs are unique: the current boot and the container. Returns `undefined` on
 * systems other than Linux.
 */
function spaceOfNumbers(): string | undefined {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns the start time of a process, and whether the process has ended. Returns `undefined` if the system doesn't
 * report them.
 */
function stateOf(pid: number): { readonly start: string | undefined; readonly hasEnded: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field on, see proc(5)
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
