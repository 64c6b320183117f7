import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";

/** A process, as a lock names it. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** Where the number means that process: a boot of a system, and a container there; absent if that is not told. */
  readonly space?: string | undefined;
  /** When it began, as the system counts: numbers are given again. Absent if that is not told. */
  readonly start?: string | undefined;
}

/** Describes this process. */
export function thisProcess(): LockOwner {
  const { pid } = process;
  return { pid, host: hostname(), space: spaceOfNumbers(), start: stateOf(pid)?.start };
}

/** Whether a process still runs; `undefined` where that cannot be told, as it may be on another machine. */
export function isAlive({ pid, space, start }: LockOwner): boolean | undefined {
  if (space === undefined || space !== spaceOfNumbers()) return undefined;
  const state = stateOf(pid);
  if (state === undefined) return isGone(pid) ? false : undefined; // some systems hide what is somebody else's
  if (state.hasEnded) return false;
  return start === undefined ? undefined : start === state.start;
}

/** On Linux; process numbers mean something else in another container. */
function spaceOfNumbers(): string | undefined {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/** When a process began, and whether it has ended and its parent does not know. The system does not always tell. */
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
