import type { RateLimitingQueue, Throttle } from "@workqueue/core";
import { inspectionOf, type ThrottleSnapshot } from "@workqueue/core/hooks";
import { orAborted } from "../system/or_aborted.ts";
import { messageOf, printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import type { AttemptResult } from "./attempts.ts";
import type { Counts, ItemSource, SourceContext } from "./item_source.ts";
import { OpenItem } from "./open_item.ts";
import type { RunSettings } from "./run.ts";
import type { SourceTally } from "./tally.ts";

/** Largest number of undecided items outside the backlog. More undecided items could fill the memory. */
const MAX_OPEN = 100_000;
/** Largest total size of the undecided items outside the backlog, in characters. */
const MAX_OPEN_SIZE = 50_000_000;
/** Maximum number of lines that wait in the queue so that a discipline can choose among them. */
const MAX_CHOICE = 10_000;
/**
 * Interval between two checks of the concurrency, in milliseconds. Checks are needed because a change to the
 * concurrency, for example through the dashboard, triggers no callback.
 */
const LOOK = 200;

/**
 * Queue in memory, which contains the lines of a list.
 *
 * Lines first go into a backlog. Lines move from the backlog to the queue as soon as a worker can take them. A retry
 * that is ready is therefore handed out before any line that has not been attempted.
 */
export class MemorySource implements ItemSource<OpenItem> {
  readonly queue: RateLimitingQueue<OpenItem>;
  readonly waitsForOutput = false;
  readonly #settings: RunSettings;
  readonly #run: SourceContext;
  /** Items that were added to the queue and not recorded yet, with their sizes. */
  readonly #open = new Map<OpenItem, number>();
  /** Total size of `#open`, in characters. */
  #openSize = 0;
  /** Number of workers that are processing an item. */
  #working = 0;
  /** Number of items removed with `takeBack`. */
  #takenBack = 0;
  #failing = 0;
  readonly #timer = setInterval(() => this.#handOn(), LOOK);
  #isReading = true;
  #readOn: () => void = () => {};
  #roomAgain: () => void = () => {};

  /** Creates an empty queue. */
  constructor(settings: RunSettings, run: SourceContext) {
    const { config: { config, queueName } } = settings;
    this.#settings = settings;
    this.#run = run;
    this.queue = config.queue<OpenItem>(queueName, { keyOf: ({ key }) => key });
  }

  async feed(lines: AsyncIterable<readonly string[]>): Promise<void> {
    const { backlog } = this.#settings;
    for await (const some of lines) {
      for (const line of some) backlog.add(line);
      this.#handOn();
      if (backlog.isFull) await this.#orStopped(new Promise<void>((resolve) => this.#readOn = resolve));
    }
    if (this.#run.stopped.aborted) return;
    this.#isReading = false;
    await this.#shutDownWhenDone();
  }

  async #shutDownWhenDone(): Promise<void> {
    const { backlog } = this.#settings;
    for (;;) {
      await this.#orStopped(this.queue.whenIdle());
      if (this.#run.stopped.aborted) return;
      this.#handOn();
      const { ready, blocked, delayed, processing } = this.queue.snapshot({ limit: 0 });
      if (ready + blocked + delayed + processing > 0) continue;
      if (backlog.isEmpty) break;
      await this.#orStopped(new Promise<void>((resolve) => this.#roomAgain = resolve)); // until output was printed
    }
    this.queue.shutDown();
    this.#run.pool.resume(); // a paused pool would never finish
  }

  /** Waits until a promise resolves or the run is stopped. */
  #orStopped(promise: Promise<void>): Promise<void> {
    return orAborted(promise, this.#run.stopped).catch(() => {});
  }

  /**
   * Adds only as many lines to the queue as can be started immediately, so that lines in the queue don't delay retries.
   * With a discipline, adds up to `MAX_CHOICE` lines.
   */
  #handOn(): void {
    const { backlog, config, isDistinct } = this.#settings;
    const { output, limit, stopped } = this.#run;
    if (stopped.aborted) return;
    const wanted = config.hasDiscipline ? MAX_CHOICE : limit - this.#working;
    const hasRoom = () => this.#open.size < MAX_OPEN && this.#openSize < MAX_OPEN_SIZE && !output.isFull;
    while (this.queue.length < wanted && hasRoom()) {
      const line = backlog.shift();
      if (line === undefined) break;
      const item = new OpenItem(line, isDistinct);
      output.add(item);
      this.#open.set(item, item.size);
      this.#openSize += item.size;
      this.queue.add(item);
    }
    if (!backlog.isFull) this.#readOn();
  }

  take(item: OpenItem): OpenItem {
    this.#working++;
    this.#handOn();
    return item;
  }

  release(): void {
    this.#working--;
    this.#handOn();
  }

  onAttempt(item: OpenItem, kind: AttemptResult["kind"]): void {
    if (item.outcome !== undefined) return; // the item was cancelled
    this.#openSize += item.size - this.#open.get(item)!;
    this.#open.set(item, item.size);
    if (item.isFailing || kind !== "failed" && kind !== "hopeless") return;
    item.isFailing = true;
    this.#failing++;
  }

  onDecided(item: OpenItem, record: () => void): void {
    const { output } = this.#run;
    if (item.outcome === "unfinished") output.discard(item);
    if (item.isFailing) this.#failing--;
    output.end(item, () => {
      this.#openSize -= this.#open.get(item)!;
      this.#open.delete(item);
      record();
      this.#handOn();
      this.#roomAgain();
    });
  }

  /** Records that an item was removed from the queue, for example by the dashboard. The item gets no more attempts. */
  takeBack(item: OpenItem): void {
    if (item.outcome !== undefined) return;
    this.#takenBack++;
    this.#run.decide(item, "unfinished");
    this.#handOn();
  }

  /** Returns `undefined`: only a limiter that failed gives an item up, and it ends the run. */
  givenUpOutside(): undefined {
    return undefined;
  }

  onError(error: unknown): void {
    const reason = printable(messageOf(error));
    this.#run.fail(new UsageError(`Cannot retry an item: its limiter failed: ${reason}`));
  }

  tally({ running, succeeded, givenUp }: Counts): SourceTally {
    const { input, backlog: { total, doneBefore }, isDistinct } = this.#settings;
    const { pool } = this.#run;
    return {
      items: total,
      isDistinct,
      isReading: this.#isReading,
      partRead: input.partRead,
      // the command of a cancelled item may still be running
      queued: Math.max(total - doneBefore - succeeded - givenUp - this.#takenBack - running, 0),
      failing: this.#failing,
      blockedRetries: inspectionOf(this.queue)?.blockedRetries?.retries.length,
      nextDueInMs: this.queue.snapshot({ limit: 1 }).delayedItems[0]?.dueInMs,
      isPaused: pool.snapshot({ limit: 0 }).paused,
      ...this.#throttle(),
      maxRate: (pool.throttle as { readonly rate?: number } | undefined)?.rate,
    };
  }

  /** Returns the state of the throttle, if it is the reason why no attempt begins. */
  #throttle(): Pick<SourceTally, "heldBack" | "throttleState"> {
    const { pool } = this.#run;
    const { limit, state } = snapshotOf(pool.throttle) ?? {};
    if (typeof state !== "string" || state === "") return {};
    if (limit === 0) return { heldBack: printable(state) };
    return pool.active === 0 && this.queue.length > 0 ? { throttleState: printable(state) } : {};
  }

  async finish(): Promise<Iterable<OpenItem>> {
    for (const item of this.#open.keys()) await item.passedOn; // outcomes are decided only after this
    await this.#run.output.finish();
    clearInterval(this.#timer);
    this.queue.shutDown();
    return this.#undecided();
  }

  *#undecided(): Generator<OpenItem, void, void> {
    const { backlog, isDistinct } = this.#settings;
    yield* this.#open.keys();
    for (let line = backlog.shift(); line !== undefined; line = backlog.shift()) yield new OpenItem(line, isDistinct);
  }
}

/** Returns the snapshot of a throttle; `undefined` if it has none. The throttle of a plugin may throw. */
function snapshotOf(throttle: Throttle | undefined): Partial<ThrottleSnapshot> | undefined {
  try {
    return throttle?.snapshot?.();
  } catch {
    return undefined;
  }
}
