import { Buffer } from "node:buffer";
import { Child, type ChildOutput } from "../children/child.ts";
import type { Process } from "../children/process.ts";
import { Starter } from "../children/start.ts";
import { describeStartError, isCommandError, isItemError, isShortage } from "../children/start_error.ts";
import { StartLimit } from "../children/start_limit.ts";
import type { RunConfig } from "../config/run_config.ts";
import type { CommandTemplate } from "../items/command_template.ts";
import type { Results } from "../output/results.ts";
import type { RunOutput } from "../output/run_output.ts";
import { Stopwatch } from "../system/stopwatch.ts";
import { UsageError } from "../system/usage_error.ts";
import type { OpenItem } from "./open_item.ts";

/** Settings of all attempts of a run. */
export interface AttemptSettings {
  /** Current config. A reload can change the timeout. */
  readonly config: RunConfig;
  /** Template of the command. */
  readonly template: CommandTemplate;
  /** Exit codes after which an item is not retried. */
  readonly giveUpOn: readonly number[];
  /** Exit codes after which the child's error output can set the minimum delay of the retry. */
  readonly retryAfterOn: readonly number[];
  /** Directory in which output is saved; `undefined` if output is not saved. */
  readonly results: Results | undefined;
  /** Called with the error when the system lacks the resources to run all commands that may run at once. */
  onShortage(error: unknown): void;
}

/** Parts of a run that its attempts use. */
export interface AttemptContext {
  /** Destination of the children's output. */
  readonly output: RunOutput;
  /** Returns the maximum number of concurrent commands. */
  maxRunning(): number;
  /** Aborts when no more attempts may begin. */
  readonly stopped: AbortSignal;
  /** Aborts when running commands must be killed. */
  readonly killed: AbortSignal;
  /** Called with an error that affects more than one item, and after which the run must end. */
  onFailure(error: unknown): void;
}

/**
 * Result of an attempt: `"hopeless"` means that all retries would fail too. `"not-begun"` means that the run ended
 * before the attempt began, or that it ends because no command can be started. `"lost"` means that the lease of the
 * item was lost, or the item was cancelled, before the attempt ended. `minDelay` is the minimum delay of the retry, in
 * milliseconds; `undefined` for none.
 */
export interface AttemptResult {
  readonly kind: "succeeded" | "failed" | "hopeless" | "not-begun" | "lost";
  readonly minDelay?: number;
}

/**
 * Size limit, in bytes, of an item that is passed in the environment of its command. Operating systems reject variables
 * that are much longer.
 */
const MAX_IN_ENVIRONMENT = 100_000;

/** Runs the command for items, each attempt in its own child. */
export class Attempts {
  readonly #settings: AttemptSettings;
  readonly #context: AttemptContext;
  readonly #starter: Starter;
  readonly #starts: StartLimit;
  readonly #children = new Set<Child>();
  /** Clock of the timeouts, which is stopped while the run is suspended. */
  readonly #clock = new Stopwatch();
  #begun = 0;
  #retries = 0;

  /** Creates the object without starting an attempt. */
  constructor(settings: AttemptSettings, context: AttemptContext) {
    const { template, onShortage } = settings;
    this.#settings = settings;
    this.#context = context;
    this.#starter = new Starter({ isOneFile: !template.hasPlaceholderInFile });
    this.#starts = new StartLimit(() => context.maxRunning(), onShortage);
    context.killed.addEventListener("abort", () => this.#children.forEach((child) => child.kill()));
  }

  /** Number of running commands. */
  get running(): number {
    return this.#starts.running;
  }

  /** Current maximum number of concurrent commands. A shortage of system resources lowers the maximum. */
  get limit(): number {
    return this.#starts.limit;
  }

  /** Number of commands started so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Number of commands started so far that were retries. */
  get retries(): number {
    return this.#retries;
  }

  /**
   * Runs one attempt as soon as there is room for another command, and records the attempt's end in the item.
   *
   * @param item The item.
   * @param attempt Number of the attempt, from 1.
   * @param lost Aborts when the command must end: its lease was lost, its item was cancelled, or the run is killed.
   * @returns The result. If the command can't be started for this item, its kind is `"failed"` or `"hopeless"`.
   */
  async make(item: OpenItem, attempt: number, lost: AbortSignal): Promise<AttemptResult> {
    const { template, config: { timeout } } = this.#settings;
    const { stopped, killed } = this.#context;
    if (item.fault !== undefined) {
      item.begin(attempt, performance.now());
      item.end({ exitCode: null, signal: null, stderr: item.fault }, false);
      return { kind: "hopeless" };
    }
    let command: string[] = [];
    let slot = 0;
    let beganAt = performance.now();
    let child: Child;
    try {
      child = await this.#starts.start(async (freeSlot) => {
        lost.throwIfAborted();
        slot = freeSlot;
        command = template.fill(item.line, slot);
        beganAt = performance.now();
        return this.#takeOver(await this.#starter.start(command, environmentOf(item, attempt)), item, attempt);
      }, stopped);
    } catch (error) {
      if (stopped.aborted) return { kind: "not-begun" };
      if (lost.aborted) return { kind: "lost" };
      item.begin(attempt, beganAt);
      return await this.#noteNotStarted(item, command[0]!, error);
    }
    item.begin(attempt, beganAt);
    this.#begun++;
    if (attempt > 1) this.#retries++;
    let timedOut = false;
    const timer = timeout === undefined ? undefined : this.#clock.setTimer(() => timedOut = child.kill(), timeout);
    let isLost = false;
    const endLost = () => isLost = child.kill();
    if (lost.aborted) endLost();
    lost.addEventListener("abort", endLost);
    const end = await child.ended;
    lost.removeEventListener("abort", endLost);
    timer?.[Symbol.dispose]();
    this.#children.delete(child);
    this.#starts.end(slot);
    item.end({ ...end, stderr: child.stderr }, timedOut);
    item.listenTo(child);
    // After a lost lease, a timeout or a kill, the exit code says nothing about the item.
    if (isLost) return { kind: "lost" };
    return timedOut || killed.aborted ? { kind: "failed" } : this.#resultOf(child, end.exitCode);
  }

  #resultOf({ retryAfter }: Child, exitCode: number | null): AttemptResult {
    const { giveUpOn, retryAfterOn } = this.#settings;
    if (exitCode === 0) return { kind: "succeeded" };
    if (giveUpOn.includes(exitCode ?? 0)) return { kind: "hopeless" };
    return { kind: "failed", minDelay: retryAfterOn.includes(exitCode ?? 0) ? retryAfter : 0 };
  }

  /** Stops the running commands and their timeouts. */
  suspend(): void {
    this.#clock.stop();
    for (const child of this.#children) child.suspend();
  }

  /** Lets the stopped commands and their timeouts continue. */
  resume(): void {
    this.#clock.start();
    for (const child of this.#children) child.resume();
  }

  async #noteNotStarted(item: OpenItem, file: string, error: unknown): Promise<AttemptResult> {
    const reason = `Cannot run '${file}': ${describeStartError(error, file)}`;
    const isCommandsFault = isCommandError(error);
    if (isShortage(error) || isCommandsFault && !this.#settings.template.hasPlaceholderInFile) {
      this.#context.onFailure(new UsageError(reason));
      return { kind: "not-begun" };
    }
    await passOn(`${reason}\n`, this.#outputOf(item, item.attempts));
    item.end({ exitCode: null, signal: null, stderr: reason }, false);
    return isItemError(error) || isCommandsFault ? { kind: "hopeless" } : { kind: "failed" };
  }

  #takeOver(process: Process, item: OpenItem, attempt: number): Child {
    const readsRetryAfter = this.#settings.retryAfterOn.length > 0;
    const child = new Child(process, this.#outputOf(item, attempt), this.#clock, readsRetryAfter);
    this.#children.add(child);
    if (this.#clock.isStopped) child.suspend();
    if (this.#context.killed.aborted) child.kill();
    return child;
  }

  #outputOf(item: OpenItem, attempt: number): ChildOutput {
    const output = this.#context.output.begin(item);
    const { results } = this.#settings;
    if (results === undefined) return output;
    return results.save({ line: item.line, attempt, isOutdated: () => item.attempts > attempt }, output);
  }
}

/** Passes on the reason why a command was not started, as if the command had written it to standard error. */
async function passOn(reason: string, { stdout, stderr, onFailure }: ChildOutput): Promise<void> {
  try {
    await stderr?.write(Buffer.from(reason));
    await stdout.end();
    await stderr?.end();
  } catch (error) {
    onFailure(error);
  }
}

/** Returns the variables added to the environment of a child. */
function environmentOf({ line: { text } }: OpenItem, attempt: number): Record<string, string> {
  const item = Buffer.byteLength(text) > MAX_IN_ENVIRONMENT ? {} : { WORKQUEUE_ITEM: text };
  return { ...item, WORKQUEUE_ATTEMPT: String(attempt) };
}
