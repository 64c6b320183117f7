import { A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { INSPECTION, setBrand } from "../base/brands.ts";
import { MAX_TIMEOUT, unref } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { invalidArgument } from "../base/errors.ts";
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
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { noGroups, PAUSE, RESUME } from "./groups.ts";
import { iterateItems } from "./item_iterator.ts";
import { limitOf, readDrainOptions, signalOf } from "./options.ts";
import type { OrderGroups } from "./order.ts";
import { AGAIN } from "./positions.ts";
import type { RecordLease } from "./record_lease.ts";
import { RecordQueue } from "./record_queue.ts";

const SHUTDOWN: Shutdown = Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

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
export class ServedQueue<T> extends RecordQueue<T> implements WorkQueue<T>, ObservedQueue {
  /** Pending calls to `get`. While calls are pending, no item is ready, except during a slice. */
  readonly #getters = new Waiters<RecordLease<T> | Shutdown>(() => void this.#setTimer());
  /** Whether pending calls to `get` are being served now. */
  #isServing = false;
  /** Pending calls to `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>(() => this.shutDown());
  /** Callbacks to call after each change. */
  readonly #watchers = new Watchers();
  /** Whether an item was ready when the watchers were last told of a change. */
  #toldReady = false;
  readonly #waits = new Waits((count) => this.isWaitOver(count), (callback) => this.watch(callback));
  /** Batch that has begun and has not ended. */
  protected batch: Batch | undefined = undefined;
  /** Time until which no item is handed out; `undefined` if the queue is not paused. */
  pausedUntil: number | undefined = undefined;
  /** Timer for the next time at which blocked items become ready, and that time; `Infinity` if no timer is set. */
  #timer: unknown = undefined;
  #wakeAt = Infinity;
  /** Longest time for which the timer runs, and whether it keeps the process alive. */
  protected sleep: { readonly max: number; readonly ref: boolean } = { max: MAX_TIMEOUT, ref: true };

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
      // Before the wait, because the clock may throw, and nobody would get the item of the wait.
      if (this.isPlain || this.#setTimer(true)) return this.#getters.wait(signal);
    }
    return Promise.resolve(this.handOut());
  }

  tryGet(): RecordLease<T> | undefined {
    return this.hasFree() ? this.handOut() : undefined;
  }

  shutDown(): void {
    this.#close();
    this.#drainers.serveAll();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#close();
      if (this.size === 0) return Promise.resolve();
      this.isAttended = this.hasCallers = true;
      return this.#drainers.wait(signal);
    } catch (error) {
      return Promise.reject(error);
    }
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
    if (this.#watchers.size === 0) this.#toldReady = false;
    const stop = this.#watchers.add(callback);
    this.#setTimer(true);
    return () => {
      stop();
      if (!this.#isAwaited) this.followRetries();
    };
  }

  pauseGroup(group: unknown, duration: Duration): void {
    const groups = this.#groupsFor(PAUSE);
    const ms = groups.readDuration?.(PAUSE, "duration", duration) ?? duration as number;
    if (!Number.isFinite(ms)) throw invalidArgument(PAUSE, "duration", "must be a finite number", duration);
    groups.pauseGroup(group, this.time.now() + ms);
    this.#setTimer();
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

  /** Hands out nothing for some time, in milliseconds. If the queue is already paused, the later end applies. */
  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil ?? -Infinity, this.time.now() + ms);
    this.isPlain = false;
    this.mayBeHeld = true;
    this.#setTimer();
  }

  /**
   * Reports whether ready items are not handed out now: the queue is paused, or a batch of items is not complete. First
   * in, first out, items are handed out after each slice, because later slices can't change their order.
   */
  protected override isHeld(): boolean {
    if (!this.isFifo && (this.batch !== undefined || this.batchReadyAt !== undefined)) return true;
    if (this.pausedUntil !== undefined) {
      if (this.time.now() < this.pausedUntil) return true;
      this.pausedUntil = undefined;
    }
    return this.mayBeHeld = false;
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
      readyItems: this.listReady(Math.min(limit, length))
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
    if (this.#getters.length > 0) {
      this.#serveGetters();
      if (this.isShutDown && this.isOver) this.#getters.serveAll(SHUTDOWN);
    }
    if (this.size === 0 && this.ignoresAdds) {
      this.#drainers.serveAll();
      if (this.isShutDown) this.observer?.end();
    }
    if (this.#watchers.size > 0) {
      this.#toldReady = this.length > 0;
      this.#watchers.tell();
    }
    if (!this.isPlain) this.#setTimer();
    this.isWatched = this.#watchers.size > 0;
    this.hasCallers = this.isWatched || this.#getters.length + this.#drainers.length > 0;
    this.attend();
  }

  /**
   * Hands ready items to pending calls to `get`. After an error, the call to `get` rejects, but the call that added the
   * item does not throw, because the item was added successfully.
   */
  #serveGetters(): void {
    if (this.#isServing || this.batchReadyAt !== undefined) return; // a caller up the stack will serve them
    this.#isServing = true;
    try {
      while (this.#getters.length > 0 && this.length > 0) {
        const getter = this.#getters.remove();
        try {
          getter.resolve(this.handOut());
        } catch (error) {
          getter.reject(error);
        }
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Reports whether an item is ready that no pending call to `get` must receive first. */
  protected hasFree(): boolean {
    if (this.#getters.length > 0) this.#serveGetters(); // a block may have ended with time
    return this.#getters.length === 0 && this.length > 0;
  }

  /**
   * Returns the next time at which blocked items may become ready; `Infinity` if there is none. If nobody awaits them,
   * only retries count, and only before a shutdown.
   */
  #changeAt(isAwaited: boolean): number {
    const { order: { nextChangeAt = Infinity }, retries } = this;
    const opensAt = this.waiting > 0 && (isAwaited || !this.isShutDown) ? retries!.opensAt : Infinity;
    return isAwaited ? Math.min(this.pausedUntil ?? nextChangeAt, opensAt) : opensAt;
  }

  /** Sets the timer for retries, unless it is set for something else that is awaited. Nobody is served. */
  protected followRetries(): void {
    const wakeAt = this.#changeAt(false);
    if (this.#isAwaited ? wakeAt < this.#wakeAt : wakeAt !== this.#wakeAt) this.#sleepUntil(wakeAt);
  }

  /**
   * Sets the timer for the next time at which blocked items become ready. The timer is set only if no item is ready,
   * and a call or a callback awaits one, or for retries. If a block has ended and nobody has been told, serves first.
   *
   * @param isNew Whether a call or a callback is about to wait, or has just begun to. Then, nobody is served.
   * @returns Whether no item is ready that the new call could get.
   */
  #setTimer(isNew = false): boolean {
    const isReady = this.length > 0; // first, because this may end a block
    if (isReady && !isNew && this.#isUntold) this.serve();
    else {
      const wakeAt = this.#changeAt(!isReady && (isNew || this.#isAwaited));
      if (wakeAt !== this.#wakeAt) this.#sleepUntil(wakeAt);
    }
    return !isReady || this.#isServing || this.batchReadyAt !== undefined;
  }

  /** Whether a call or a callback awaits a change. */
  get #isAwaited(): boolean {
    return this.#getters.length > 0 || this.#watchers.size > 0;
  }

  /** Whether a call or a callback has not been told that an item is ready. */
  get #isUntold(): boolean {
    const mayServe = this.#getters.length > 0 && !this.#isServing && this.batchReadyAt === undefined;
    return mayServe || (this.#watchers.size > 0 && !this.#toldReady);
  }

  #sleepUntil(wakeAt: number): void {
    const hadTimer = this.#wakeAt !== Infinity;
    this.#wakeAt = Infinity; // until the timer is set, because the clock may throw
    if (hadTimer) this.time.clearTimeout(this.#timer);
    if (wakeAt === Infinity) return;
    const ms = Math.min(Math.max(Math.ceil(wakeAt - this.time.now()), 1), this.sleep.max);
    this.#timer = this.time.setTimeout(() => this.#wake(), ms);
    if (!this.sleep.ref) unref(this.#timer);
    this.#wakeAt = wakeAt;
  }

  /** Hands out items that have become ready with time. If the discipline throws, a pending call to `get` rejects. */
  #wake(): void {
    this.#wakeAt = Infinity;
    try {
      if (this.waiting > 0) this.look(); // even while the queue is paused
      this.serve();
    } catch (error) {
      if (this.#getters.length > 0) this.#getters.remove().reject(error);
    }
  }

  /** Looks at the time: lets retries through that have budget now, and makes due items ready. */
  protected look(): void {}

  #close(): void {
    this.ignoresAdds = this.isShutDown = true;
    this.observer?.stop();
    this.serve();
  }
}
