import {
  type GiveUpReason,
  type HandlerContext,
  type Outcome,
  RetryAfterError,
  TerminalError,
  type WorkerPool,
} from "@workqueue/core";
import type { RedisQueue } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { CommandRun } from "./command_run.ts";
import { OpenItem } from "./open_item.ts";
import { NO_TIMEOUT, type RunSettings } from "./run.ts";
import type { Failure, Tally } from "./tally.ts";

/** Queue on a server, from which a run takes its items. */
export interface RemoteSource {
  /** The queue. The run shuts it down. */
  readonly queue: RedisQueue;
  /** Whether the run ends when no item is ready, delayed or processing. */
  readonly endsWhenEmpty: boolean;
  /** Called with the error when the result of an attempt was not stored, for example because its lease was lost. */
  onError(error: Error): void;
}

/** Pause after a failed look at whether the queue is empty, in milliseconds. */
const LOOK_AGAIN = 1000;

/**
 * Runs a command for each item of a queue on a server. The server keeps the items and their failures, so each attempt
 * of an item has its own `OpenItem`, and another process may make the next attempt.
 */
export class RemoteRun extends CommandRun {
  override readonly pool: WorkerPool<string>;
  /** Resolves when the run has ended. If an error ended the run early, rejects with this error. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  readonly #queue: RedisQueue;
  /** Items of failed attempts, by the error that the pool got. */
  readonly #failed = new WeakMap<object, OpenItem>();
  #taken = 0;
  #working = 0;
  #succeeded = 0;
  #givenUp = 0;
  #unfinished = 0;
  #failures = 0;
  #lastFailure: Failure | undefined = undefined;

  /** Starts the run. */
  constructor(settings: RunSettings, { queue, endsWhenEmpty, onError }: RemoteSource) {
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
    if (endsWhenEmpty) void this.#stopWhenEmpty();
    this.finished = this.#finish();
  }

  /** Progress of this process. An item counts while its attempt is running and when its outcome is decided. */
  get tally(): Tally {
    return {
      items: this.#working + this.#succeeded + this.#givenUp + this.#unfinished,
      isDistinct: false,
      folded: 0,
      refused: 0,
      doneBefore: 0,
      isReading: !this.stopped.aborted,
      partRead: undefined,
      running: this.attempts.running,
      queued: this.#working - this.attempts.running,
      failing: 0,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries: this.attempts.retries,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      nextDueInMs: undefined,
      isPaused: false,
      isStopping: this.stopped.aborted,
      maxRate: undefined,
      hasBegun: this.attempts.begun > 0,
      seconds: this.seconds,
    };
  }

  async #stopWhenEmpty(): Promise<void> {
    while (!this.stopped.aborted) {
      try {
        await this.#queue.whenIdle({ signal: this.stopped });
        this.stop();
      } catch { // the run was stopped, or the server failed, which the queue reports
        await delay(LOOK_AGAIN, undefined, { signal: this.stopped }).catch(() => {});
      }
    }
  }

  async #finish(): Promise<void> {
    await this.pool.finished;
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
        return;
      case "hopeless":
        throw this.#failureOf(item, (reason) => new TerminalError(reason));
      case "failed": {
        const { minDelay } = result;
        throw this.#failureOf(
          item,
          (reason) => minDelay > 0 ? new RetryAfterError(minDelay, reason) : new Error(reason),
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
    this.#settings.onDecided((item ?? new OpenItem({ text, number: 0 }, true)).report("given-up", reason));
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
  return new Error(`Cannot store the result of ${item}: ${error instanceof Error ? error.message : error}`);
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
