import { A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { INSPECTION, setBrand } from "../base/brands.ts";
import { MAX_TIMEOUT } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { titleOf } from "../base/inspection.ts";
import type { ObservedQueue } from "../contracts/queue_inspection.ts";
import type {
  DrainOptions,
  QueueSnapshot,
  Shutdown,
  SnapshotOptions,
  WorkQueue,
  WorkQueueOptions,
} from "../contracts/work_queue.ts";
import { IDLE, Waiters, Waits, Watchers } from "../structures/waiters.ts";
import { noGroups, PAUSE, RESUME } from "./groups.ts";
import { iterateItems } from "./item_iterator.ts";
import { limitOf, readDrainOptions, signalOf } from "./options.ts";
import type { OrderGroups } from "./order.ts";
import type { OrderedQueue } from "./ordering.ts";
import { AGAIN } from "./positions.ts";
import { type RecordLease, RecordQueue } from "./record_queue.ts";

const SHUTDOWN: Shutdown = /* @__PURE__ */ Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

/** Batch of keys that become ready together, in slices: all that were due at the time of one check. */
export interface Batch {
  /** Time of the check. */
  readonly time: number;
  /** Time at which its keys became ready. It is later if the clock was set back. */
  readonly readyAt: number;
  /** Whether a slice is being added now, by a caller further up the stack. */
  isAdding: boolean;
}

/** Layer 1: keys of a queue, with the calls that wait for them: `get`, drains, waits and watchers. */
export class ServedQueue<T> extends RecordQueue<T> implements WorkQueue<T>, ObservedQueue, OrderedQueue {
  /** Pending calls to `get`. While calls are pending, no item is ready, except during a slice. */
  readonly getters: Waiters<RecordLease<T> | Shutdown> = new Waiters(() => void this.held?.follow());
  /** Whether pending calls to `get` are being served now. */
  isServing = false;
  /** Pending calls to `shutDownWithDrain`. */
  protected readonly drainers: Waiters<void> = new Waiters(() => this.shutDown());
  /** Callbacks to call after each change. */
  readonly watchers: Watchers = new Watchers();
  readonly #waits = new Waits((count) => this.isWaitOver(count), (callback) => this.watch(callback));
  /** Batch that has begun and has not ended. */
  batch: Batch | undefined = undefined;
  /** Longest time for which the timer runs, and whether it keeps the process alive. */
  sleep: { readonly max: number; readonly ref: boolean } = { max: MAX_TIMEOUT, ref: true };

  constructor(options: WorkQueueOptions<T>) {
    super(options);
    setBrand(this, INSPECTION, this);
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<RecordLease<T> | Shutdown> {
    try {
      return this.getNext(signalOf("get item", options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Waits for the next item, as `get` does, with a signal that was checked. Errors may be thrown or reject. */
  protected getNext(signal: AbortSignal | undefined): Promise<RecordLease<T> | Shutdown> {
    if (signal?.aborted) throw signal.reason;
    while (!this.hasFree()) {
      if (this.isShutDown && this.isOver) return Promise.resolve(SHUTDOWN);
      this.isAttended = this.hasCallers = true;
      // Before the wait, because the clock may throw: then, nobody would get the item of the wait.
      if (this.held === undefined || this.held.follow(true)) return this.getters.wait(signal);
    }
    return Promise.resolve(this.handOut());
  }

  tryGet(): RecordLease<T> | undefined {
    return this.hasFree() ? this.handOut() : undefined;
  }

  shutDown(): void {
    this.close();
    this.drainers.serveAll();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { delayed = "drop", signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      const drained = this.drainers.wait(signal);
      this.isAttended = this.hasCallers = true;
      this.drain(delayed);
      return drained;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Begins to drain the queue. */
  protected drain(_delayed: DrainOptions["delayed"]): void {
    this.close();
  }

  async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#waits.wait(IDLE, signalOf("wait for idle queue", options));
  }

  async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireRule("wait for fewer items", "count", count, A_POSITIVE_INTEGER);
    await this.#waits.wait(count, signal);
  }

  /** Reports whether a wait for this count is over. */
  protected isWaitOver(count: number): boolean {
    if (count === IDLE) return this.size === 0;
    return this.ignoresAdds || this.hasFewer(count);
  }

  /**
   * Calls `callback` when the queue has more or less to do: an item became ready, was handed out or is done, or the
   * queue was shut down. Returns an unsubscribe function.
   */
  watch(callback: () => void): () => void {
    this.isAttended = this.hasCallers = this.isWatched = true;
    const { held } = this;
    if (held !== undefined && this.watchers.size === 0) held.toldReady = false;
    const stop = this.watchers.add(callback);
    held?.follow(true);
    return () => {
      stop();
      if (this.getters.length === 0 && this.watchers.size === 0) this.held?.followQuietly();
    };
  }

  pauseGroup(group: unknown, duration: Duration): void {
    const groups = this.#groupsFor(PAUSE);
    this.ordering!.pauseGroup(groups, group, duration);
  }

  resumeGroup(group: unknown): void {
    this.#groupsFor(RESUME).resumeGroup?.(group);
    this.serve();
  }

  #groupsFor(action: string): OrderGroups {
    const { groups } = this;
    if (groups === undefined) throw noGroups(action);
    return groups;
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const { length } = this;
    return {
      name: this.name,
      ready: length,
      blocked: this.blocked,
      delayed: 0,
      processing: this.processing,
      readyItems: this.line.peek(Math.min(limit, length))
        .map((record) => ({ item: this.itemOf(record), priority: this.records.priorityOf(record) })),
      delayedItems: [],
      processingItems: this.listProcessing(limit)
        .map((record) => ({
          item: this.itemOf(record),
          priority: this.records.priorityOf(record),
          addedAgain: this.positionIn(record) === AGAIN,
        })),
    };
  }

  /** Kind of queue, for its title. */
  protected get type(): string {
    return "Work";
  }

  override toString(): string {
    return titleOf(`${this.type}Queue`, this.name);
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return iterateItems(this);
  }

  override serve(): void {
    if (this.getters.length > 0) {
      this.#serveGetters();
      if (this.isShutDown && this.isOver) this.getters.serveAll(SHUTDOWN);
    }
    if (this.size === 0 && this.isShutDown) {
      this.drainers.serveAll();
      this.observer?.end();
    }
    if (this.watchers.size > 0) {
      if (this.held !== undefined) this.held.toldReady = this.line.length > 0;
      this.watchers.tell();
    }
    this.held?.follow();
    this.isWatched = this.watchers.size > 0;
    this.hasCallers = this.isWatched || this.getters.length + this.drainers.length > 0;
    this.attend();
  }

  /**
   * Hands ready items to pending calls to `get`. After an error, the call to `get` rejects, but the call that added the
   * item does not throw, because the item was added successfully.
   */
  #serveGetters(): void {
    if (this.isServing || this.batchReadyAt !== undefined) return; // a caller up the stack will serve them
    this.isServing = true;
    try {
      while (this.getters.length > 0 && this.line.length > 0) {
        const getter = this.getters.remove();
        try {
          getter.resolve(this.handOut());
        } catch (error) {
          getter.reject(error);
        }
      }
    } finally {
      this.isServing = false;
    }
  }

  /** Reports whether an item is ready that no pending call to `get` must receive first. */
  protected hasFree(): boolean {
    if (this.getters.length > 0) this.#serveGetters(); // a block may have ended with time
    return this.getters.length === 0 && this.line.length > 0;
  }

  /** Looks at the time: lets retries through that have budget now, and makes due items ready. */
  look(): void {}

  /** Shuts the queue down: no delayed item will become ready. */
  protected close(): void {
    this.ignoresAdds = this.isShutDown = true;
    this.observer?.stop();
    this.serve();
  }
}
