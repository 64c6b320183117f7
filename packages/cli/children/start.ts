import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { startOnBun } from "./bun_process.ts";
import { startOnDeno } from "./deno_process.ts";
import { startOnNode } from "./node_process.ts";
import type { Environment, Process, StartProcess } from "./process.ts";

const startProcess: StartProcess = startOnBun ?? startOnDeno ?? startOnNode;

/**
 * Whether the system has process groups. If so, each child leads its own group: Ctrl-C in the terminal doesn't reach
 * the child, and a child can be killed together with its descendants.
 */
const HAS_GROUPS = process.platform !== "win32";

/**
 * Path of `setsid` on Deno; `undefined` on other runtimes. `setsid` creates a process group and replaces itself with
 * the command. To start a group leader itself, Deno would have to fork, which takes three times as long, or longer if a
 * lot of memory is in use. Deno doesn't fork if the path is absolute and the process doesn't lead a group.
 */
const SETSID = "Deno" in globalThis ? ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) : undefined;
/** Exit codes with which `setsid` reports that the command can't be run. Shells use the same codes. */
const CANNOT_RUN = [126, 127];

/** Starts commands without a shell, as fast as the runtime allows. */
export class Starter {
  #usesSetsid = false;
  readonly #isOneFile: boolean;

  /** Creates a starter. If `isOneFile` is true, all commands run the same file, which is checked only once. */
  constructor({ isOneFile }: { isOneFile: boolean }) {
    this.#isOneFile = isOneFile;
  }

  /**
   * Starts a command. Resolves when the command is running.
   *
   * @throws {Error} If the command could not be started. The error's `code` is the system's error code.
   */
  async start(command: readonly string[], env: Environment): Promise<Process> {
    if (SETSID !== undefined && this.#usesSetsid) {
      const child = await startProcess([SETSID, ...command], env, false);
      void child.exited.then(({ exitCode }) => {
        if (CANNOT_RUN.includes(exitCode ?? 0)) this.#usesSetsid = false; // the file might be gone: check again
      });
      return child;
    }
    const child = await startProcess(command, env, HAS_GROUPS);
    this.#usesSetsid = this.#isOneFile; // from now on, the file is known to be executable
    return child;
  }
}

/** Signal for a process group. Systems without process groups only have signals that end processes. */
export type GroupSignal = "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT";

/** Sends a signal to the descendants of a process, and to the process itself unless it has exited. */
export function signalGroup(pid: number, signal: GroupSignal, hasExited: boolean): void {
  if (!HAS_GROUPS) {
    const args = ["/T", "/F", "/PID", String(pid)];
    spawn("taskkill", args, { stdio: "ignore", windowsHide: true }).on("error", () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    if (!hasExited) killOne(pid, signal); // the group does not exist yet
  }
}

/** Reports whether the process group that `pid` leads still contains a process. */
export function isGroupThere(pid: number): boolean {
  if (!HAS_GROUPS) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

function killOne(pid: number, signal: GroupSignal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just exited.
  }
}
