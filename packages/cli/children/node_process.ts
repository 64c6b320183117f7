import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { Readable } from "node:stream";
import { wholeEnvironment } from "./environment.ts";
import type { Environment, Pipe, Process, ProcessEnd } from "./process.ts";

/** Number of files that Node needs at once to start a process: two pairs of sockets and a pipe, and some to spare. */
const FILES = 8;
/** Whether a process was not started, perhaps because too many files are open. */
let isShort = false;

/**
 * Starts a process with Node's API, which Deno and Bun also have. If too many files are open, Node never closes the
 * sockets of a process that it can't start. So after the first failure, this function fails before Node does.
 *
 * Node forks for each start, which alone takes more processor time than `xargs` takes for a whole command. A shell that
 * starts the commands would save little: each would need `setsid`, and a subshell that reports its exit code.
 */
export function startOnNode(command: readonly string[], env: Environment, leadsGroup: boolean): Promise<Process> {
  const [file = "", ...args] = command;
  return new Promise((resolve, reject) => {
    if (isShort) requireFiles();
    const child = spawn(file, args, {
      detached: leadsGroup,
      env: wholeEnvironment(env),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    child.on("error", reject);
    if (child.pid === undefined) isShort = true;
    else resolve(processOf(child, child.pid));
  });
}

/** Throws the system's error if this process can't open as many files as another process needs. */
function requireFiles(): void {
  const files: number[] = [];
  try {
    while (files.length < FILES) files.push(openSync(devNull, "r"));
  } finally {
    for (const file of files) closeSync(file);
  }
}

function processOf(child: ChildProcess, pid: number): Process {
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return { pid, exited, stdout: pipeOf(child.stdout!), stderr: pipeOf(child.stderr!) };
}

function pipeOf(stream: Readable): Pipe {
  return {
    forEach: (callback) =>
      new Promise((resolve) => {
        stream.on("data", (chunk: Uint8Array) => {
          const taken = callback(chunk);
          if (taken === undefined) return;
          stream.pause();
          void taken.then(() => stream.resume());
        });
        stream.on("error", () => {}); // the process is gone
        stream.once("close", () => resolve());
      }),
    close: () => stream.destroy(),
  };
}
