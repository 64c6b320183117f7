import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { wholeEnvironment } from "./environment.ts";
import type { Environment, Pipe, Process, ProcessEnd } from "./process.ts";

/** Starts a process with Node's API, which Deno and Bun also have. */
export function startOnNode(command: readonly string[], env: Environment, leadsGroup: boolean): Promise<Process> {
  const [file = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      detached: leadsGroup,
      env: wholeEnvironment(env),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    child.on("error", reject);
    if (child.pid !== undefined) resolve(processOf(child, child.pid));
  });
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
