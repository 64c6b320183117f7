import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { LineWriter, Tail } from "./child_output.ts";

/** How a child ended. */
export interface ChildEnd {
  /** The exit code; `null` if a signal ended the child. */
  readonly exitCode: number | null;
  /** The signal that ended the child, if one did. */
  readonly signal: string | null;
}

/** The options of {@linkcode startChild}. */
export interface ChildOptions {
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Kills the child, and what it started, when it aborts. */
  readonly signal: AbortSignal;
  /** Takes the child's standard output, whole lines at a time. No more is read until it has settled. */
  onOutput(lines: Uint8Array): Promise<void>;
}

/** How long a child has between SIGTERM and SIGKILL, in milliseconds. */
const KILL_GRACE = 2000;
/** How long a pipe that stays open when the child has exited is listened to while nothing comes, in milliseconds. */
const OUTPUT_GRACE = 500;
/** How long the end of the child's work is put off for the sake of such a pipe, in milliseconds. */
const END_GRACE = 20;
/** No pipe holds more bytes than this: what comes after them was not written by the child. */
const MAX_PIPE = 1 << 20;
const MAX_STDERR = 4096;

/**
 * Where there are process groups, each child leads one of its own: Ctrl-C in the terminal does not reach it,
 * and what it started can be killed with it.
 */
const HAS_GROUPS = process.platform !== "win32";

/**
 * Starts a command, without a shell.
 *
 * @param command The command and its arguments.
 * @param options The environment, the signal and where the output goes.
 * @returns The running child.
 * @throws {Error} If it cannot be started, with the `code` of the system.
 */
export async function startChild(command: readonly string[], options: ChildOptions): Promise<Child> {
  const [file = "", ...args] = command;
  return new Child(await start(file, args, options.env), options);
}

/** A command that runs. */
export class Child {
  /**
   * Resolves when the child has exited and its output was passed on. Where something that it started holds its pipes
   * open, the rest of the output may come later: the work is done when the child is.
   */
  readonly ended: Promise<ChildEnd>;
  /** Resolves when the whole output was passed on, or could not be. */
  readonly passedOn: Promise<void>;
  /** Whether it was. */
  isPassedOn = false;
  readonly #process: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #stderr = new Tail(MAX_STDERR);
  readonly #output: LineWriter;
  #received = 0;

  /** Takes over a process that has just been started. */
  constructor(child: ChildProcess, { signal, onOutput }: ChildOptions) {
    this.#process = child;
    this.#signal = signal;
    this.#output = new LineWriter(onOutput);
    const exited = new Promise<ChildEnd>((resolve) => {
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const closed = Promise.all([
      forEachChunk(child.stdout!, (chunk) => this.#write(chunk)),
      forEachChunk(child.stderr!, (chunk) => this.#stderr.write(chunk)),
    ]).then(() => true);
    this.passedOn = this.#passOn(exited, closed);
    this.ended = this.#end(exited, closed);
  }

  /** The last 4 KiB of what the child has written to its standard error so far. */
  get stderr(): string {
    return this.#stderr.toString();
  }

  #write(chunk: Uint8Array): Promise<void> {
    this.#received += chunk.length;
    return settled(this.#output.write(chunk)); // where it fails, the rest is read all the same, so that the child can end
  }

  async #passOn(exited: Promise<ChildEnd>, closed: Promise<boolean>): Promise<void> {
    const stopKilling = killOnAbort(this.#process, this.#signal);
    await exited;
    const isKilled = this.#signal.aborted;
    if (!isKilled) stopKilling(); // what the child leaves behind may live on
    const received = this.#received;
    while (!await Promise.race([closed, delay(OUTPUT_GRACE, false, { ref: false })])) {
      if (!this.#output.isBusy || this.#received - received > MAX_PIPE) break;
      await settled(this.#output.idle);
    }
    this.#process.stdout!.destroy();
    this.#process.stderr!.destroy();
    await settled(this.#output.end());
    if (isKilled) stopKilling();
    this.isPassedOn = true;
  }

  async #end(exited: Promise<ChildEnd>, closed: Promise<boolean>): Promise<ChildEnd> {
    const end = await exited;
    // Who reads our output sets the pace: no other child takes this one's place before its output was taken.
    while (!this.#signal.aborted && !await Promise.race([closed, delay(END_GRACE, false)])) {
      if (!this.#output.isBusy) return end;
      await settled(this.#output.idle);
    }
    await this.passedOn;
    return end;
  }
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

/** Waits for a promise, whether it resolves or not: the other side knows of the error. */
async function settled(promise: Promise<void>): Promise<void> {
  await promise.catch(() => {});
}
