import { setTimeout as delay } from "node:timers/promises";
import type { Stopwatch } from "../system/stopwatch.ts";
import { type OutputSink, Tail } from "./child_output.ts";
import type { Process, ProcessEnd } from "./process.ts";
import { RetryAfterLine } from "./retry_after_line.ts";
import { type GroupSignal, isGroupThere, signalGroup } from "./start.ts";

/** Destination of a child's output. */
export interface ChildOutput {
  /** Receives standard output. */
  readonly stdout: OutputSink;
  /** Receives error output; `undefined` to hide it. `Child.stderr` keeps the last 4 KiB in either case. */
  readonly stderr: OutputSink | undefined;
  /** Called with the error when output can't be written to one of the sinks. May be called several times. */
  onFailure(error: unknown): void;
}

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const KILL_GRACE = 2000;
/** Interval between two checks for live descendants of a child, in milliseconds. */
const GROUP_LOOK = 20;
/** Time without output, in milliseconds, after which a pipe that outlives the child is no longer read. */
const OUTPUT_GRACE = 500;
/** Longest time, in milliseconds, for which a pipe is read after the child's exit. */
const MAX_LISTENING = 10_000;
/** Longest time, in milliseconds, that an idle open pipe delays `Child.ended` after the child has exited. */
const END_GRACE = 20;
/**
 * Number of microtasks to wait for the pipes to close after the child has exited. Without this wait, most children
 * would need a timer, which costs more than all these microtasks.
 */
const SOON = 10;
/**
 * Largest size of a pipe's buffer, in bytes. If more bytes than that arrive after the child's exit, another process
 * must be writing to the pipe.
 */
const MAX_PIPE = 1 << 20;
const MAX_STDERR = 4096;

/** A running command. */
export class Child {
  /**
   * Resolves when the child has exited and its output has been passed on. If a descendant keeps the pipes open, the
   * rest of the output might come later.
   */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when all output has been read, even if some of it could not be passed on. */
  readonly passedOn: Promise<void>;
  /** Whether `passedOn` has resolved. */
  isPassedOn = false;
  readonly #process: Process;
  readonly #clock: Stopwatch;
  readonly #stderr = new Tail(MAX_STDERR);
  readonly #output: ChildOutput;
  readonly #retryAfter: RetryAfterLine | undefined;
  #received = 0;
  /** Whether both pipes are closed. */
  #isClosed = false;
  #hasExited = false;
  #isKilled = false;
  #killedAt = 0;
  #killTimer: Disposable | undefined = undefined;

  /**
   * Creates a child from a newly started process.
   *
   * @param process The process.
   * @param output The destination of the output.
   * @param clock The clock that measures the grace period of `kill`.
   * @param readsRetryAfter Whether to read `retryAfter` from the error output.
   */
  constructor(process: Process, output: ChildOutput, clock: Stopwatch, readsRetryAfter: boolean) {
    this.#process = process;
    this.#clock = clock;
    this.#output = output;
    this.#retryAfter = readsRetryAfter ? new RetryAfterLine() : undefined;
    const closed = Promise.all([
      process.stdout.forEach((chunk) => this.#write(chunk)),
      process.stderr.forEach((chunk) => this.#writeError(chunk)),
    ]).then(() => void (this.#isClosed = true));
    const exited = this.#exit();
    this.passedOn = this.#passOn(exited, closed);
    this.ended = this.#end(exited, closed);
  }

  /** Last 4 KiB of the error output so far. */
  get stderr(): string {
    return this.#stderr.toString();
  }

  /** Delay that the error output so far asks for before the next attempt, in milliseconds; 0 for none. */
  get retryAfter(): number {
    return this.#retryAfter?.delay ?? 0;
  }

  /**
   * Ends the child and its descendants: sends SIGTERM, and SIGKILL after a grace period.
   *
   * @returns Whether the child was still running.
   */
  kill(): boolean {
    if (this.#hasExited) return false;
    if (!this.#isKilled) {
      this.#isKilled = true;
      this.#killedAt = this.#clock.now();
      this.#signal("SIGTERM");
      this.#killTimer = this.#clock.setTimer(() => this.#signal("SIGKILL"), KILL_GRACE);
    }
    return true;
  }

  /**
   * Stops the child and its descendants until `resume` is called. Sends SIGSTOP because the system ignores SIGTSTP in
   * sessions without a shell, and each child leads its own session.
   */
  suspend(): void {
    this.#signal("SIGSTOP");
  }

  /** Lets a stopped child and its descendants continue. */
  resume(): void {
    this.#signal("SIGCONT");
  }

  #signal(signal: GroupSignal): void {
    signalGroup(this.#process.pid, signal, this.#hasExited);
  }

  #write(chunk: Uint8Array): Promise<void> | undefined {
    this.#received += chunk.length;
    return this.#pass(this.#output.stdout, chunk);
  }

  #writeError(chunk: Uint8Array): Promise<void> | undefined {
    this.#stderr.write(chunk);
    this.#retryAfter?.write(chunk);
    return this.#output.stderr && this.#pass(this.#output.stderr, chunk);
  }

  #pass(sink: OutputSink, chunk: Uint8Array): Promise<void> | undefined {
    try {
      const written = sink.write(chunk);
      return written && this.#settled(written);
    } catch (error) {
      this.#output.onFailure(error);
      return undefined;
    }
  }

  /** Waits for a write to finish. After a failure, reading continues so that the child can end. */
  async #settled(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.#output.onFailure(error);
    }
  }

  /** Waits for the exit, and then briefly for the pipes to close. */
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
      const { pending } = this.#output.stdout;
      if (pending !== undefined) await this.#settled(pending);
      else if (this.#received === before || performance.now() - exitedAt > MAX_LISTENING) break;
      if (this.#received - atExit > MAX_PIPE) break;
      before = this.#received;
    }
    this.#process.stdout.close();
    this.#process.stderr.close();
    await this.#settled(this.#output.stdout.end());
    if (this.#output.stderr !== undefined) await this.#settled(this.#output.stderr.end());
    this.isPassedOn = true;
  }

  /** Waits until the child's descendants have ended. Kills those that are still running after the grace period. */
  async #endGroup(): Promise<void> {
    const { pid } = this.#process;
    while (isGroupThere(pid) && this.#clock.now() - this.#killedAt < KILL_GRACE) await delay(GROUP_LOOK);
    this.#killTimer?.[Symbol.dispose]();
    this.#signal("SIGKILL");
  }

  async #end(exited: Promise<ProcessEnd>, closed: Promise<void>): Promise<ProcessEnd> {
    const end = await exited;
    // A slow reader of the run's output slows the run: no new child starts before this child's output is written.
    while (!this.#isClosed && !this.#isKilled && !await resolvesWithin(closed, END_GRACE)) {
      const { pending } = this.#output.stdout;
      if (pending === undefined) return end;
      await this.#settled(pending);
    }
    await this.passedOn;
    return end;
  }
}

/** Reports whether a promise resolves within a number of milliseconds. */
async function resolvesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => timer = setTimeout(resolve, ms, false));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
