import { wholeEnvironment } from "./environment.ts";
import type { Pipe, StartProcess } from "./process.ts";

/** Subset of Bun's API that this file uses. */
interface Bun {
  which(file: string): string | null;
  spawn(command: readonly string[], options: BunOptions): BunProcess;
}

interface BunOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly detached: boolean;
  readonly stdin: "ignore";
  readonly stdout: "pipe";
  readonly stderr: "pipe";
  readonly windowsHide: boolean;
}

interface BunProcess {
  readonly pid: number;
  readonly exited: Promise<number>;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

const { Bun } = globalThis as { Bun?: Bun };

/**
 * Starts a process with Bun's own API; `undefined` on other runtimes. On Bun, Bun's own API is faster than Node's and
 * needs a third of the memory.
 */
export const startOnBun: StartProcess | undefined = Bun && ((command, env, leadsGroup) => {
  const options = { stdin: "ignore", stdout: "pipe", stderr: "pipe", windowsHide: true } as const;
  const child = spawn(command, { ...options, env: wholeEnvironment(env), detached: leadsGroup });
  const exited = child.exited.then(() => ({ exitCode: child.exitCode, signal: child.signalCode }));
  return { pid: child.pid, exited, stdout: pipeOf(child.stdout), stderr: pipeOf(child.stderr) };
});

/** Starts a command. Runs a script without a `#!` line in a shell, as POSIX requires and other runtimes do. */
function spawn(command: readonly string[], options: BunOptions): BunProcess {
  try {
    return Bun!.spawn(command, options);
  } catch (error) {
    const [file = "", ...args] = command;
    if ((error as NodeJS.ErrnoException).code !== "ENOEXEC") throw error;
    return Bun!.spawn(["/bin/sh", file.includes("/") ? file : Bun!.which(file) ?? file, ...args], options);
  }
}

function pipeOf(stream: ReadableStream<Uint8Array>): Pipe {
  const reader = stream.getReader();
  return {
    async forEach(callback) {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) await callback(chunk.value);
    },
    close: () => void reader.cancel().catch(() => {}),
  };
}
