import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { startOnBun } from "./bun_process.ts";
import { startOnDeno } from "./deno_process.ts";
import { startOnNode } from "./node_process.ts";
import type { Environment, Process, StartProcess } from "./process.ts";

const startProcess: StartProcess = startOnBun ?? startOnDeno ?? startOnNode;

/**
 * Whether the system has process groups. Each child leads its own group, so that Ctrl-C in the terminal does not reach
 * it, and its descendants can be killed with it.
 */
const HAS_GROUPS = process.platform !== "win32";

/**
 * On Deno, the path of `setsid`, which makes a process group and replaces itself with the command. Deno starts a group
 * leader by a fork, which takes three times as long, and longer with more memory in use. It doesn't fork for an
 * absolute path without a group.
 */
const SETSID = "Deno" in globalThis ? ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) : undefined;
/** Exit codes of `setsid` if it cannot run the command; shells use the same. */
const CANNOT_RUN = [126, 127];

/** Starts commands, without a shell, as fast as the runtime can. */
export class Starter {
  #usesSetsid = false;
  readonly #isOneFile: boolean;

  /** Makes a starter. If it always runs the same file, it only once finds out whether the file can be run. */
  constructor({ isOneFile }: { isOneFile: boolean }) {
    this.#isOneFile = isOneFile;
  }

  /**
   * Resolves when the command runs. Rejects with an error that has the `code` of the system if it could not be started.
   */
  async start(command: readonly string[], env: Environment): Promise<Process> {
    if (SETSID !== undefined && this.#usesSetsid) {
      const child = await startProcess([SETSID, ...command], env, false);
      void child.exited.then(({ exitCode }) => {
        if (CANNOT_RUN.includes(exitCode ?? 0)) this.#usesSetsid = false; // ask the system again: the file may be gone
      });
      return child;
    }
    const child = await startProcess(command, env, HAS_GROUPS);
    this.#usesSetsid = this.#isOneFile; // the file can be run
    return child;
  }
}

/** Sends a signal to the descendants of a process, and to the process itself unless it has exited. */
export function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL", hasExited: boolean): void {
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

/** Reports whether the group of a process has any process left. */
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
    // It has just exited.
  }
}
