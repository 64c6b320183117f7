import type { HOOKS } from "../base/brands.ts";
import type { ReadyEntry } from "./discipline.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { AddOptions } from "./work_queue.ts";
import type { GivenUpItem } from "./work_source.ts";

/** A queue that may have hooks, in its `[Symbol.for("workqueue.hooks")]` property. */
export interface HookedQueue<T> {
  /** The hooks of the queue. */
  readonly [HOOKS]?: QueueHooks<T>;
}

/**
 * Members of a queue that pools and displays use in addition to the queue's public interface. For third-party queues,
 * every hook is optional, and its documentation says what is lost without the hook.
 */
export interface QueueHooks<T> {
  /**
   * Returns the state of the item: ready or blocked, processing, or processing and added again. Returns `undefined` in
   * any other state.
   */
  stateOf?(item: T): "ready" | "processing" | "addedAgain" | undefined;

  /**
   * Calls `action`, which adds a processing item again, with a delay, because the attempt at the item failed. A queue
   * with `addWhileDelayed: "fold"` has this hook, and folds later adds of the item into that delay. Without the hook,
   * the pool calls `action` itself.
   */
  failed?(item: T, action: () => void): void;

  /**
   * Returns the retries that are blocked because there is no budget for them. A queue with a `retryBudget` has this
   * hook. Without the hook, displays don't tell such retries from other blocked items.
   */
  blockedRetries?(): BlockedRetries<T> | undefined;

  /**
   * Called when a processing item was added again because its holder hands it back unworked, so that its next hand-out
   * is not counted as a first attempt. A queue without a `retryBudget` doesn't need the hook.
   */
  handedBack?(item: T): void;

  /**
   * Reports whether the queue still takes back a processing item while the queue is shutting down. Without the hook,
   * items that fail during a drain are given up.
   */
  takesBack?(item: T): boolean;

  /**
   * Adds a processing item again, after a delay in milliseconds. Called only while the queue is shutting down, for an
   * item that `takesBack` accepts. Without the hook, `takesBack` is not called: items that fail during a drain are
   * given up.
   */
  takeBack?(item: T, delay: number, options?: AddOptions): void;

  /**
   * Returns the time at which a delayed item is due, in milliseconds by the queue's clock; `undefined` if the item is
   * not delayed. Without the hook, snapshots of pools don't show when failing items are due.
   */
  dueAt?(item: T): number | undefined;

  /**
   * Returns the time at which the first delayed item is due, in milliseconds by the queue's clock. Without the hook,
   * consoles don't show this time.
   */
  nextDueAt?(): number | undefined;

  /**
   * Iterates over the delayed items, in no particular order. The caller may request the next item in a later turn of
   * the event loop. Items whose delay begins or ends during the iteration may or may not appear. Without the hook, a
   * dashboard blocks the event loop while it searches for items to act on.
   */
  allDelayed?(): Iterable<DelayedItem<T>>;

  /**
   * Begins a batch of items that became due together, at the time `readyAt` by the queue's clock. The items are added
   * in one or more slices. Without the hook, the first item of the batch goes to a pending call to `get`, even if
   * another item of the batch has a higher priority.
   */
  beginBatch?(readyAt: number): AddSlice;

  /**
   * Calls `callback` when the queue has more or less to do: an item became ready, was handed out or is done, or the
   * queue was shut down. Returns an unsubscribe function.
   *
   * Without the hook, a pool with a
   * `throttle` takes an item before it asks for a permit, and adds the item again if no permit is granted.
   */
  watch?(callback: () => void): () => void;

  /**
   * Called for each item that a pool gives up, before the item is forgotten and marked as done. An error that the hook
   * throws is passed to the pool's `onError`. Without the hook, only the pool knows about given-up items.
   */
  givenUp?(given: GivenUpItem<T>): void;

  /**
   * Whether the queue keeps given-up items, so that `givenUp` of the queue returns them. Without the hook, a dashboard
   * shows no given-up items of an in-memory queue.
   */
  readonly keepsGivenUp?: boolean;

  /**
   * Whether adds have the option `trace`, and attempts get it as `context.trace`. Without the hook, `tracedAdds` of
   * `@workqueue/opentelemetry` remembers the spans of adds in this process.
   */
  readonly keepsTraces?: boolean;

  /**
   * Reports whether the queue is shut down and nothing is ready or blocked. Without the hook, a pool with a `throttle`
   * ends only when no key is delayed or processing.
   */
  isOver?(): boolean;

  /**
   * Reports whether any processing key was added again, or any key is blocked. Such a key becomes ready, even after a
   * shutdown. Without the hook, a pool may end before a key that another consumer is processing becomes ready again.
   */
  mayComeBack?(): boolean;

  /**
   * Returns the members of the discipline that concern groups; `undefined` if it has no groups. Without the hook, a
   * `RetryAfterError` that asks to pause a group delays only its item, and a dashboard shows no groups.
   */
  groups?(): QueueGroups | undefined;

  /**
   * Hands out nothing for the given number of milliseconds. If the queue is already paused, the later end applies.
   * Without the hook, a `RetryAfterError` that asks to pause the queue delays only its item.
   */
  pauseFor?(ms: number): void;

  /**
   * Returns the time until the queue hands out items again, in milliseconds; 0 if `pauseFor` has not paused the queue.
   * Without the hook, a dashboard doesn't show why all ready items are blocked.
   */
  resumesInMs?(): number;

  /**
   * Item that a pool is currently passing to the queue, with its key. The queue reads the key from this object
   * instead of calling `keyOf`, which may throw. Without the hook, each pool calls `keyOf`.
   */
  readonly known?: KnownKey | undefined;

  /** Receives the metrics of pools, under the queue's name. Without the hook, pools have no metrics. */
  readonly metrics?: MetricsProvider | undefined;

  /**
   * Whether `addRateLimited` supports the `minDelay` option. If the option is not supported, an item with a minimum
   * delay is added with `addAfter`, and the limiter doesn't count that failure. A queue with
   * `[Symbol.for("workqueue.options")]: true` doesn't need the hook.
   */
  readonly takesMinDelay?: boolean;

  /**
   * Reports whether the limiter threw this error in the latest call to `addRateLimited`. If the limiter threw the
   * error, the pool gives up the failed item, because the item's delay is unknown. After any other error, the pool adds
   * the item again without the limiter. Without the hook, the pool gives up the item after any error that
   * `addRateLimited` throws.
   */
  limiterThrew?(error: unknown): boolean;

  /**
   * Number of attempts at each key since the key was last forgotten, shared by all pools of the queue. The queue's
   * `forget` resets the number. Without the hook, `forget` doesn't reset the attempt counts of pools.
   */
  readonly attempts?: AttemptCounts<T>;

  /**
   * Replaces the observer of this queue's keys. `change` receives the current observer and the queue's numbers of keys,
   * and returns the new observer. An observer that replaces another must pass all calls on to it. Without this hook and
   * without `recordTimes`, a dashboard doesn't show the age of the oldest ready item, nor how long items wait and how
   * long the work on them takes.
   */
  observe?(
    change: (current: QueueObserver | undefined, keys: ObservedKeys) => QueueObserver | undefined,
  ): void;

  /**
   * Begins to pass the times of the items that this process takes to `recorder`. Returns a function that ends this. A
   * queue outside this process has this hook instead of `observe`.
   */
  recordTimes?(recorder: TimesRecorder): () => void;
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
   * - `"rate"`: no more items may start at once by the rate of the group;
   * - `"limit"`: as many items of the group are processing as may be;
   * - `"inner"`: the discipline within the group blocks them.
   */
  readonly reason: "paused" | "probing" | "rate" | "limit" | "inner";
  /** Number of blocked items. */
  readonly blocked: number;
  /** Time until one more item becomes ready, in milliseconds; `null` if it depends on other items of the group. */
  readonly resumesInMs: number | null;
}

/** Numbers of keys in an in-memory queue. */
export interface ObservedKeys {
  /** Number of ready, blocked and processing keys. */
  readonly size: number;
  /** Number of processing keys. */
  readonly processing: number;
}

/** Observes the keys of an in-memory queue. No method may throw. */
export interface QueueObserver {
  /**
   * Time at which the oldest ready or blocked key became ready, in milliseconds by the queue's clock; `undefined` if no
   * key is ready or blocked.
   */
  readonly oldestReadyAt: number | undefined;
  /** Called when an added key becomes ready. Keys that become ready later have larger tickets. */
  added(ticket: number, key: unknown, priority: number): void;
  /** Called when a processing key is added again. */
  addedAgain(key: unknown, priority: number): void;
  /** Called when the mark that a processing key was added again is cleared. */
  unmarked(key: unknown): void;
  /** Called when a key that was added again while processing becomes ready with this ticket. */
  ready(ticket: number): void;
  /** Called when the key with this ticket is handed out. `called` identifies the hand-out. */
  taken(key: unknown, ticket: number, called: number): void;
  /** Called when the item of the hand-out `called` is done. */
  finished(called: number): void;
  /** Called when the queue is shut down. */
  stop(): void;
  /** Called when the queue is shut down and empty. */
  end(): void;
}

/** Receives how long items waited and how long the work on them took. */
export interface TimesRecorder {
  /** Called when an item is handed out, with the milliseconds since it became ready. */
  waited(ms: number): void;
  /** Called when an item is done, with the milliseconds since it was handed out. */
  worked(ms: number): void;
}

/** An item whose key is known. */
export interface KnownKey {
  /** The item or, if no item is being passed, an object that is not in any queue. */
  item: unknown;
  /** The item's key. */
  key: unknown;
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

/**
 * Calls `action`, which adds some items of a batch. Pending `get` calls are served only after `action` returns. A
 * first-in, first-out queue hands out items after each slice, because later slices can't change the order. A queue with
 * a discipline hands out no items until the batch is over, which is when `action` returns `true` or throws.
 */
export type AddSlice = (action: () => boolean) => void;

/** Number of attempts at each key. */
export interface AttemptCounts<T> {
  /** Returns the number of attempts at the key; `undefined` if there were none. `item` is an item with that key. */
  get(key: unknown, item: T): number | undefined;
  /** Stores the number of attempts at the key, and whether the last attempt failed. By default, it failed. */
  set(key: unknown, attempts: number, item: T, hasFailed?: boolean): void;
  /** Forgets the key. */
  delete(key: unknown): void;
  /**
   * Notes that an attempt at a key begins now, after earlier attempts. `item` is an item with that key. Without this
   * method, an `ignore-early` limiter judges a failure by the time at which it happened.
   */
  begin?(key: unknown, item: T): void;
  /**
   * Reports whether a failure of the latest attempt at a key is not counted. `item` is an item with that key. Without
   * this method, every failure is counted.
   */
  isIgnored?(key: unknown, item: T): boolean | undefined;
  /** Number of keys whose last attempt failed. Without this property, snapshots of pools don't have the number. */
  readonly failing?: number;
  /**
   * Reports whether the last attempt at the key failed. `item` is an item with that key. Without this method, every key
   * with a number of attempts counts as failing.
   */
  isFailing?(key: unknown, item: T): boolean;
  /**
   * Calls `callback` with each key that was failing and was forgotten. Returns an unsubscribe function. Without this
   * method, a dashboard doesn't notice that `forget` was called.
   */
  watchForgotten?(callback: (key: unknown) => void): () => void;
}
