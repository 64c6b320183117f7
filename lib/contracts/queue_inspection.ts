import type { INSPECTION } from "../base/brands.ts";
import type { ReadyEntry } from "./discipline.ts";
import type { ItemEvent } from "./item_event.ts";

/**
 * A queue that displays can inspect, through its `[Symbol.for("workqueue.inspection")]` property. A queue in memory has
 * itself there, and `inspectionOf` makes its {@linkcode QueueInspection}. A queue outside this process, or one of your
 * own, has a {@linkcode RemoteInspection}.
 */
export interface InspectedQueue {
  /** The queue itself, or its state for displays. */
  readonly [INSPECTION]?: ObservedQueue | RemoteInspection | undefined;
}

/** State of a queue outside this process, for displays. */
export interface RemoteInspection {
  /** Whether adds have the option `trace`, and attempts get it as `context.trace`. */
  readonly keepsTraces: boolean;
  /**
   * Begins to pass the times of the items that this process takes to `recorder`. Returns a function that ends this.
   */
  recordTimes(recorder: TimesRecorder): () => void;
  /**
   * Begins to call `callback` for each event of an item in this process. It must be called in a microtask, and its
   * errors must not reach the queue. Returns a function that ends this.
   */
  watchItem(item: unknown, callback: (event: ItemEvent) => void): () => void;
}

/**
 * View of a queue in memory, for displays. Reads the records of the queue, and is up to date at each call. A work queue
 * has no delayed items, and only a rate-limiting queue has failing and given-up items.
 */
export interface QueueInspection<T> {
  /** Number of items that were handed out. */
  readonly handedOut: number;
  /** Whether the queue keeps given-up items, so that `givenUp` of the queue returns them. */
  readonly keepsGivenUp: boolean;
  /**
   * Time until the queue hands out items again, in milliseconds; 0 if no `RetryAfterError` has paused the queue.
   */
  readonly resumesInMs: number;
  /** Members of the discipline that concern groups; `undefined` if it has no groups. */
  readonly groups: QueueGroups | undefined;
  /** Retries that are blocked because there is no budget for them; `undefined` without a `retryBudget`. */
  readonly blockedRetries: BlockedRetries<T> | undefined;
  /**
   * Returns the state of an item: ready or blocked, processing, or processing and added again. Returns `undefined` in
   * any other state.
   */
  stateOf(item: T): "ready" | "processing" | "addedAgain" | undefined;
  /** Reports whether the last attempt at an item failed, and its failures were not forgotten since. */
  isFailing(item: T): boolean;
  /**
   * Returns the time at which a delayed item is due, in milliseconds by the queue's clock (`systemClock.now()`, not
   * `Date.now()`, unless the queue has another clock); `undefined` if the item is not delayed.
   */
  dueAt(item: T): number | undefined;
  /** Returns the time at which the first delayed item is due; `undefined` if no item is delayed. */
  nextDueAt(): number | undefined;
  /**
   * Iterates over the delayed items, in no particular order. The caller may request the next item in a later turn of
   * the event loop. Items whose delay begins or ends during the iteration may or may not appear.
   */
  allDelayed(): Iterable<DelayedItem<T>>;
  /** Begins to call a listener for the keys of the queue. Returns a function that ends this. */
  listen(listener: KeyListener): () => void;
}

/** A queue in memory whose keys can be observed. */
export interface ObservedQueue {
  /** Number of ready, blocked and processing keys. */
  readonly size: number;
  /** Number of processing keys. */
  readonly processing: number;
  /** Number of items that were handed out. */
  readonly handedOut: number;
  /** Replaces the observer of the queue's keys. `change` receives the current observer, and returns the new one. */
  observe(change: (current: QueueObserver | undefined) => QueueObserver | undefined): void;
}

/** Retries that are due and are blocked because there is no budget for them. */
export interface BlockedRetries<T> {
  /** The blocked retries. */
  readonly retries: {
    /** Number of retries. */
    readonly length: number;
    /**
     * Iterates over the retries, in no particular order. The caller may request the next retry in a later turn of the
     * event loop.
     */
    keys(): Iterable<ReadyEntry<T>>;
    /** Reports whether an entry is blocked. */
    has(entry: ReadyEntry<T>): boolean;
  };
  /** Time from which a retry may be let through without a first attempt; `Infinity` if there is none. */
  readonly opensAt: number;
  /** Makes a blocked retry ready, as a first attempt. Returns `false` if the entry is no longer blocked. */
  makeReady(entry: ReadyEntry<T>): boolean;
}

/** Groups of a queue's ready items. */
export interface QueueGroups {
  /** Returns the group of an entry. */
  groupOf?(entry: { readonly key: unknown; readonly item: unknown }): unknown;
  /**
   * Iterates over the groups that the discipline remembers, in no particular order. These include all groups for which
   * `blockOf` returns something. The caller may request the next group in a later turn of the event loop.
   */
  groupNames?(): Iterable<unknown>;
  /** Returns what blocks items of a group; `undefined` if the group is not paused and none of its items is blocked. */
  blockOf?(group: unknown): GroupBlock | undefined;
}

/** Block of a group: why it has blocked items, or is paused, and until when. */
export interface GroupBlock {
  /**
   * - `"paused"`: the group is paused;
   * - `"probing"`: the group was paused, and its other items wait until one item, the probe, is done;
   * - `"rate"`: the rate of the group allows no further item now;
   * - `"limit"`: as many items of the group are processing as its limit allows;
   * - `"inner"`: the discipline within the group blocks them.
   */
  readonly reason: "paused" | "probing" | "rate" | "limit" | "inner";
  /** Number of blocked items. */
  readonly blocked: number;
  /** Time until one more item becomes ready, in milliseconds; `null` if it depends on other items of the group. */
  readonly resumesInMs: number | null;
}

/** Observes the records of an in-memory queue's keys. */
export interface QueueObserver {
  /** Called when an added key has become ready. */
  added(record: number): void;
  /** Called when a processing key was added again. */
  addedAgain(record: number, priority: number): void;
  /** Called when the mark that a processing key was added again was cleared. */
  unmarked(record: number): void;
  /** Called when a key that was added again while processing has become ready. */
  ready(record: number): void;
  /** Called when a key was handed out. */
  taken(record: number): void;
  /** Called when a ready or blocked key was cancelled, before the record changes. */
  removed(record: number): void;
  /**
   * Called when the item of a key is done, before the record changes. Returns the time at which the key was handed out;
   * `undefined` if it is unknown. Must not throw.
   */
  leaving(record: number): number | undefined;
  /** Called after `leaving`, when the record has changed, with the number of the hand-out. */
  finished(key: unknown, startedAt: number | undefined, handOut: number): void;
  /** Called when the queue is shut down. */
  stop(): void;
  /** Called when the queue is shut down and empty. */
  end(): void;
}

/**
 * Listens to the keys of an in-memory queue. All times are in milliseconds by the queue's clock. No method may throw.
 */
export interface KeyListener {
  /** Called when an added key has become ready. */
  added(key: unknown, priority: number, now: number): void;
  /** Called when a processing key was added again. */
  addedAgain(key: unknown, priority: number, now: number): void;
  /**
   * Called when the mark that a processing key was added again was cleared, or when a ready or blocked key was
   * cancelled.
   */
  unmarked(key: unknown): void;
  /** Called when a key that was added again while processing has become ready. */
  ready(key: unknown, now: number): void;
  /**
   * Called when a key was handed out.
   *
   * @param readyAt Time at which the key became ready; `undefined` if it is unknown.
   * @param addedAt Time of the add that made it ready, which may have come while it was processing.
   */
  taken(key: unknown, now: number, readyAt: number | undefined, addedAt: number | undefined): void;
  /**
   * Called when the item of a key is done.
   *
   * @param startedAt Time at which the key was handed out; `undefined` if it is unknown.
   * @param handOut Number of the hand-out, as a signed 32-bit number.
   */
  finished(key: unknown, now: number, startedAt: number | undefined, handOut: number): void;
  /** Called when the queue is shut down. */
  stop?(): void;
  /** Called when the queue is shut down and empty. */
  end?(): void;
}

/** Receives how long items waited and how long the work on them took. */
export interface TimesRecorder {
  /** Called when an item is handed out, with the milliseconds since it became ready. */
  waited(ms: number): void;
  /** Called when an item is done, with the milliseconds since it was handed out. */
  worked(ms: number): void;
}

/** An item whose delay has not passed. */
export interface DelayedItem<T> {
  /** The item. */
  readonly item: T;
  /** The item's priority; 0 by default. */
  readonly priority: number;
  /** Time at which the item is due, in milliseconds by the queue's clock. */
  readonly dueAt: number;
}
