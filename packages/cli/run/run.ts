import {
  type GiveUpReason,
  type HandlerContext,
  type Outcome,
  type RateLimitingQueue,
  RetryAfterError,
  TerminalError,
  type Throttle,
  type WorkerPool,
} from "@workqueue/core";
import { inspectionOf, type ThrottleSnapshot } from "@workqueue/core/hooks";
import type { Backlog } from "../items/backlog.ts";
import { bytesOf, type Input } from "../items/input.ts";
import { readLines, type Separator } from "../items/lines.ts";
import type { ItemReport } from "../report/records.ts";
import { messageOf, printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import { CommandRun, type CommandRunSettings } from "./command_run.ts";
import { OpenItem } from "./open_item.ts";
import type { Failure, Tally } from "./tally.ts";

/** Settings of a {@linkcode Run}. */
export interface RunSettings extends CommandRunSettings {
  /** List of items. */
  readonly input: Input;
  /** Separator between the items of the list. */
  readonly separator: Separator;
  /** Lines read ahead. Initially empty. */
  readonly backlog: Backlog;
  /** Whether equal lines become one item. */
  readonly isDistinct: boolean;
  /** Called once for every item when its outcome is decided and its output is printed. */
  onDecided(item: ItemReport): void;
  /** Called for each refused line with the line's number and the reason, such as `"not UTF-8"`. */
  onRefused(lineNumber: number, reason: string): void;
}

/** Largest number of undecided items outside the backlog. More undecided items could fill the memory. */
const MAX_OPEN = 100_000;
/** Largest total size of the undecided items outside the backlog, in characters. */
const MAX_OPEN_SIZE = 50_000_000;
/** Maximum number of lines that wait in the queue so that a discipline can choose among them. */
const MAX_CHOICE = 10_000;
/**
 * Longest timeout that a pool accepts, in milliseconds. `Attempts` itself enforces the config's timeout, because the
 * pool would start the next child while the previous child is still being killed.
 */
export const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * Interval between two checks of the concurrency, in milliseconds. Checks are needed because a change to the
 * concurrency, for example through the dashboard, triggers no callback.
 */
const LOOK = 200;

/** Error of an attempt whose command failed. */
class AttemptError extends Error {}

/**
 * Runs a command for each line of the input.
 *
 * Lines first go into a backlog. Lines move from the backlog to the queue as soon as a worker can take them. The
 * workers run the command. Failed items go back to the queue until they succeed or are given up. A retry that is ready
 * is therefore handed out before any line that has not been attempted.
 */
export class Run extends CommandRun {
  /** Queue of items and retries. */
  readonly queue: RateLimitingQueue<OpenItem>;
  override readonly pool: WorkerPool<OpenItem>;
  /**
   * Resolves when the outcome of every item is decided. If an error ended the run early, rejects with this error.
   */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  /** Items that were added to the queue and not passed to `onDecided` yet. */
  readonly #open = new Set<OpenItem>();
  /** Total size of `#open`, in characters. */
  #openSize = 0;
  /** Number of workers that are processing an item. */
  #working = 0;
  /** Number of items removed with `takeBack`. */
  #takenBack = 0;
  readonly #timer = setInterval(() => this.#handOn(), LOOK);
  #isReading = true;
  #readOn: () => void = () => {};
  #roomAgain: () => void = () => {};
  #refused = 0;
  #failing = 0;
  #succeeded = 0;
  #givenUp = 0;
  #failures = 0;
  #lastFailure: Failure | undefined = undefined;

  /** Starts the run. */
  constructor(settings: RunSettings) {
    const { config: { config, queueName } } = settings;
    super(settings);
    this.#settings = settings;
    this.queue = config.queue<OpenItem>(queueName, { keyOf: ({ key }) => key });
    this.pool = config.runWorkers(queueName, this.queue, (item, context) => this.#work(item, context), {
      timeout: NO_TIMEOUT,
      signal: this.killed,
      onError: (error) => this.#failUnlessAttempt(error),
      onGiveUp: (error, item, _attempts, reason) => {
        if (isOfAttempt(error)) this.#decide(item, "given-up", reason);
      },
    });
    this.finished = this.#finish();
    void this.#read();
  }

  /** Progress of the run. */
  get tally(): Tally {
    const { input, backlog: { total, folded, doneBefore }, isDistinct } = this.#settings;
    const { running, begun, retries } = this.attempts;
    return {
      items: total,
      isDistinct,
      folded,
      refused: this.#refused,
      doneBefore,
      isReading: this.#isReading,
      partRead: input.partRead,
      running,
      queued: total - doneBefore - this.#succeeded - this.#givenUp - this.#takenBack - running,
      failing: this.#failing,
      blockedRetries: inspectionOf(this.queue)?.blockedRetries?.retries.length,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      nextDueInMs: this.queue.snapshot({ limit: 1 }).delayedItems[0]?.dueInMs,
      isPaused: this.pool.snapshot({ limit: 0 }).paused,
      ...this.#throttle(),
      isStopping: this.stopped.aborted,
      maxRate: (this.pool.throttle as { readonly rate?: number } | undefined)?.rate,
      hasBegun: begun > 0,
      seconds: this.seconds,
    };
  }

  /** Returns the state of the throttle, if it is the reason why no attempt begins. */
  #throttle(): Pick<Tally, "heldBack" | "throttleState"> {
    const { limit, state } = snapshotOf(this.pool.throttle) ?? {};
    if (typeof state !== "string" || state === "") return {};
    if (limit === 0) return { heldBack: printable(state) };
    return this.pool.active === 0 && this.queue.length > 0 ? { throttleState: printable(state) } : {};
  }

  /** Records that an item was removed from the queue, for example by the dashboard. The item gets no more attempts. */
  takeBack(item: OpenItem): void {
    this.#takenBack++;
    this.#decide(item, "unfinished");
    this.#handOn();
  }

  async #finish(): Promise<void> {
    const { backlog, input, onDecided } = this.#settings;
    await this.pool.finished;
    for (const item of this.#open) await item.passedOn; // outcomes are decided only after the output has been passed on
    await this.output.finish();
    clearInterval(this.#timer);
    this.queue.shutDown();
    input.stream.destroy();
    for (const item of this.#open) {
      if (item.outcome === "succeeded") this.#succeeded--; // the item's output was not printed
      else if (item.outcome === "given-up") this.#givenUp--;
      onDecided(item.report("unfinished"));
    }
    for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) {
      onDecided(new OpenItem(line, this.#settings.isDistinct).report("unfinished"));
    }
    if (this.failure !== undefined) throw this.failure;
  }

  async #read(): Promise<void> {
    const { input, separator, template, backlog } = this.#settings;
    const lines = readLines(bytesOf(input), {
      separator,
      fault: (line) => template.fault(line),
      onRefused: (lineNumber, reason) => {
        this.#refused++;
        this.#settings.onRefused(lineNumber, reason);
      },
    });
    try {
      for await (const some of lines) {
        if (this.stopped.aborted) return;
        for (const line of some) backlog.add(line);
        this.#handOn();
        if (backlog.isFull) await new Promise<void>((resolve) => this.#readOn = resolve);
      }
    } catch (error) {
      if (this.queue.shuttingDown) return; // reading failed because the end of the run destroyed the input
      return this.fail(error);
    }
    this.#isReading = false;
    await this.#shutDownWhenDone();
  }

  async #shutDownWhenDone(): Promise<void> {
    const { backlog } = this.#settings;
    for (;;) {
      await this.queue.whenIdle();
      if (this.stopped.aborted) return;
      this.#handOn();
      const { ready, blocked, delayed, processing } = this.queue.snapshot({ limit: 0 });
      if (ready + blocked + delayed + processing > 0) continue;
      if (backlog.isEmpty) break;
      await new Promise<void>((resolve) => this.#roomAgain = resolve); // until more output has been printed
    }
    this.queue.shutDown();
    this.pool.resume(); // a paused pool would never finish
  }

  /**
   * Adds only as many lines to the queue as can be started immediately, so that lines in the queue don't delay retries.
   * With a discipline, adds up to `MAX_CHOICE` lines.
   */
  #handOn(): void {
    const { backlog, config, isDistinct } = this.#settings;
    if (this.stopped.aborted) return;
    const wanted = config.hasDiscipline ? MAX_CHOICE : this.attempts.limit - this.#working;
    const hasRoom = () => this.#open.size < MAX_OPEN && this.#openSize < MAX_OPEN_SIZE && !this.output.isFull;
    while (this.queue.length < wanted && hasRoom()) {
      const line = backlog.shift();
      if (line === undefined) break;
      const item = new OpenItem(line, isDistinct);
      this.output.add(item);
      this.#open.add(item);
      this.#openSize += item.size;
      this.queue.add(item);
    }
    if (!backlog.isFull) this.#readOn();
  }

  async #work(item: OpenItem, context: HandlerContext): Promise<void | Outcome> {
    this.#working++;
    this.#handOn();
    try {
      return await this.#attempt(item, context);
    } finally {
      await this.waitForReader();
      this.#working--;
      this.#handOn();
    }
  }

  /**
   * Runs one attempt.
   *
   * @throws {AttemptError} If the attempt failed.
   * @throws {RetryAfterError} If the attempt failed and the retry has a minimum delay.
   * @throws {TerminalError} If the attempt failed and a retry would fail too.
   */
  async #attempt(item: OpenItem, { attempt }: HandlerContext): Promise<void | Outcome> {
    const sizeBefore = item.size;
    const result = await this.attempts.make(item, attempt);
    this.#openSize += item.size - sizeBefore;
    switch (result.kind) {
      case "succeeded":
        return this.#decide(item, "succeeded");
      case "not-begun":
        return { requeue: true };
      case "failed":
        if (result.minDelay > 0) throw this.retryAfter(result.minDelay, this.#countFailing(item));
        throw new AttemptError(this.#countFailing(item));
      case "hopeless":
        throw new TerminalError(this.#countFailing(item));
    }
  }

  /** Ends the run if the error comes from a limiter. Errors of attempts are reported elsewhere. */
  #failUnlessAttempt(error: unknown): void {
    if (isOfAttempt(error)) return;
    const reason = printable(messageOf(error));
    this.fail(new UsageError(`Cannot retry an item: its limiter failed: ${reason}`));
  }

  /** Counts the item as failing. Returns the reason for the failure. */
  #countFailing(item: OpenItem): string {
    const { failure } = item;
    this.#failures++;
    this.#lastFailure = failure;
    if (!item.isFailing) this.#failing++;
    item.isFailing = true;
    return failure.reason;
  }

  #decide(item: OpenItem, outcome: ItemReport["outcome"], reason?: GiveUpReason): void {
    if (item.passedOn !== undefined) {
      void item.passedOn.then(() => this.#decide(item, outcome, reason));
      return;
    }
    if (outcome === "succeeded" && this.killed.aborted) return; // perhaps not all of its output was passed on
    item.outcome = outcome;
    if (outcome === "succeeded") this.#succeeded++;
    else if (outcome === "given-up") this.#givenUp++;
    else this.output.discard(item);
    if (item.isFailing) this.#failing--;
    this.output.end(item, () => this.#record(item, outcome, reason));
    if (outcome === "given-up") this.haltIfTooMany(this.#givenUp, this.#succeeded);
  }

  #record(item: OpenItem, outcome: ItemReport["outcome"], reason: GiveUpReason | undefined): void {
    this.#open.delete(item);
    this.#openSize -= item.size;
    try {
      this.#settings.onDecided(item.report(outcome, reason));
    } catch (error) {
      this.fail(error);
    }
    this.#handOn();
    this.#roomAgain();
  }
}

function isOfAttempt(error: unknown): boolean {
  return [AttemptError, RetryAfterError, TerminalError].some((type) => error instanceof type);
}

/** Returns the snapshot of a throttle; `undefined` if it has none. The throttle of a plugin may throw. */
function snapshotOf(throttle: Throttle | undefined): Partial<ThrottleSnapshot> | undefined {
  try {
    return throttle?.snapshot?.();
  } catch {
    return undefined;
  }
}
