import process from "node:process";
import type { Readable } from "node:stream";
import {
  type HandlerContext,
  type RateLimitingQueue,
  runWorkers,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import { Backlog } from "./backlog.ts";
import { runChild } from "./child.ts";
import { readLines } from "./lines.ts";
import { OpenItem } from "./open_item.ts";
import type { ItemReport } from "./report.ts";
import { describeSystemError, UsageError } from "./usage_error.ts";

/** What a {@linkcode Run} works with. */
export interface RunSettings {
  /** Where items go and come back to when they failed. Nobody else adds to it. */
  readonly queue: RateLimitingQueue<string>;
  /** Concurrency, retries and timeout. */
  readonly workers: Pick<WorkerOptions, "concurrency" | "maxRetries" | "timeout">;
  /** The command and its arguments, in which `{}` stands for the item. */
  readonly command: readonly string[];
  /** What the items are read from. */
  readonly input: Readable;
  /** What the input is called in a message. */
  readonly inputName: string;
  /** Takes what the children print, whole lines at a time. */
  onOutput(lines: Uint8Array): Promise<void>;
  /** Is told of every item that was taken in, once, when its fate is decided. */
  onDecided(item: ItemReport): void;
}

/** How far a run has come. */
export interface Tally {
  /** Distinct items so far. */
  readonly distinct: number;
  /** Lines that were folded into one that came before. */
  readonly folded: number;
  /** Whether there may be more items to come. */
  readonly isReading: boolean;
  /** Items whose command runs right now. */
  readonly inFlight: number;
  /** Items that wait for their first attempt or the next one. */
  readonly waiting: number;
  /** Items for which the command succeeded. */
  readonly succeeded: number;
  /** Items that failed too often. */
  readonly givenUp: number;
  /** Attempts beyond the first of each item. */
  readonly retries: number;
  /** Seconds since the run began. */
  readonly seconds: number;
}

/**
 * How many items may be ready in the queue. An item that is to be tried again comes after those, and not
 * after all of a long input.
 */
const MAX_READY = 1000;
/**
 * How many lines are read ahead of the work. It is good for knowing the total early, and the time left; an
 * input without end must not fill the memory.
 */
const MAX_READ_AHEAD = 1_000_000;
/** How many items may be neither in the backlog nor decided: what is kept of them must not fill it either. */
const MAX_OPEN = 100_000;
const PLACEHOLDER = "{}";

/**
 * Runs a command for each distinct line of the input.
 *
 * Lines go into a backlog, from there into the queue, a few at a time, and from there to the workers, which
 * run the command. What fails goes back into the queue, until it succeeds or is given up.
 */
export class Run {
  /** Resolves when every item's fate is decided. Rejects if the run had to end before. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  readonly #backlog = new Backlog();
  /** Those that went into the queue and are not decided. */
  readonly #open = new Map<string, OpenItem>();
  readonly #pool: WorkerPool;
  /** Ends the children that run. */
  readonly #killer = new AbortController();
  readonly #env = { ...process.env };
  readonly #startedAt = performance.now();
  #isReading = true;
  #readOn: () => void = () => {};
  #succeeded = 0;
  #givenUp = 0;
  #retries = 0;
  #failure: unknown = undefined;
  #interruptions = 0;

  /** Starts the run. */
  constructor(settings: RunSettings) {
    this.#settings = settings;
    // The timeout is ours to watch over: the pool would start the next child while the one before is being killed.
    const { timeout, ...workers } = settings.workers;
    this.#pool = runWorkers(settings.queue, (item, context) => this.#work(item, context, timeout), {
      ...workers,
      signal: this.#killer.signal,
      onGiveUp: (_error, item) => this.#decide(item, "given-up"),
    });
    this.finished = this.#finish();
    this.#read();
  }

  /** How far the run has come. */
  get tally(): Tally {
    const { distinct, folded } = this.#backlog;
    const inFlight = this.#pool.active;
    return {
      distinct,
      folded,
      isReading: this.#isReading,
      inFlight,
      waiting: distinct - this.#succeeded - this.#givenUp - inFlight,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries: this.#retries,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
  }

  /** Whether somebody asked the run to end. */
  get isInterrupted(): boolean {
    return this.#interruptions > 0;
  }

  /** Asks the run to end. The first time, nothing more is begun; the second time, what runs is killed. */
  interrupt(): void {
    this.#interruptions++;
    if (this.#interruptions === 1) this.#pool.stop();
    else this.#killer.abort();
  }

  async #finish(): Promise<void> {
    await this.#pool.finished;
    this.#settings.queue.shutDown();
    this.#settings.input.destroy();
    for (const item of this.#open.values()) this.#settings.onDecided(item.report("unfinished"));
    for (let line = this.#backlog.shift(); line !== undefined; line = this.#backlog.shift()) {
      this.#settings.onDecided(new OpenItem(line).report("unfinished"));
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #read(): Promise<void> {
    const { input, inputName } = this.#settings;
    try {
      for await (const lines of readLines(input)) {
        if (this.#settings.queue.shuttingDown || this.isInterrupted) return;
        for (const line of lines) this.#backlog.add(line);
        this.#handOn();
        if (this.#backlog.length >= MAX_READ_AHEAD) await new Promise<void>((resolve) => this.#readOn = resolve);
      }
    } catch (error) {
      if (this.#settings.queue.shuttingDown) return; // the end of the run destroyed the input
      return this.#fail(new UsageError(`Cannot read ${inputName} as ${describeSystemError(error, "file")}`));
    }
    this.#isReading = false;
    this.#endIfDecided();
  }

  /** Fills the queue up from the backlog. */
  #handOn(): void {
    const { queue } = this.#settings;
    while (queue.length < MAX_READY && this.#open.size < MAX_OPEN) {
      const line = this.#backlog.shift();
      if (line === undefined) break;
      this.#open.set(line, new OpenItem(line));
      queue.add(line);
    }
    if (this.#backlog.length < MAX_READ_AHEAD) this.#readOn();
  }

  /** Makes one attempt. Throws if it failed. */
  async #work(item: string, { signal, attempt }: HandlerContext, timeout: number | undefined): Promise<void> {
    this.#handOn();
    if (attempt > 1) this.#retries++;
    const open = this.#open.get(item)!;
    open.begin(attempt);
    const beganAt = performance.now();
    const command = this.#settings.command.map((part, index) =>
      index === 0 ? part : part.replaceAll(PLACEHOLDER, () => item)
    );
    const env = { ...this.#env, WORKQUEUE_ITEM: item, WORKQUEUE_ATTEMPT: String(attempt) };
    const timer = new AbortController();
    const timeoutId = timeout && setTimeout(() => timer.abort(), timeout);
    const kill = AbortSignal.any([signal, timer.signal]);
    try {
      const result = await runChild(command, { env, signal: kill, onOutput: this.#settings.onOutput });
      open.end(result, performance.now() - beganAt, timer.signal.aborted);
    } catch (error) {
      this.#fail(error); // the command cannot be run at all
      throw error;
    } finally {
      clearTimeout(timeoutId);
    }
    if (open.result.exitCode !== 0 || kill.aborted) throw new Error("The attempt failed");
    this.#decide(item, "succeeded");
  }

  #decide(item: string, outcome: "succeeded" | "given-up"): void {
    if (outcome === "succeeded") this.#succeeded++;
    else this.#givenUp++;
    const open = this.#open.get(item)!;
    this.#open.delete(item);
    try {
      this.#settings.onDecided(open.report(outcome));
    } catch (error) {
      this.#fail(error);
    }
    this.#endIfDecided();
  }

  #endIfDecided(): void {
    if (!this.#isReading && this.#succeeded + this.#givenUp === this.#backlog.distinct) this.#settings.queue.shutDown();
  }

  /** Ends the run at once, for a reason that concerns more than one item. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#killer.abort();
  }
}
