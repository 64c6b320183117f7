import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { startOnBun } from "./bun_process.ts";
import { startOnDeno } from "./deno_process.ts";
import { startOnNode } from "./node_process.ts";
import type { Environment, Process, StartProcess } from "./process.ts";

const startProcess: StartProcess = startOnBun ?? startOnDeno ?? startOnNode;

/**
 * Where there are process groups, each child leads one of its own: Ctrl-C in the terminal does not reach it,
 * and what it started can be killed with it.
 */
const HAS_GROUPS = process.platform !== "win32";

/**
 * On Deno, a child that leads a group is started by a fork, which takes three times as long, and ever longer the more
 * memory is in use. Without a group it is not, as long as the path of what is run is given whole: so there it is `setsid`
 * that is run, which makes a group, and runs the command in its own place.
 */
const SETSID = "Deno" in globalThis ? ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) : undefined;
/** What `setsid` exits with where it cannot run the command, as shells do. */
const CANNOT_RUN = [126, 127];

/** Starts commands, without a shell, as fast as the runtime can. */
export class Starter {
  #usesSetsid = false;
  readonly #isOneFile: boolean;

  /** Begins. If it is always the same file that is run, that it can be run has to be found out only once. */
  constructor({ isOneFile }: { isOneFile: boolean }) {
    this.#isOneFile = isOneFile;
  }

  /** Resolves when the command runs; rejects, with the `code` of the system, if it could not be started. */
  async start(command: readonly string[], env: Environment): Promise<Process> {
    if (SETSID !== undefined && this.#usesSetsid) {
      const child = await startProcess([SETSID, ...command], env, false);
      void child.exited.then(({ exitCode }) => {
        if (CANNOT_RUN.includes(exitCode ?? 0)) this.#usesSetsid = false; // the system is asked once more: it may be gone
      });
      return child;
    }
    const child = await startProcess(command, env, HAS_GROUPS);
    this.#usesSetsid = this.#isOneFile; // the system has said that the command can be run
    return child;
  }
}

/** Sends a signal to what a process started, and to itself unless it has exited. */
export function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL", hasExited: boolean): void {
  if (!HAS_GROUPS) {
    const args = ["/T", "/F", "/PID", String(pid)];
    spawn("taskkill", args, { stdio: "ignore", windowsHide: true }).on("error", () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    if (!hasExited) killOne(pid, signal); // there is no group yet
  }
}

/** Whether anything is left in the group of a process. */
export function isGroupThere(pid: number): boolean {
  if (!HAS_GROUPS) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

function killOne(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited just now.
  }
}
