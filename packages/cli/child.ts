import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { describeSystemError, UsageError } from "./usage_error.ts";

/** How a child ended. */
export interface ChildResult {
  /** The exit code; `null` if a signal ended the child or it was never started. */
  readonly exitCode: number | null;
  /** The signal that ended the child, if one did. */
  readonly signal: string | null;
  /** The last 4 KiB of what it wrote to its standard error; why, if it was never started. */
  readonly stderr: string;
}

/** The options of {@linkcode runChild}. */
export interface ChildOptions {
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Kills the child, and what it started, when it aborts. */
  readonly signal: AbortSignal;
  /** Takes the child's standard output, whole lines at a time. No more is read until it has resolved. */
  onOutput(lines: Uint8Array): Promise<void>;
}

/** How long a child has between SIGTERM and SIGKILL, in milliseconds. */
const KILL_GRACE = 2000;
/** How long a pipe that stays open when the child has exited is listened to while nothing comes. */
const OUTPUT_GRACE = 500;
const MAX_STDERR = 4096;
/** A line longer than this is passed on in parts. */
const MAX_LINE = 65_536;
const LINE_FEED = 0x0a;

/**
 * Where there are process groups, each child leads one of its own: Ctrl-C in the terminal does not reach it,
 * and what it started can be killed with it.
 */
const HAS_GROUPS = process.platform !== "win32";

/**
 * Runs a command, without a shell, and waits until it has ended.
 *
 * @param command The command and its arguments.
 * @param options The environment, the signal and where the output goes.
 * @returns How it ended.
 * @throws {UsageError} If there is no such command, or it may not be run.
 */
export async function runChild(command: readonly string[], options: ChildOptions): Promise<ChildResult> {
  const [file = "", ...args] = command;
  let child: ChildProcess;
  try {
    child = await start(file, args, options.env);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = describeSystemError(error, "command");
    if (code === "ENOENT" || code === "EACCES") throw new UsageError(`Cannot run '${file}' as ${reason}`);
    return { exitCode: null, signal: null, stderr: `Cannot run '${file}' as ${reason}` };
  }
  const exited = new Promise<Pick<ChildResult, "exitCode" | "signal">>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const output = new LineWriter(options.onOutput);
  const stderr = new Tail(MAX_STDERR);
  const closed = Promise.all([
    forEachChunk(child.stdout!, (chunk) => output.write(chunk)),
    forEachChunk(child.stderr!, (chunk) => stderr.write(chunk)),
  ]).then(() => true);
  const stopKilling = killOnAbort(child, options.signal);

  const result = await exited;
  // What the child started may live on and hold the pipes open; the work is done when the child is.
  while (!await Promise.race([closed, delay(OUTPUT_GRACE, false, { ref: false })])) {
    if (!output.isBusy) break;
    await output.idle;
  }
  child.stdout!.destroy();
  child.stderr!.destroy();
  await output.end();
  stopKilling();
  return { ...result, stderr: stderr.toString() };
}

/** Resolves when the child runs; rejects if it could not be started. */
function start(file: string, args: string[], env: ChildOptions["env"]): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      detached: HAS_GROUPS,
      env: env as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    child.on("error", reject);
    if (child.pid !== undefined) resolve(child);
  });
}

/** Kills the child and what it started when the signal aborts. The function returned ends the watch. */
function killOnAbort(child: ChildProcess, signal: AbortSignal): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const terminate = () => {
    kill(child, "SIGTERM");
    timer = setTimeout(() => kill(child, "SIGKILL"), KILL_GRACE);
  };
  if (signal.aborted) terminate();
  else signal.addEventListener("abort", terminate, { once: true });
  return () => {
    signal.removeEventListener("abort", terminate);
    clearTimeout(timer);
    if (signal.aborted) kill(child, "SIGKILL"); // what outlived the child
  };
}

function kill({ pid }: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (!HAS_GROUPS) {
    spawn("taskkill", ["/T", "/F", "/PID", String(pid)], { stdio: "ignore", windowsHide: true }).on("error", () => {});
    return;
  }
  try {
    process.kill(-pid!, signal);
  } catch {
    // Everything in the group has ended already.
  }
}

/** Calls back with each chunk of a pipe, and reads no further until that has resolved. */
async function forEachChunk(
  pipe: AsyncIterable<Uint8Array>,
  callback: (chunk: Uint8Array) => Promise<void> | void,
): Promise<void> {
  try {
    for await (const chunk of pipe) await callback(chunk);
  } catch {
    // The pipe was destroyed as the child is gone: there is nothing more to read.
  }
}

/** Passes bytes on in whole lines, so that lines of children that run at once do not mix. */
class LineWriter {
  /** Resolves when the last write has. */
  idle: Promise<void> = Promise.resolve();
  isBusy = false;
  #rest: Uint8Array = new Uint8Array();

  constructor(readonly writeLines: (lines: Uint8Array) => Promise<void>) {}

  write(chunk: Uint8Array): Promise<void> {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.length > MAX_LINE ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
    this.#rest = bytes.subarray(end);
    return this.#pass(bytes.subarray(0, end));
  }

  /** Passes on what came after the last line feed. */
  async end(): Promise<void> {
    await this.idle;
    await this.#pass(this.#rest);
  }

  #pass(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return this.idle;
    this.isBusy = true;
    this.idle = this.writeLines(bytes).finally(() => this.isBusy = false);
    return this.idle;
  }
}

/** Keeps the last bytes of what is written to it. */
class Tail {
  #bytes: Buffer = Buffer.alloc(0);

  constructor(readonly size: number) {}

  write(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.size);
  }

  toString(): string {
    let start = 0; // past the bytes of a character whose beginning was cut off
    while (start < this.#bytes.length && start < 4 && (this.#bytes[start]! & 0xc0) === 0x80) start++;
    return this.#bytes.toString("utf8", start);
  }
}
