import { Buffer } from "node:buffer";
import { Child } from "../children/child.ts";
import type { Process } from "../children/process.ts";
import { Starter } from "../children/start.ts";
import { describeStartError, isCommandError, isItemError, isShortage } from "../children/start_error.ts";
import { StartLimit } from "../children/start_limit.ts";
import type { RunConfig } from "../config/run_config.ts";
import type { CommandTemplate } from "../items/command_template.ts";
import { orAborted } from "../system/or_aborted.ts";
import { setTimer } from "../system/timer.ts";
import { UsageError } from "../system/usage_error.ts";
import type { OpenItem } from "./open_item.ts";

/** What attempts are made with. */
export interface AttemptSettings {
  /** Has the timeout; it may be reloaded. */
  readonly config: RunConfig;
  /** The command. */
  readonly template: CommandTemplate;
  /** Whether the lines that children print have their item before them. */
  readonly isTagged: boolean;
  /** Takes what the children print, whole lines at a time. If it rejects, the run ends for that reason. */
  onOutput(lines: Uint8Array): Promise<void>;
  /** Takes what the children write to their standard error likewise; `undefined` if nobody wants it. */
  readonly onErrorOutput: ((item: string, lines: Uint8Array) => Promise<void>) | undefined;
  /** Is told when fewer commands than that can run at once. */
  onShortage(error: unknown): void;
}

/** What the run tells of itself, and is told. */
export interface AttemptContext {
  /** Says how many may run at once. */
  maxRunning(): number;
  /** Aborts when nothing more is to be begun. */
  readonly stopped: AbortSignal;
  /** Aborts when what runs is killed. */
  readonly killed: AbortSignal;
  /** Is told what concerns more than one item, so that the run has to end. */
  onFailure(error: unknown): void;
}

/** What came of an attempt. It is `"hopeless"` if another one would fail alike, and `"not-begun"` if the run ended before. */
export type AttemptResult = "succeeded" | "failed" | "hopeless" | "not-begun";

/** Items of more bytes than this are not in the environment: nothing could be started with some. */
const MAX_IN_ENVIRONMENT = 100_000;

/** Runs the command for items, each in a child of its own. */
export class Attempts {
  readonly #settings: AttemptSettings;
  readonly #context: AttemptContext;
  readonly #starter: Starter;
  readonly #starts: StartLimit;
  readonly #children = new Set<Child>();
  #begun = 0;
  #retries = 0;

  /** Begins with nothing running. */
  constructor(settings: AttemptSettings, context: AttemptContext) {
    const { template, onShortage } = settings;
    this.#settings = settings;
    this.#context = context;
    this.#starter = new Starter({ isOneFile: !template.hasPlaceholderInFile });
    this.#starts = new StartLimit(() => context.maxRunning(), onShortage);
    context.killed.addEventListener("abort", () => this.#children.forEach((child) => child.kill()));
  }

  /** How many commands run. */
  get running(): number {
    return this.#starts.running;
  }

  /** How many may run at once for now: the system may have no room for more. */
  get limit(): number {
    return this.#starts.limit;
  }

  /** How many commands were started. */
  get begun(): number {
    return this.#begun;
  }

  /** How many of these were not the first of their item. */
  get retries(): number {
    return this.#retries;
  }

  /**
   * Makes one attempt, when there is room for it, and notes in the item how it went.
   *
   * @param item The item.
   * @param attempt Which of its attempts it is, from 1.
   * @throws {Error} If it failed for a reason that ends the run.
   */
  async make(item: OpenItem, attempt: number): Promise<AttemptResult> {
    const { template, config: { timeout } } = this.#settings;
    const { stopped, killed } = this.#context;
    const command = template.fill(item.line);
    let beganAt = performance.now();
    let child: Child;
    try {
      child = await this.#starts.start(async () => {
        beganAt = performance.now();
        return this.#takeOver(await this.#starter.start(command, environmentOf(item, attempt)), item);
      }, stopped);
    } catch (error) {
      if (stopped.aborted) return "not-begun";
      item.begin(attempt, beganAt);
      return this.#noteNotStarted(item, command[0]!, error);
    }
    item.begin(attempt, beganAt);
    this.#begun++;
    if (attempt > 1) this.#retries++;
    let timedOut = false;
    const timer = timeout === undefined ? undefined : setTimer(() => timedOut = child.kill(), timeout);
    const end = await child.ended;
    timer?.[Symbol.dispose]();
    this.#children.delete(child);
    this.#starts.end();
    item.end({ ...end, stderr: child.stderr }, timedOut);
    item.listenTo(child);
    return end.exitCode === 0 && !timedOut && !killed.aborted ? "succeeded" : "failed";
  }

  #noteNotStarted(item: OpenItem, file: string, error: unknown): AttemptResult {
    const reason = `Cannot run '${file}' as ${describeStartError(error, file)}`;
    const isCommandsFault = isCommandError(error);
    if (isShortage(error) || isCommandsFault && !this.#settings.template.hasPlaceholderInFile) {
      this.#context.onFailure(new UsageError(reason));
      throw error;
    }
    item.end({ exitCode: null, signal: null, stderr: reason }, false);
    return isItemError(error) || isCommandsFault ? "hopeless" : "failed";
  }

  #takeOver(process: Process, item: OpenItem): Child {
    const { isTagged, onErrorOutput } = this.#settings;
    const { text } = item.line;
    const child = new Child(process, {
      tag: isTagged ? `${text}\t` : "",
      onOutput: (lines) => this.#passOn(lines),
      onErrorOutput: onErrorOutput && ((lines) => onErrorOutput(text, lines)),
    });
    this.#children.add(child);
    if (this.#context.killed.aborted) child.kill();
    return child;
  }

  /** Passes on what a child printed. Where that fails, it fails for all; where the run is ended, nobody waits for it. */
  async #passOn(lines: Uint8Array): Promise<void> {
    const { killed, onFailure } = this.#context;
    try {
      await orAborted(this.#settings.onOutput(lines), killed);
    } catch (error) {
      if (!killed.aborted) onFailure(error);
      throw error;
    }
  }
}

/** What a child has in its environment beside ours. */
function environmentOf({ line: { text } }: OpenItem, attempt: number): Record<string, string> {
  const item = Buffer.byteLength(text) > MAX_IN_ENVIRONMENT ? {} : { WORKQUEUE_ITEM: text };
  return { ...item, WORKQUEUE_ATTEMPT: String(attempt) };
}
