import { RetryAfterError, type RetryScope } from "@workqueue/core";
import { setMaxListeners } from "node:events";
import type { OutputContext, RunOutput } from "../output/run_output.ts";
import { orAborted } from "../system/or_aborted.ts";
import { Attempts, type AttemptSettings } from "./attempts.ts";
import { type Halt, isTooMany } from "./halt.ts";

/** Settings of a {@linkcode CommandRun}. */
export interface CommandRunSettings extends AttemptSettings {
  /** Items to which the minimum delay of a retry applies. */
  readonly retryAfterScope: RetryScope;
  /** Starts the output of the run. */
  createOutput(context: OutputContext): RunOutput;
  /** Limit on given-up items, at which the run ends early; `undefined` for no limit. */
  readonly halt: Halt | undefined;
  /** Called when the run ends early because too many items were given up. */
  onHalt(): void;
}

/** Part of a pool that a run uses to end early. */
interface StoppablePool {
  readonly concurrency: number;
  stop(): Promise<void>;
}

/** Commands of a run, their output, and the ways to end the run early. */
export abstract class CommandRun {
  /** Pool of workers. */
  abstract readonly pool: StoppablePool;
  protected readonly output: RunOutput;
  protected readonly attempts: Attempts;
  /** Error that ended the run early; `undefined` if there was none. */
  protected failure: unknown = undefined;
  /** Aborts when no more attempts may begin. */
  readonly #stopper = new AbortController();
  /** Aborts when running commands must be killed. */
  readonly #killer = new AbortController();
  readonly #startedAt = performance.now();
  readonly #settings: CommandRunSettings;
  #isInterrupted = false;

  constructor(settings: CommandRunSettings) {
    this.#settings = settings;
    // Each running command adds a listener, and Node would warn about so many listeners.
    setMaxListeners(0, this.#stopper.signal, this.#killer.signal);
    this.output = settings.createOutput({
      killed: this.#killer.signal,
      onFailure: (error) => {
        if (!this.#killer.signal.aborted) this.fail(error);
      },
    });
    this.attempts = new Attempts(settings, {
      output: this.output,
      maxRunning: () => this.pool.concurrency,
      stopped: this.#stopper.signal,
      killed: this.#killer.signal,
      onFailure: (error) => this.fail(error),
    });
  }

  /** Aborts when no more attempts may begin. */
  protected get stopped(): AbortSignal {
    return this.#stopper.signal;
  }

  /** Aborts when running commands must be killed. */
  protected get killed(): AbortSignal {
    return this.#killer.signal;
  }

  /** Time since the run began. */
  protected get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
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
    if (this.#isInterrupted) this.killCommands();
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
    this.attempts.suspend();
  }

  /** Continues the commands that `suspend` has stopped. */
  resume(): void {
    this.attempts.resume();
  }

  /** Lets no more attempts begin. */
  protected stop(): void {
    this.#stopper.abort();
    void this.pool.stop().catch(() => {}); // `finished` of the pool rejects with the same error
  }

  protected killCommands(): void {
    this.#killer.abort();
  }

  /** Ends the run if the numbers of decided items reach its limit. */
  protected haltIfTooMany(givenUp: number, succeeded: number): void {
    const { halt, onHalt } = this.#settings;
    if (halt === undefined || this.stopped.aborted || !isTooMany(halt, givenUp, succeeded)) return;
    onHalt();
    this.stop();
    if (halt.when === "now") this.killCommands();
  }

  /** Returns the error of a failed attempt whose retry has a minimum delay, in milliseconds. */
  protected retryAfter(minDelay: number, reason: string): RetryAfterError {
    return new RetryAfterError(minDelay, reason, { scope: this.#settings.retryAfterScope });
  }

  /** Ends the run immediately because of an error that affects more than one item. */
  protected fail(error: unknown): void {
    this.failure ??= error;
    this.stop();
    this.killCommands();
  }

  /** Waits for the reader of the output, because a slow reader slows the run. */
  protected async waitForReader(): Promise<void> {
    const { idle } = this.output;
    if (idle !== undefined) await orAborted(idle, this.killed).catch(() => {});
  }
}
