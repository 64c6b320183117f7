import { setTimeout as delay } from "node:timers/promises";
import { LineWriter, Tail } from "./child_output.ts";
import type { Process, ProcessEnd } from "./process.ts";
import { isGroupThere, signalGroup } from "./start.ts";

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
/** How often to look whether what a child has started has ended, in milliseconds. */
const GROUP_LOOK = 20;
/**
 * How long a pipe that stays open when the child has exited is listened to, in milliseconds: while nothing comes, and at
 * most.
 */
const OUTPUT_GRACE = 500;
const MAX_LISTENING = 10_000;
/** How long the end of the child's work is put off for the sake of such a pipe, in milliseconds. */
const END_GRACE = 20;
/**
 * How many steps of promises it may take until it is known here that a pipe was closed by the exit: for most children no
 * timer is set, which costs more than all these.
 */
const SOON = 10;
/** No pipe holds more bytes than this: what comes after them was not written by the child. */
const MAX_PIPE = 1 << 20;
const MAX_STDERR = 4096;

/** A command that runs. */
export class Child {
  /**
   * Resolves when the child has exited and its output was passed on. Where something that it started holds its pipes
   * open, the rest of the output may come later: the work is done when the child is.
   */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the whole output was passed on, or could not be. */
  readonly passedOn: Promise<void>;
  /** Whether it was. */
  isPassedOn = false;
  readonly #process: Process;
  readonly #stderr = new Tail(MAX_STDERR);
  readonly #output: LineWriter;
  readonly #errorOutput: LineWriter | undefined;
  #received = 0;
  /** Whether nothing more can come from its pipes. */
  #isClosed = false;
  #hasExited = false;
  #isKilled = false;
  #killedAt = 0;
  #killTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Takes over a process that has just been started. */
  constructor(process: Process, { tag, onOutput, onErrorOutput }: ChildOutput) {
    this.#process = process;
    this.#output = new LineWriter(onOutput, tag);
    this.#errorOutput = onErrorOutput && new LineWriter(onErrorOutput);
    const closed = Promise.all([
      process.stdout.forEach((chunk) => this.#write(chunk)),
      process.stderr.forEach((chunk) => this.#writeError(chunk)),
    ]).then(() => void (this.#isClosed = true));
    const exited = this.#exit();
    this.passedOn = this.#passOn(exited, closed);
    this.ended = this.#end(exited, closed);
  }

  /** The last 4 KiB of what the child has written to its standard error so far. */
  get stderr(): string {
    return this.#stderr.toString();
  }

  /**
   * Ends the child, and what it started: they are asked to end, and killed after a while.
   *
   * @returns Whether that was of any use: once it has exited it is too late.
   */
  kill(): boolean {
    if (this.#hasExited) return false;
    if (!this.#isKilled) {
      this.#isKilled = true;
      this.#killedAt = performance.now();
      this.#signal("SIGTERM");
      this.#killTimer = setTimeout(() => this.#signal("SIGKILL"), KILL_GRACE);
    }
    return true;
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    signalGroup(this.#process.pid, signal, this.#hasExited);
  }

  #write(chunk: Uint8Array): Promise<void> {
    this.#received += chunk.length;
    return settled(this.#output.write(chunk)); // where it fails, the rest is read all the same, so that the child can end
  }

  #writeError(chunk: Uint8Array): Promise<void> | undefined {
    this.#stderr.write(chunk);
    return this.#errorOutput && settled(this.#errorOutput.write(chunk));
  }

  /** Waits for the exit, and until it is known of pipes that were closed by it. */
  async #exit(): Promise<ProcessEnd> {
    const end = await this.#process.exited;
    this.#hasExited = true;
    for (let i = 0; i < SOON && !this.#isClosed; i++) await undefined;
    return end;
  }

  async #passOn(exited: Promise<ProcessEnd>, closed: Promise<void>): Promise<void> {
    await exited;
    if (this.#isKilled) await this.#endGroup();
    const atExit = this.#received;
    const exitedAt = performance.now();
    for (let before = atExit; !this.#isClosed && !await resolvesWithin(closed, OUTPUT_GRACE);) {
      if (this.#output.isBusy) await settled(this.#output.idle);
      else if (this.#received === before || performance.now() - exitedAt > MAX_LISTENING) break;
      if (this.#received - atExit > MAX_PIPE) break;
      before = this.#received;
    }
    this.#process.stdout.close();
    this.#process.stderr.close();
    await settled(this.#output.end());
    if (this.#errorOutput !== undefined) await settled(this.#errorOutput.end());
    this.isPassedOn = true;
  }

  /** Waits until what the child has started has ended too, or its time is up and it is killed. */
  async #endGroup(): Promise<void> {
    const { pid } = this.#process;
    while (isGroupThere(pid) && performance.now() - this.#killedAt < KILL_GRACE) await delay(GROUP_LOOK);
    clearTimeout(this.#killTimer);
    this.#signal("SIGKILL");
  }

  async #end(exited: Promise<ProcessEnd>, closed: Promise<void>): Promise<ProcessEnd> {
    const end = await exited;
    // Who reads our output sets the pace: no other child takes this one's place before its output was taken.
    while (!this.#isClosed && !this.#isKilled && !await resolvesWithin(closed, END_GRACE)) {
      if (!this.#output.isBusy) return end;
      await settled(this.#output.idle);
    }
    await this.passedOn;
    return end;
  }
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
