import process from "node:process";
import type { Pipe, StartProcess } from "./process.ts";

/** As much of Bun as is used here. */
interface Bun {
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

const ours = { ...process.env };

const { Bun } = globalThis as { Bun?: Bun };

/**
 * Starts a process by Bun's own interface, which takes a third of the memory that the one of Node takes there, and less
 * time; `undefined` elsewhere.
 */
export const startOnBun: StartProcess | undefined = Bun && ((command, env, leadsGroup) => {
  const options = { stdin: "ignore", stdout: "pipe", stderr: "pipe", windowsHide: true } as const;
  const child = Bun.spawn(command, { ...options, env: { ...ours, ...env }, detached: leadsGroup });
  const exited = child.exited.then(() => ({ exitCode: child.exitCode, signal: child.signalCode }));
  return { pid: child.pid, exited, stdout: pipeOf(child.stdout), stderr: pipeOf(child.stderr) };
});

function pipeOf(stream: ReadableStream<Uint8Array>): Pipe {
  const reader = stream.getReader();
  return {
    async forEach(callback) {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) await callback(chunk.value);
    },
    close: () => void reader.cancel().catch(() => {}),
  };
}
