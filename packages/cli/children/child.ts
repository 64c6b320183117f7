import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { LineWriter, Tail } from "./child_output.ts";
import { signalGroup } from "./start.ts";

/** How a child ended. */
export interface ChildEnd {
  /** The exit code; `null` if a signal ended the child. */
  readonly exitCode: number | null;
  /** The signal that ended the child, if one did. */
  readonly signal: string | null;
}

/** Where the output of a child goes. */
export interface ChildOutput {
  /** What comes before each line of its standard output. */
  readonly tag: string;
  /** Takes its standard output, whole lines at a time. No more is read until that has settled. */
  onOutput(lines: Uint8Array): Promise<void>;
  /** Takes its standard error likewise, beside what is kept of it; `undefined` if nobody wants it. */
  readonly onErrorOutput: ((lines: Uint8Array) => Promise<void>) | undefined;
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
  readonly #stderr = new Tail(MAX_STDERR);
  readonly #output: LineWriter;
  readonly #errorOutput: LineWriter | undefined;
  #received = 0;
  #hasExited = false;
  #isKilled = false;
  #killTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Takes over a process that has just been started. */
  constructor(child: ChildProcess, { tag, onOutput, onErrorOutput }: ChildOutput) {
    this.#process = child;
    this.#output = new LineWriter(onOutput, tag);
    this.#errorOutput = onErrorOutput && new LineWriter(onErrorOutput);
    const exited = new Promise<ChildEnd>((resolve) => {
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const closed = Promise.all([
      forEachChunk(child.stdout!, (chunk) => this.#write(chunk)),
      forEachChunk(child.stderr!, (chunk) => this.#writeError(chunk)),
    ]).then(() => {});
    this.passedOn = this.#passOn(exited, closed);
    this.ended = this.#end(exited, closed);
  }

  /** The last 4 KiB of what the child has written to its standard error so far. */
  get stderr(): string {
    return this.#stderr.toString();
  }

  /** Ends the child, and what it started: they are asked to end, and killed after a while. Too late once it has exited. */
  kill(): void {
    if (this.#isKilled || this.#hasExited) return;
    this.#isKilled = true;
    signalGroup(this.#process, "SIGTERM");
    this.#killTimer = setTimeout(() => signalGroup(this.#process, "SIGKILL"), KILL_GRACE);
  }

  #write(chunk: Uint8Array): Promise<void> {
    this.#received += chunk.length;
    return settled(this.#output.write(chunk)); // where it fails, the rest is read all the same, so that the child can end
  }

  #writeError(chunk: Uint8Array): Promise<void> | undefined {
    this.#stderr.write(chunk);
    return this.#errorOutput && settled(this.#errorOutput.write(chunk));
  }

  async #passOn(exited: Promise<ChildEnd>, closed: Promise<void>): Promise<void> {
    await exited;
    this.#hasExited = true;
    const received = this.#received;
    while (!await resolvesWithin(closed, OUTPUT_GRACE)) {
      if (!this.#output.isBusy || this.#received - received > MAX_PIPE) break;
      await settled(this.#output.idle);
    }
    this.#process.stdout!.destroy();
    this.#process.stderr!.destroy();
    await settled(this.#output.end());
    if (this.#errorOutput !== undefined) await settled(this.#errorOutput.end());
    if (this.#isKilled) {
      clearTimeout(this.#killTimer);
      signalGroup(this.#process, "SIGKILL"); // what outlived the child; where it was not killed, that may live on
    }
    this.isPassedOn = true;
  }

  async #end(exited: Promise<ChildEnd>, closed: Promise<void>): Promise<ChildEnd> {
    const end = await exited;
    // Who reads our output sets the pace: no other child takes this one's place before its output was taken.
    while (!this.#isKilled && !await resolvesWithin(closed, END_GRACE)) {
      if (!this.#output.isBusy) return end;
      await settled(this.#output.idle);
    }
    await this.passedOn;
    return end;
  }
}

/** Calls back with each chunk of a pipe, and reads no further until that has resolved. Resolves when there is no more. */
function forEachChunk(pipe: Readable, callback: (chunk: Uint8Array) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve) => {
    pipe.on("data", (chunk: Uint8Array) => {
      const taken = callback(chunk);
      if (taken === undefined) return;
      pipe.pause();
      void taken.then(() => pipe.resume());
    });
    pipe.on("error", () => {}); // the pipe was destroyed as the child is gone
    pipe.once("close", () => resolve());
  });
}

/** Whether a promise resolves within so many milliseconds. */
async function resolvesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => timer = setTimeout(resolve, ms, false));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a promise, whether it resolves or not: the other side knows of the error. */
async function settled(promise: Promise<void>): Promise<void> {
  await promise.catch(() => {});
}
