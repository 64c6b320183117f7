import type { RemoteQueue, RemoteQueueSnapshot } from "@workqueue/engine";
import { setTimeout as delay } from "node:timers/promises";
import { type AddedLines, addLines } from "../remote/add_lines.ts";
import { messageOf } from "../system/text.ts";
import type { AttemptResult } from "./attempts.ts";
import type { Counts, ItemSource, SourceContext } from "./item_source.ts";
import { OpenItem } from "./open_item.ts";
import type { RunSettings } from "./run.ts";
import type { SourceTally } from "./tally.ts";

/** Queue that processes share, and the way in which a run uses the queue. */
export interface SharedQueue {
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
 * Queue that processes share. The queue keeps the items and their failures, so each attempt of an item has its own
 * `OpenItem`, and another process may make the next attempt.
 */
export class SharedSource implements ItemSource<string> {
  readonly queue: RemoteQueue;
  readonly waitsForOutput = true;
  readonly #settings: RunSettings;
  readonly #shared: SharedQueue;
  readonly #run: SourceContext;
  #taken = 0;
  #working = 0;
  #unfinished = 0;
  /** State of the queue, as of the last look. */
  #seen: RemoteQueueSnapshot | undefined = undefined;

  /** Begins to look at the queue. */
  constructor(settings: RunSettings, shared: SharedQueue, run: SourceContext) {
    this.queue = shared.queue;
    this.#settings = settings;
    this.#shared = shared;
    this.#run = run;
    if (shared.isShown) void this.#look();
  }

  /** Adds the list to the queue. A line that was read is added even if the run is ending. */
  async feed(lines: AsyncIterable<readonly string[]>): Promise<void> {
    const { endsWhenEmpty, onAdded } = this.#shared;
    onAdded(await addLines(this.queue, this.#newLines(lines)));
    if (!endsWhenEmpty) return;
    void this.#tellWhatIsMissing();
    await this.#stopWhenEmpty();
  }

  /** Yields the lines that are to be added. */
  async *#newLines(chunks: AsyncIterable<readonly string[]>): AsyncGenerator<string[], void, void> {
    const { backlog } = this.#settings;
    for await (const lines of chunks) {
      const added: string[] = [];
      for (const line of lines) backlog.add(line);
      for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) added.push(line.text);
      yield added;
    }
  }

  async #stopWhenEmpty(): Promise<void> {
    const { stopped } = this.#run;
    while (!stopped.aborted) {
      try {
        await this.queue.whenIdle({ signal: stopped });
        this.#run.stop();
      } catch (error) { // the run was stopped, or the queue failed
        if (!stopped.aborted && !this.#shared.outlastsFailures) this.#run.stop(error);
        await delay(LOOK_AGAIN, undefined, { signal: stopped }).catch(() => {});
      }
    }
  }

  /** Says for which items the run waits, when their number changes. */
  async #tellWhatIsMissing(): Promise<void> {
    const { stopped } = this.#run;
    for (let told = 0;;) {
      await delay(LOOK_WHY, undefined, { signal: stopped }).catch(() => {});
      if (stopped.aborted) return;
      if (this.#working > 0) {
        told = 0;
        continue;
      }
      const { ready, processing } = await this.queue.counts().catch(() => ({ ready: 0, processing: 0 }));
      const elsewhere = this.#working > 0 || ready > 0 ? 0 : processing;
      if (elsewhere > 0 && elsewhere !== told) this.#shared.onWaiting(elsewhere);
      told = elsewhere;
    }
  }

  /** Looks at the queue now and then. While it can't be reached, its state is unknown. */
  async #look(): Promise<void> {
    const { stopped } = this.#run;
    while (!stopped.aborted) {
      this.#seen = await this.queue.snapshot({ limit: 1 }).catch(() => undefined);
      await delay(LOOK, undefined, { signal: stopped }).catch(() => {});
    }
  }

  take(text: string): OpenItem {
    const item = new OpenItem({ text, number: ++this.#taken }, true, this.#settings.template.fault(text));
    this.#working++;
    this.#run.output.add(item);
    return item;
  }

  release(): void {
    this.#working--;
  }

  onAttempt(item: OpenItem, kind: AttemptResult["kind"]): void {
    const { output } = this.#run;
    if (kind === "not-begun") this.#unfinished++;
    if (kind === "not-begun" || kind === "lost") output.discard(item);
    output.end(item, () => {});
  }

  onDecided(_item: OpenItem, record: () => void): void {
    record();
  }

  /** Returns an item whose processes were all lost. */
  givenUpOutside(text: string): OpenItem {
    return new OpenItem({ text, number: 0 }, true);
  }

  onError(error: unknown, text: string): void {
    this.#shared.onError(notStored(error, text));
  }

  /** Returns the progress. An item counts while its attempt is running and when its outcome is decided. */
  tally({ running, succeeded, givenUp }: Counts): SourceTally {
    const seen = this.#seen;
    return {
      items: this.#settings.backlog.doneBefore + this.#working + succeeded + givenUp + this.#unfinished,
      isDistinct: false,
      isReading: !this.#run.stopped.aborted,
      partRead: undefined,
      queued: this.#working - running,
      failing: seen?.failing ?? 0,
      blockedRetries: seen?.blockedRetries,
      nextDueInMs: seen?.delayedItems[0]?.dueInMs,
      isPaused: seen?.paused ?? false,
      maxRate: undefined,
      waiting: {
        items: seen && seen.ready + seen.blocked + seen.delayed,
        oldest: (seen?.oldestReadyMs ?? 0) / 1000,
      },
    };
  }

  /** Returns no items: those that are undecided are in the queue. */
  async finish(): Promise<Iterable<OpenItem>> {
    await this.queue.shutDownWithDrain(); // sends the outcomes of the last attempts
    await this.#run.output.finish();
    return [];
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
