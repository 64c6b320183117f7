import {
  type GiveUpReason,
  type HandlerContext,
  type Outcome,
  RetryAfterError,
  type RetryScope,
  TerminalError,
  type WorkerPool,
} from "@workqueue/core";
import { setMaxListeners } from "node:events";
import type { Backlog } from "../items/backlog.ts";
import { bytesOf, type Input } from "../items/input.ts";
import { readLines, type Separator } from "../items/lines.ts";
import type { OutputContext, RunOutput } from "../output/run_output.ts";
import type { ItemReport } from "../report/records.ts";
import { orAborted } from "../system/or_aborted.ts";
import { Attempts, type AttemptSettings } from "./attempts.ts";
import { type Halt, isTooMany } from "./halt.ts";
import type { ItemSource, SourceContext } from "./item_source.ts";
import type { OpenItem } from "./open_item.ts";
import type { Failure, Tally } from "./tally.ts";

/** Settings of a {@linkcode Run}. */
export interface RunSettings extends AttemptSettings {
  /** List of items. */
  readonly input: Input;
  /** Separator between the items of the list. */
  readonly separator: Separator;
  /** Lines read ahead. Initially empty. */
  readonly backlog: Backlog;
  /** Whether equal lines become one item. */
  readonly isDistinct: boolean;
  /** Items to which the minimum delay of a retry applies. */
  readonly retryAfterScope: RetryScope;
  /** Limit on given-up items, at which the run ends early; `undefined` for no limit. */
  readonly halt: Halt | undefined;
  /** Starts the output of the run. */
  createOutput(context: OutputContext): RunOutput;
  /** Called when the run ends early because too many items were given up. */
  onHalt(): void;
  /** Called once for every item when its outcome is decided and its output is printed. */
  onDecided(item: ItemReport): void;
  /** Called for each refused line with the line's number and the reason, such as `"not UTF-8"`. */
  onRefused(lineNumber: number, reason: string): void;
}

/**
 * Longest timeout that a pool accepts, in milliseconds. `Attempts` itself enforces the config's timeout, because the
 * pool would start the next child while the previous child is still being killed.
 */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * Runs a command for each item of a source. The source adds the lines of the input to a queue, from which the workers
 * take items. Failed items go back to the queue until they succeed or are given up.
 *
 * @typeParam T Type of the queue's items.
 */
export class Run<T> implements SourceContext {
  readonly pool: WorkerPool<T>;
  readonly output: RunOutput;
  /** Resolves when the run has ended. If an error ended the run early, rejects with this error. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  readonly #source: ItemSource<T>;
  readonly #attempts: Attempts;
  /** Aborts when no more attempts may begin. */
  readonly #stopper = new AbortController();
  /** Aborts when running commands must be killed. */
  readonly #killer = new AbortController();
  readonly #startedAt = performance.now();
  /** Items of failed attempts, by the error that the pool got. */
  readonly #failed = new WeakMap<object, OpenItem>();
  #isInterrupted = false;
  /** Error that ended the run early; `undefined` if there was none. */
  #failure: unknown = undefined;
  #refused = 0;
  #succeeded = 0;
  #givenUp = 0;
  #failures = 0;
  #lastFailure: Failure | undefined = undefined;

  /** Starts the run. */
  constructor(settings: RunSettings, openSource: (run: SourceContext) => ItemSource<T>) {
    const { config: { config, queueName } } = settings;
    this.#settings = settings;
    // Each running command adds a listener, and Node would warn about so many listeners.
    setMaxListeners(0, this.stopped, this.killed);
    this.output = settings.createOutput({
      killed: this.killed,
      onFailure: (error) => {
        if (!this.killed.aborted) this.fail(error);
      },
    });
    this.#attempts = new Attempts(settings, {
      output: this.output,
      maxRunning: () => this.pool.concurrency,
      stopped: this.stopped,
      killed: this.killed,
      onFailure: (error) => this.fail(error),
    });
    this.#source = openSource(this);
    this.pool = config.runWorkers<T>(queueName, this.#source.queue, (taken, context) => this.#work(taken, context), {
      timeout: NO_TIMEOUT,
      signal: this.killed,
      onError: (error, taken) => {
        if (!this.#failed.has(error as object)) this.#source.onError(error, taken);
      },
      onGiveUp: (error, taken, _attempts, reason) => {
        const item = this.#failed.get(error as object) ?? this.#source.givenUpOutside(taken);
        if (item !== undefined) this.decide(item, "given-up", reason);
      },
    });
    this.finished = this.#finish(this.#feed());
  }

  get stopped(): AbortSignal {
    return this.#stopper.signal;
  }

  get killed(): AbortSignal {
    return this.#killer.signal;
  }

  get limit(): number {
    return this.#attempts.limit;
  }

  /** Progress of the run. */
  get tally(): Tally {
    const { folded, doneBefore } = this.#settings.backlog;
    const { running, begun, retries } = this.#attempts;
    const counts = { running, succeeded: this.#succeeded, givenUp: this.#givenUp };
    return {
      ...counts,
      ...this.#source.tally(counts),
      folded,
      refused: this.#refused,
      doneBefore,
      retries,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      isStopping: this.stopped.aborted,
      hasBegun: begun > 0,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
  }

  /** Whether the run was asked to end. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Whether output of ended attempts is being printed. */
  get isPrinting(): boolean {
    return this.output.isPrinting;
  }

  /** Asks the run to end. After the first call, no more attempts begin. The second call kills running commands. */
  interrupt(): void {
    if (this.#isInterrupted) this.#killer.abort();
    this.#isInterrupted = true;
    this.stop();
  }

  /** Ends the run immediately and kills running commands. */
  kill(): void {
    this.interrupt();
    this.interrupt();
  }

  /** Stops the running commands and their timeouts, because this process is about to stop. */
  suspend(): void {
    this.#attempts.suspend();
  }

  /** Continues the commands that `suspend` has stopped. */
  resume(): void {
    this.#attempts.resume();
  }

  stop(error?: unknown): void {
    this.#failure ??= error;
    this.#stopper.abort();
    void this.pool.stop().catch(() => {}); // `finished` of the pool rejects with the same error
  }

  fail(error: unknown): void {
    this.stop(error);
    this.#killer.abort();
  }

  /** Lets the source read the list. */
  async #feed(): Promise<void> {
    try {
      await this.#source.feed(this.#readLines());
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the lines of the input until the run is stopped. */
  async *#readLines(): AsyncGenerator<string[], void, void> {
    const { input, separator, template, onRefused } = this.#settings;
    const chunks = readLines(this.#untilStopped(bytesOf(input)), {
      separator,
      fault: (line) => template.fault(line),
      onRefused: (lineNumber, reason) => {
        this.#refused++;
        onRefused(lineNumber, reason);
      },
    });
    try {
      for await (const lines of chunks) {
        yield lines;
        if (this.stopped.aborted) return;
      }
    } catch (error) {
      if (!this.stopped.aborted) throw error;
    }
  }

  /**
   * Passes on bytes until the run is stopped.
   *
   * @throws {DOMException} If the run is stopped. On Deno, a pending read of standard input outlasts even its stream.
   */
  async *#untilStopped(bytes: AsyncGenerator<Uint8Array, void, void>): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const next = await orAborted(bytes.next(), this.stopped);
      if (next.done) return;
      yield next.value;
    }
  }

  async #finish(fed: Promise<void>): Promise<void> {
    await this.pool.finished;
    this.#settings.input.stream.destroy();
    await fed;
    for (const item of await this.#source.finish()) {
      if (item.outcome === "succeeded") this.#succeeded--; // the item's output was not printed
      else if (item.outcome === "given-up") this.#givenUp--;
      this.#settings.onDecided(item.report("unfinished"));
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #work(taken: T, context: HandlerContext): Promise<void | Outcome> {
    const item = this.#source.take(taken);
    try {
      return await this.#attempt(item, context);
    } finally {
      await this.#waitForReader();
      this.#source.release();
    }
  }

  /**
   * Runs one attempt. Ends the command if the attempt's signal aborts: the run is killed, the lease of the item was
   * lost, so another process may have the item, or the item was cancelled.
   *
   * @throws {RetryAfterError} If the attempt failed and the retry has a minimum delay.
   * @throws {TerminalError} If the attempt failed and a retry would fail too.
   * @throws {Error} If the attempt failed, or its signal aborted.
   */
  async #attempt(item: OpenItem, { attempt, signal }: HandlerContext): Promise<void | Outcome> {
    const result = await this.#attempts.make(item, attempt, signal);
    if (this.#source.waitsForOutput) await item.passedOn;
    const isKilled = this.killed.aborted;
    this.#source.onAttempt(item, isKilled ? "not-begun" : result.kind);
    if (isKilled) throw this.#errorOf(item, "failed"); // the pool hands the item back
    const { kind, minDelay } = result;
    switch (kind) {
      case "succeeded":
        return this.decide(item, "succeeded");
      case "not-begun":
        return { requeue: true };
      case "lost":
        throw signal.reason;
      case "hopeless":
      case "failed":
        throw this.#errorOf(item, kind, minDelay);
    }
  }

  /** Counts a failed attempt. Returns its error. */
  #errorOf(item: OpenItem, kind: "hopeless" | "failed", minDelay = 0): Error {
    const { failure } = item;
    const { reason } = failure;
    this.#failures++;
    this.#lastFailure = failure;
    const error = kind === "hopeless"
      ? new TerminalError(reason)
      : minDelay > 0
      ? new RetryAfterError(minDelay, reason, { scope: this.#settings.retryAfterScope })
      : new Error(reason);
    this.#failed.set(error, item);
    return error;
  }

  /** Waits for the reader of the output, because a slow reader slows the run. */
  async #waitForReader(): Promise<void> {
    const { idle } = this.output;
    if (idle !== undefined) await orAborted(idle, this.killed).catch(() => {});
  }

  decide(item: OpenItem, outcome: ItemReport["outcome"], reason?: GiveUpReason): void {
    if (item.passedOn !== undefined) {
      void item.passedOn.then(() => this.decide(item, outcome, reason));
      return;
    }
    if (item.outcome !== undefined) return; // the item was cancelled during its attempt
    if (outcome === "succeeded" && this.killed.aborted) return; // perhaps not all of its output was passed on
    item.outcome = outcome;
    if (outcome === "succeeded") this.#succeeded++;
    else if (outcome === "given-up") this.#givenUp++;
    this.#source.onDecided(item, () => this.#record(item.report(outcome, reason)));
    if (outcome === "given-up") this.#haltIfTooMany();
  }

  #record(item: ItemReport): void {
    try {
      this.#settings.onDecided(item);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the run if the numbers of decided items reach its limit. */
  #haltIfTooMany(): void {
    const { halt, onHalt } = this.#settings;
    if (halt === undefined || this.stopped.aborted || !isTooMany(halt, this.#givenUp, this.#succeeded)) return;
    onHalt();
    this.stop();
    if (halt.when === "now") this.#killer.abort();
  }
}
