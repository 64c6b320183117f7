import { type GiveUpReason, type HandlerContext, type Outcome, TerminalError, type WorkerPool } from "@workqueue/core";
import type { RemoteQueue, RemoteQueueSnapshot } from "@workqueue/engine";
import { setTimeout as delay } from "node:timers/promises";
import { bytesOf } from "../items/input.ts";
import { readLines } from "../items/lines.ts";
import { type AddedLines, addLines } from "../remote/add_lines.ts";
import type { ItemReport } from "../report/records.ts";
import { orAborted } from "../system/or_aborted.ts";
import { messageOf } from "../system/text.ts";
import { CommandRun } from "./command_run.ts";
import { OpenItem } from "./open_item.ts";
import { NO_TIMEOUT, type RunSettings } from "./run.ts";
import type { Failure, Tally } from "./tally.ts";

/** Queue that processes share, from which a run takes its items. */
export interface RemoteSource {
  /** The queue. The run shuts it down. */
  readonly queue: RemoteQueue;
  /** Whether the run ends when its list is in the queue, and no item is ready, delayed or processing. */
  readonly endsWhenEmpty: boolean;
  /** Whether such a run goes on when it can't find out whether the queue is empty: a server may come back. */
  readonly outlastsFailures: boolean;
  /** Whether progress is shown. If so, the run looks at the queue now and then. */
  readonly isShown: boolean;
  /** Prints later messages with a function. */
  printWith(print: (line: string) => void): void;
  /** Called with the numbers of added lines when the run adds no more lines. */
  onAdded(lines: AddedLines): void;
  /** Called when the run has nothing to do but wait for items that others have. Their number is greater than 0. */
  onWaiting(items: number): void;
  /** Called with the error when the result of an attempt was not stored, for example because its lease was lost. */
  onError(error: Error): void;
}

/** Pause after a failed look at whether the queue is empty, in milliseconds. */
const LOOK_AGAIN = 1000;
/** Milliseconds between two looks at what the run waits for. */
const LOOK_WHY = 2000;
/** Milliseconds between two looks at the queue, to show it. */
const LOOK = 1000;

/**
 * Adds the lines of the input to a queue that processes share, and runs a command for each item of the queue. The queue
 * keeps the items and their failures, so each attempt of an item has its own `OpenItem`, and another process may make
 * the next attempt.
 */
export class RemoteRun extends CommandRun {
  override readonly pool: WorkerPool<string>;
  /** Resolves when the run has ended. If an error ended the run early, rejects with this error. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  readonly #queue: RemoteQueue;
  /** Items of failed attempts, by the error that the pool got. */
  readonly #failed = new WeakMap<object, OpenItem>();
  #refused = 0;
  #taken = 0;
  #working = 0;
  #succeeded = 0;
  #givenUp = 0;
  #unfinished = 0;
  #failures = 0;
  #lastFailure: Failure | undefined = undefined;
  /** State of the queue, as of the last look. */
  #seen: RemoteQueueSnapshot | undefined = undefined;

  /** Starts the run. */
  constructor(settings: RunSettings, source: RemoteSource) {
    const { queue, endsWhenEmpty, onAdded, onError } = source;
    const { config: { config, queueName } } = settings;
    super(settings);
    this.#settings = settings;
    this.#queue = queue;
    this.pool = config.runWorkers(queueName, queue, (text, context) => this.#work(text, context), {
      timeout: NO_TIMEOUT,
      onError: (error, text) => {
        if (!this.#isOfAttempt(error)) onError(notStored(error, text));
      },
      onGiveUp: (error, text, _attempts, reason) => this.#giveUp(error, text, reason),
    });
    const fed = this.#feed(onAdded);
    if (endsWhenEmpty) {
      void this.#stopWhenEmpty(fed, source);
      void this.#tellWhatIsMissing(fed, source);
    }
    if (source.isShown) void this.#look();
    this.finished = this.#finish(fed);
  }

  /** Progress of this process. An item counts while its attempt is running and when its outcome is decided. */
  get tally(): Tally {
    const { folded, doneBefore } = this.#settings.backlog;
    const seen = this.#seen;
    return {
      items: doneBefore + this.#working + this.#succeeded + this.#givenUp + this.#unfinished,
      isDistinct: false,
      folded,
      refused: this.#refused,
      doneBefore,
      isReading: !this.stopped.aborted,
      partRead: undefined,
      running: this.attempts.running,
      queued: this.#working - this.attempts.running,
      failing: seen?.failing ?? 0,
      blockedRetries: seen?.blockedRetries,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries: this.attempts.retries,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      nextDueInMs: seen?.delayedItems[0]?.dueInMs,
      isPaused: seen?.paused ?? false,
      isStopping: this.stopped.aborted,
      maxRate: undefined,
      hasBegun: this.attempts.begun > 0,
      seconds: this.seconds,
      waiting: {
        items: seen && seen.ready + seen.blocked + seen.delayed,
        oldest: (seen?.oldestReadyMs ?? 0) / 1000,
      },
    };
  }

  /** Adds the list to the queue. A line that was read is added even if the run is ending. */
  async #feed(onAdded: RemoteSource["onAdded"]): Promise<void> {
    try {
      onAdded(await addLines(this.#queue, this.#newLines()));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the lines of the input that are to be added. */
  async *#newLines(): AsyncGenerator<string[], void, void> {
    const { input, separator, template, backlog, onRefused } = this.#settings;
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
        const added: string[] = [];
        for (const line of lines) backlog.add(line);
        for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) added.push(line.text);
        yield added;
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

  async #stopWhenEmpty(fed: Promise<void>, { queue, outlastsFailures }: RemoteSource): Promise<void> {
    await fed;
    while (!this.stopped.aborted) {
      try {
        await queue.whenIdle({ signal: this.stopped });
        this.stop();
      } catch (error) { // the run was stopped, or the queue failed
        if (!this.stopped.aborted && !outlastsFailures) {
          this.failure ??= error;
          this.stop();
        }
        await delay(LOOK_AGAIN, undefined, { signal: this.stopped }).catch(() => {});
      }
    }
  }

  /** Says for which items the run waits, when their number changes. */
  async #tellWhatIsMissing(fed: Promise<void>, { queue, onWaiting }: RemoteSource): Promise<void> {
    await fed;
    for (let told = 0;;) {
      await delay(LOOK_WHY, undefined, { signal: this.stopped }).catch(() => {});
      if (this.stopped.aborted) return;
      if (this.#working > 0) {
        told = 0;
        continue;
      }
      const { ready, processing } = await queue.counts().catch(() => ({ ready: 0, processing: 0 }));
      const elsewhere = this.#working > 0 || ready > 0 ? 0 : processing;
      if (elsewhere > 0 && elsewhere !== told) onWaiting(elsewhere);
      told = elsewhere;
    }
  }

  /** Looks at the queue now and then. While it can't be reached, its state is unknown. */
  async #look(): Promise<void> {
    while (!this.stopped.aborted) {
      this.#seen = await this.#queue.snapshot({ limit: 1 }).catch(() => undefined);
      await delay(LOOK, undefined, { signal: this.stopped }).catch(() => {});
    }
  }

  async #finish(fed: Promise<void>): Promise<void> {
    await this.pool.finished;
    this.#settings.input.stream.destroy();
    await fed;
    await this.#queue.shutDownWithDrain(); // sends the outcomes of the last attempts
    await this.output.finish();
    if (this.failure !== undefined) throw this.failure;
  }

  async #work(text: string, { attempt, signal }: HandlerContext): Promise<void | Outcome> {
    const item = new OpenItem({ text, number: ++this.#taken }, true);
    this.#working++;
    this.output.add(item);
    try {
      return await this.#attempt(item, attempt, signal);
    } finally {
      await this.waitForReader();
      this.#working--;
    }
  }

  /**
   * Runs one attempt. Ends the command when the lease of the item is lost, because another process may have the item.
   *
   * @throws {Error} If the attempt failed or the lease was lost.
   */
  async #attempt(item: OpenItem, attempt: number, lost: AbortSignal): Promise<void | Outcome> {
    const fault = this.#settings.template.fault(item.line.text);
    if (fault !== undefined) {
      item.begin(attempt, performance.now());
      item.end({ exitCode: null, signal: null, stderr: fault }, false);
      this.output.discard(item);
      throw this.#failureOf(item, (reason) => new TerminalError(reason));
    }
    const result = await this.attempts.make(item, attempt, lost);
    await item.passedOn;
    if (result.kind === "not-begun" || this.killed.aborted) {
      this.#unfinished++;
      this.output.discard(item);
      return { requeue: true };
    }
    if (result.kind === "lost") {
      this.output.discard(item);
      throw lost.reason;
    }
    this.output.end(item, () => {});
    switch (result.kind) {
      case "succeeded":
        this.#succeeded++;
        return this.#record(item.report("succeeded"));
      case "hopeless":
        throw this.#failureOf(item, (reason) => new TerminalError(reason));
      case "failed": {
        const { minDelay } = result;
        throw this.#failureOf(
          item,
          (reason) => minDelay > 0 ? this.retryAfter(minDelay, reason) : new Error(reason),
        );
      }
    }
  }

  /** Counts a failed attempt. Returns its error. */
  #failureOf(item: OpenItem, errorFor: (reason: string) => Error): Error {
    this.#failures++;
    this.#lastFailure = item.failure;
    const error = errorFor(item.failure.reason);
    this.#failed.set(error, item);
    return error;
  }

  /** Reports whether an error is the failure of an attempt, which was counted. */
  #isOfAttempt(error: unknown): boolean {
    return error instanceof Error && this.#failed.has(error);
  }

  #giveUp(error: unknown, text: string, reason: GiveUpReason): void {
    const item = error instanceof Error ? this.#failed.get(error) : undefined;
    this.#givenUp++;
    this.#record((item ?? new OpenItem({ text, number: 0 }, true)).report("given-up", reason));
    this.haltIfTooMany(this.#givenUp, this.#succeeded);
  }

  #record(item: ItemReport): void {
    try {
      this.#settings.onDecided(item);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** Creates the error to report when the result of an attempt was not stored. */
function notStored(error: unknown, text: string): Error {
  const item = JSON.stringify(text);
  if (codeOf(error) === "WQ_LEASE_LOST") {
    return new Error(
      `The lease of ${item} was lost, so another worker may run it, and this worker's result does not count`,
    );
  }
  return new Error(`Cannot store the result of ${item}: ${messageOf(error)}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
