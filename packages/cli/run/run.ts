import process from "node:process";
import {
  type HandlerContext,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
  TerminalError,
  type WorkerOptions,
  type WorkerPool,
} from "@workqueue/core";
import { Backlog } from "../items/backlog.ts";
import { type Child, startChild } from "../children/child.ts";
import type { Input } from "../items/input.ts";
import { readLines } from "../items/lines.ts";
import { OpenItem } from "./open_item.ts";
import type { Failure, Tally } from "./tally.ts";
import { orAborted } from "../system/or_aborted.ts";
import type { ItemReport } from "../report/report.ts";
import { isCommandError, isItemError, isShortage } from "../children/start_error.ts";
import { StartLimit } from "../children/start_limit.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/** What a {@linkcode Run} works with. */
export interface RunSettings {
  /** Where items go and come back to when they failed. Nobody else adds to it. */
  readonly queue: RateLimitingQueue<OpenItem>;
  /** How many commands run at once. */
  readonly concurrency: number;
  /** How often an item is tried again, and whatever else the config says of the workers. */
  readonly workers: Omit<WorkerOptions<OpenItem>, "concurrency" | "timeout" | "signal" | "onError" | "onGiveUp">;
  /** How long one attempt may take, in milliseconds; `undefined` for as long as it likes. */
  readonly timeout: number | undefined;
  /** The command and its arguments, in which `{}` stands for the item. */
  readonly command: readonly string[];
  /** What the items are read from. */
  readonly input: Input;
  /** Whether a line is folded into an equal one that came before. */
  readonly isDistinct: boolean;
  /** Takes what the children print, whole lines at a time. If it rejects, the run ends for that reason. */
  onOutput(lines: Uint8Array): Promise<void>;
  /** Is told of every item that was taken in, once, when its fate is decided. */
  onDecided(item: ItemReport): void;
  /** Is told the number of each line that is not UTF-8 and so is left out. */
  onRefused(lineNumber: number): void;
  /** Is told when fewer commands than that can run at once. */
  onShortage(error: unknown): void;
}

/**
 * How many lines are read ahead of the work. It is good for knowing the total early, and the time left; an
 * input without end must not fill the memory. Where no line is folded, nothing else is kept of them, so there are fewer.
 */
const MAX_READ_AHEAD = { distinct: 1_000_000, each: 10_000 };
/** How many items may be neither in the backlog nor decided: what is kept of them must not fill it either. */
const MAX_OPEN = 100_000;
const PLACEHOLDER = "{}";

/**
 * Runs a command for each line of the input.
 *
 * Lines go into a backlog, from there into the queue, one when there is a place for it, and from there to the workers,
 * which run the command. What fails goes back into the queue, until it succeeds or is given up. So an item that is to
 * be tried again goes before all lines that were never tried, however many there are.
 */
export class Run {
  /** Resolves when every item's fate is decided. Rejects if the run had to end before. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  readonly #backlog: Backlog;
  readonly #readAhead: number;
  /** Those that went into the queue and are not decided. */
  readonly #open = new Set<OpenItem>();
  readonly #starts: StartLimit;
  readonly #pool: WorkerPool;
  /** Aborts when nothing more is to be begun. */
  readonly #stopper = new AbortController();
  /** Ends the children that run. */
  readonly #killer = new AbortController();
  readonly #env = { ...process.env };
  readonly #startedAt = performance.now();
  /** How many workers have an item. */
  #working = 0;
  /** How many lines went into the queue. */
  #taken = 0;
  #isReading = true;
  #readOn: () => void = () => {};
  #hasBegun = false;
  #refused = 0;
  #failing = 0;
  #succeeded = 0;
  #givenUp = 0;
  #retries = 0;
  #lastFailure: Failure | undefined = undefined;
  #failure: unknown = undefined;
  #isInterrupted = false;

  /** Starts the run. */
  constructor(settings: RunSettings) {
    const { queue, concurrency, workers, timeout, isDistinct } = settings;
    this.#settings = settings;
    this.#backlog = new Backlog(isDistinct);
    this.#readAhead = isDistinct ? MAX_READ_AHEAD.distinct : MAX_READ_AHEAD.each;
    this.#starts = new StartLimit(concurrency, settings.onShortage);
    // The timeout is ours to watch over: the pool would start the next child while the one before is being killed.
    this.#pool = runWorkers(queue, (item, context) => this.#work(item, context, timeout), {
      ...workers,
      concurrency,
      signal: this.#killer.signal,
      onError: () => {}, // what becomes of an item is shown and reported
      onGiveUp: (_error, item) => this.#decide(item, "given-up"),
    });
    this.finished = this.#finish();
    void this.#read();
  }

  /** How far the run has come. */
  get tally(): Tally {
    const { total, folded } = this.#backlog;
    const inFlight = this.#starts.running;
    return {
      items: total,
      isDistinct: this.#settings.isDistinct,
      folded,
      refused: this.#refused,
      isReading: this.#isReading,
      inFlight,
      waiting: total - this.#succeeded - this.#givenUp - inFlight,
      failing: this.#failing,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries: this.#retries,
      lastFailure: this.#lastFailure,
      nextDueIn: this.#settings.queue.snapshot({ limit: 1 }).waitingItems[0]?.dueIn,
      hasBegun: this.#hasBegun,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
  }

  /** Whether somebody asked the run to end. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Asks the run to end. The first time, nothing more is begun; the second time, what runs is killed. */
  interrupt(): void {
    if (this.#isInterrupted) this.#killer.abort();
    this.#isInterrupted = true;
    this.#stop();
  }

  /** Asks the run to end at once: what runs is killed. */
  kill(): void {
    this.interrupt();
    this.interrupt();
  }

  #stop(): void {
    this.#stopper.abort();
    void this.#pool.stop();
  }

  async #finish(): Promise<void> {
    await this.#pool.finished;
    for (const item of this.#open) await item.passedOn; // its fate may hang on that
    this.#settings.queue.shutDown();
    this.#settings.input.stream.destroy();
    for (const item of this.#open) this.#settings.onDecided(item.report("unfinished"));
    for (let line = this.#backlog.shift(); line !== undefined; line = this.#backlog.shift()) {
      this.#settings.onDecided(new OpenItem(line).report("unfinished"));
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #read(): Promise<void> {
    const { input, onRefused } = this.#settings;
    const refuse = (lineNumber: number) => {
      this.#refused++;
      onRefused(lineNumber);
    };
    try {
      for await (const lines of readLines(input.stream, refuse)) {
        if (this.#stopper.signal.aborted) return;
        for (const line of lines) this.#backlog.add(line);
        this.#handOn();
        if (this.#backlog.length >= this.#readAhead) await new Promise<void>((resolve) => this.#readOn = resolve);
      }
    } catch (error) {
      if (this.#settings.queue.shuttingDown) return; // the end of the run destroyed the input
      return this.#fail(new UsageError(`Cannot read ${input.name} as ${describeSystemError(error, "file")}`));
    }
    this.#isReading = false;
    this.#endIfDecided();
  }

  /** Puts as many lines in the queue as can be begun at once, and no more, so that they delay nothing else. */
  #handOn(): void {
    const { queue } = this.#settings;
    if (this.#stopper.signal.aborted) return;
    while (queue.length < this.#starts.limit - this.#working && this.#open.size < MAX_OPEN) {
      const line = this.#backlog.shift();
      if (line === undefined) break;
      const item = new OpenItem(line, this.#settings.isDistinct ? undefined : this.#taken++);
      this.#open.add(item);
      queue.add(item);
    }
    if (this.#backlog.length < this.#readAhead) this.#readOn();
  }

  async #work(item: OpenItem, context: HandlerContext, timeout: number | undefined): Promise<void | Outcome> {
    this.#working++;
    this.#handOn();
    try {
      return await this.#attempt(item, context, timeout);
    } finally {
      this.#working--;
      this.#handOn();
    }
  }

  /** Makes one attempt. Throws if it failed. */
  async #attempt(item: OpenItem, { signal, attempt }: HandlerContext, timeout = 0): Promise<void | Outcome> {
    const timer = new AbortController();
    const kill = AbortSignal.any([signal, timer.signal]);
    const child = await this.#begin(item, attempt, kill);
    if (child === undefined) return { requeue: true };
    const timeoutId = timeout > 0 ? setTimeout(() => timer.abort(), timeout) : undefined;
    const end = await child.ended;
    clearTimeout(timeoutId);
    this.#starts.end();
    item.end({ ...end, stderr: child.stderr }, timer.signal.aborted);
    item.listenTo(child);
    if (end.exitCode !== 0 || kill.aborted) {
      this.#countFailing(item);
      throw new Error("The attempt failed");
    }
    this.#decide(item, "succeeded");
  }

  /** Starts the command when there is room for it; `undefined` if the run ends before. Throws if it cannot be started. */
  async #begin(item: OpenItem, attempt: number, kill: AbortSignal): Promise<Child | undefined> {
    const { signal } = this.#stopper;
    const [file, ...args] = this.#settings.command;
    const command = [file!, ...args.map((arg) => arg.replaceAll(PLACEHOLDER, () => item.text))];
    const env = { ...this.#env, WORKQUEUE_ITEM: item.text, WORKQUEUE_ATTEMPT: String(attempt) };
    let beganAt = performance.now();
    const start = () => {
      beganAt = performance.now();
      return startChild(command, { env, signal: kill, onOutput: (lines) => this.#passOn(lines) });
    };
    try {
      const child = await this.#starts.start(start, signal);
      item.begin(attempt, beganAt);
      this.#hasBegun = true;
      if (attempt > 1) this.#retries++;
      return child;
    } catch (error) {
      if (signal.aborted) return undefined;
      const reason = `Cannot run '${file}' as ${describeSystemError(error, "command")}`;
      if (isCommandError(error) || isShortage(error)) {
        this.#fail(new UsageError(reason));
        throw error;
      }
      item.begin(attempt, beganAt);
      item.end({ exitCode: null, signal: null, stderr: reason }, false);
      this.#countFailing(item);
      throw isItemError(error) ? new TerminalError(reason) : error;
    }
  }

  /** Passes on what a child printed. Where that fails, it fails for all; where the run is ended, nobody waits for it. */
  async #passOn(lines: Uint8Array): Promise<void> {
    const { signal } = this.#killer;
    try {
      await orAborted(this.#settings.onOutput(lines), signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
      throw error;
    }
  }

  #countFailing(item: OpenItem): void {
    this.#lastFailure = item.failure;
    if (!item.isFailing) this.#failing++;
    item.isFailing = true;
  }

  #decide(item: OpenItem, outcome: "succeeded" | "given-up"): void {
    if (item.passedOn !== undefined) {
      void item.passedOn.then(() => this.#decide(item, outcome));
      return;
    }
    if (outcome === "succeeded" && this.#killer.signal.aborted) return; // its output may not have been passed on
    if (outcome === "succeeded") this.#succeeded++;
    else this.#givenUp++;
    if (item.isFailing) this.#failing--;
    this.#open.delete(item);
    try {
      this.#settings.onDecided(item.report(outcome));
    } catch (error) {
      this.#fail(error);
    }
    this.#endIfDecided();
  }

  #endIfDecided(): void {
    if (!this.#isReading && this.#succeeded + this.#givenUp === this.#backlog.total) this.#settings.queue.shutDown();
  }

  /** Ends the run at once, for a reason that concerns more than one item. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop();
    this.#killer.abort();
  }
}
