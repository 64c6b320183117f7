import { setMaxListeners } from "node:events";
import {
  type HandlerContext,
  type Outcome,
  type RateLimitingQueue,
  TerminalError,
  type WorkerPool,
} from "@workqueue/core";
import type { Backlog } from "../items/backlog.ts";
import { bytesOf, type Input } from "../items/input.ts";
import { readLines, type Separator } from "../items/lines.ts";
import type { ItemReport } from "../report/records.ts";
import { printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import { Attempts, type AttemptSettings } from "./attempts.ts";
import { type Halt, isTooMany } from "./halt.ts";
import { OpenItem } from "./open_item.ts";
import type { Failure, Tally } from "./tally.ts";

/** What a {@linkcode Run} works with. */
export interface RunSettings extends AttemptSettings {
  /** What the items are read from. */
  readonly input: Input;
  /** What ends an item there. */
  readonly separator: Separator;
  /** Where lines wait that were read ahead; empty. */
  readonly backlog: Backlog;
  /** Whether a line is folded into an equal one that came before. */
  readonly isDistinct: boolean;
  /** When the run is to end early. */
  readonly halt: Halt | undefined;
  /** Is told of every item that was taken in, once, when its fate is decided. */
  onDecided(item: ItemReport): void;
  /** Is told the number of each line that is left out, and what it is that no item may be. */
  onRefused(lineNumber: number, reason: string): void;
  /** Is told when the run ends early, as too many items were given up. */
  onHalt(): void;
}

/** How many items may be neither in the backlog nor decided, and their characters: they must not fill the memory. */
const MAX_OPEN = 100_000;
const MAX_OPEN_SIZE = 50_000_000;
/** How many lines are in the queue, where a discipline says which is next: it can choose among these. */
const MAX_CHOICE = 10_000;
/**
 * The longest timeout that a pool takes. Those of the config are watched over here: the pool would start the next child
 * while the one before is being killed.
 */
const NO_TIMEOUT = 2 ** 31 - 1;

/** How often to look whether somebody has raised the concurrency, in milliseconds: nobody tells. */
const LOOK = 200;

/** An attempt failed, as the command did. */
class AttemptError extends Error {}

/**
 * Runs a command for each line of the input.
 *
 * Lines go into a backlog, from there into the queue, one when there is a place for it, and from there to the workers,
 * which run the command. What fails goes back into the queue, until it succeeds or is given up. So an item that is to
 * be tried again goes before all lines that were never tried, however many there are.
 */
export class Run {
  /** Where items go and come back to when they failed. */
  readonly queue: RateLimitingQueue<OpenItem>;
  /** What works on them. */
  readonly pool: WorkerPool<OpenItem>;
  /** Resolves when every item's fate is decided. Rejects if the run had to end before. */
  readonly finished: Promise<void>;
  readonly #settings: RunSettings;
  /** Those that went into the queue and are not decided. */
  readonly #open = new Set<OpenItem>();
  /** How many characters these have. */
  #openSize = 0;
  readonly #attempts: Attempts;
  /** Aborts when nothing more is to be begun. */
  readonly #stopper = new AbortController();
  /** Aborts when what runs is killed. */
  readonly #killer = new AbortController();
  readonly #startedAt = performance.now();
  /** How many workers have an item. */
  #working = 0;
  /** How many items somebody has taken back. */
  #takenBack = 0;
  readonly #timer = setInterval(() => this.#handOn(), LOOK);
  #isReading = true;
  #readOn: () => void = () => {};
  #refused = 0;
  #failing = 0;
  #succeeded = 0;
  #givenUp = 0;
  #failures = 0;
  #lastFailure: Failure | undefined = undefined;
  #failure: unknown = undefined;
  #isInterrupted = false;

  /** Starts the run. */
  constructor(settings: RunSettings) {
    const { config: { config, queueName } } = settings;
    this.#settings = settings;
    setMaxListeners(0, this.#stopper.signal, this.#killer.signal); // Node would warn of as many as may run at once
    this.#attempts = new Attempts(settings, {
      maxRunning: () => this.pool.concurrency,
      stopped: this.#stopper.signal,
      killed: this.#killer.signal,
      onFailure: (error) => this.#fail(error),
    });
    this.queue = config.queue<OpenItem>(queueName, { keyOf: ({ key }) => key });
    this.pool = config.runWorkers(queueName, this.queue, (item, context) => this.#work(item, context), {
      timeout: NO_TIMEOUT,
      signal: this.#killer.signal,
      onError: (error) => this.#failUnlessAttempt(error),
      onGiveUp: (error, item) => {
        if (isOfAttempt(error)) this.#decide(item, "given-up");
      },
    });
    this.finished = this.#finish();
    void this.#read();
  }

  /** How far the run has come. */
  get tally(): Tally {
    const { input, backlog: { total, folded, doneBefore }, isDistinct } = this.#settings;
    const { running: inFlight, begun, retries } = this.#attempts;
    return {
      items: total,
      isDistinct,
      folded,
      refused: this.#refused,
      doneBefore,
      isReading: this.#isReading,
      partRead: input.partRead,
      inFlight,
      waiting: total - doneBefore - this.#succeeded - this.#givenUp - this.#takenBack - inFlight,
      failing: this.#failing,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      retries,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      nextDueIn: this.queue.snapshot({ limit: 1 }).waitingItems[0]?.dueIn,
      isPaused: this.pool.snapshot({ limit: 0 }).paused,
      isStopping: this.#stopper.signal.aborted,
      maxRate: (this.pool.starts as { readonly rate?: number } | undefined)?.rate,
      hasBegun: begun > 0,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
  }

  /** Whether somebody asked the run to end. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Somebody has taken an item out of the queue: it is not tried again. */
  takeBack(item: OpenItem): void {
    this.#takenBack++;
    this.#decide(item, "unfinished");
    this.#handOn();
  }

  /** Asks the run to end. The first time, nothing more is begun; the second time, what runs is killed. */
  interrupt(): void {
    if (this.#isInterrupted) this.#kill();
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
    void this.pool.stop();
  }

  #kill(): void {
    this.#killer.abort();
  }

  async #finish(): Promise<void> {
    const { backlog, input, onDecided } = this.#settings;
    await this.pool.finished;
    for (const item of this.#open) await item.passedOn; // its fate may hang on that
    clearInterval(this.#timer);
    this.queue.shutDown();
    input.stream.destroy();
    for (const item of this.#open) onDecided(item.report("unfinished"));
    for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) {
      onDecided(new OpenItem(line, this.#settings.isDistinct).report("unfinished"));
    }
    if (this.#failure !== undefined) throw this.#failure;
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
        if (this.#stopper.signal.aborted) return;
        for (const line of some) backlog.add(line);
        this.#handOn();
        if (backlog.isFull) await new Promise<void>((resolve) => this.#readOn = resolve);
      }
    } catch (error) {
      if (this.queue.shuttingDown) return; // the end of the run destroyed the input
      return this.#fail(error);
    }
    this.#isReading = false;
    await this.#shutDownWhenDone();
  }

  async #shutDownWhenDone(): Promise<void> {
    do {
      await this.queue.whenIdle();
      if (this.#stopper.signal.aborted) return;
      this.#handOn();
    } while (this.queue.length > 0);
    this.queue.shutDown();
    this.pool.resume(); // one that is paused would wait for that, with nothing left to do
  }

  /** Puts as many lines in the queue as can be begun at once, and no more, so that they delay nothing else. */
  #handOn(): void {
    const { backlog, config, isDistinct } = this.#settings;
    if (this.#stopper.signal.aborted) return;
    const wanted = config.hasDiscipline ? MAX_CHOICE : this.#attempts.limit - this.#working;
    while (this.queue.length < wanted && this.#open.size < MAX_OPEN && this.#openSize < MAX_OPEN_SIZE) {
      const line = backlog.shift();
      if (line === undefined) break;
      const item = new OpenItem(line, isDistinct);
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
      this.#working--;
      this.#handOn();
    }
  }

  /** Makes one attempt. Throws if it failed. */
  async #attempt(item: OpenItem, { attempt }: HandlerContext): Promise<void | Outcome> {
    const sizeBefore = item.size;
    const result = await this.#attempts.make(item, attempt);
    this.#openSize += item.size - sizeBefore;
    switch (result) {
      case "succeeded":
        return this.#decide(item, "succeeded");
      case "not-begun":
        return { requeue: true };
      case "failed":
        throw new AttemptError(this.#countFailing(item));
      case "hopeless":
        throw new TerminalError(this.#countFailing(item));
    }
  }

  /** What becomes of an item is shown and reported; what else goes wrong is not the item's fault, but that of a limiter. */
  #failUnlessAttempt(error: unknown): void {
    if (isOfAttempt(error)) return;
    const reason = printable(error instanceof Error ? error.message : String(error));
    this.#fail(new UsageError(`Cannot try an item again as its limiter fails: ${reason}`));
  }

  /** Counts the item among those that fail; returns why it does. */
  #countFailing(item: OpenItem): string {
    const { failure } = item;
    this.#failures++;
    this.#lastFailure = failure;
    if (!item.isFailing) this.#failing++;
    item.isFailing = true;
    return failure.reason;
  }

  #decide(item: OpenItem, outcome: ItemReport["outcome"]): void {
    if (item.passedOn !== undefined) {
      void item.passedOn.then(() => this.#decide(item, outcome));
      return;
    }
    if (outcome === "succeeded" && this.#killer.signal.aborted) return; // its output may not have been passed on
    if (outcome === "succeeded") this.#succeeded++;
    else if (outcome === "given-up") this.#givenUp++;
    if (item.isFailing) this.#failing--;
    this.#open.delete(item);
    this.#openSize -= item.size;
    try {
      this.#settings.onDecided(item.report(outcome));
    } catch (error) {
      this.#fail(error);
    }
    if (outcome === "given-up") this.#haltIfTooMany();
  }

  #haltIfTooMany(): void {
    const { halt, onHalt } = this.#settings;
    if (halt === undefined || this.#stopper.signal.aborted || !isTooMany(halt, this.#givenUp, this.#succeeded)) return;
    onHalt();
    this.#stop();
    if (halt.when === "now") this.#kill();
  }

  /** Ends the run at once, for a reason that concerns more than one item. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop();
    this.#kill();
  }
}

function isOfAttempt(error: unknown): boolean {
  return error instanceof AttemptError || error instanceof TerminalError;
}
