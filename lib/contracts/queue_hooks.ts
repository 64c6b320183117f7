import type { HOOKS } from "../base/brands.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { AddOptions } from "./work_queue.ts";
import type { GivenUpItem } from "./work_source.ts";

/** A queue with hooks, under `Symbol.for("workqueue.hooks")`. */
export interface HookedQueue<T> {
  /** The hooks of the queue. */
  readonly [HOOKS]?: QueueHooks<T>;
}

/**
 * Questions and requests of layers and pools beyond the interface of a queue. For third-party queues, every hook is
 * optional and documents what is lost without it.
 */
export interface QueueHooks<T> {
  /**
   * Returns the newest item with this item's key, if this item is processing; `undefined` otherwise. An item that was
   * added since the hand-out counts as newer, even if this item is added again later as a retry. Without the hook, the
   * retry of an old item replaces a newer one with its key.
   */
  newest?(item: T): T | undefined;

  /**
   * Returns the state of the item: ready, processing, or processing and added again. Returns `undefined` in any other
   * state. Without the hook, a delayed item whose add throws when it is due is added again a second later, even if the
   * queue already has it. A delaying queue above can't have `addWhileDelayed: "replace"`.
   */
  stateOf?(item: T): "ready" | "processing" | "addedAgain" | undefined;

  /**
   * Reports whether the queue, which is shutting down, still takes back an item that is processing. Without the hook,
   * it doesn't: items that fail during a drain are given up.
   */
  takesBack?(item: T): boolean;

  /**
   * Adds an item that is processing again, after a delay in milliseconds. Called only during a shutdown, for an item
   * that `takesBack` accepts. Without the hook, `takesBack` is not called: items that fail during a drain are given up.
   */
  takeBack?(item: T, delay: number, options?: AddOptions): void;

  /**
   * Makes a delayed item ready whose add threw when it was due, because the discipline threw. Without the hook, the
   * item is added again a second later.
   */
  keep?(item: T, priority: number): void;

  /**
   * Returns the time at which a delayed item is due, in milliseconds by the queue's clock; `undefined` if the item is
   * not delayed. Without the hook, snapshots of pools don't show when failing items are due.
   */
  dueAt?(item: T): number | undefined;

  /**
   * Returns the time at which the first delayed item is due, in milliseconds by the queue's clock. Without the hook, a
   * queue above doesn't show that time when it is printed.
   */
  nextDueAt?(): number | undefined;

  /**
   * Iterates over the delayed items, in no particular order. The caller may request the next item in a later turn of
   * the event loop. Items that become or cease to be delayed meanwhile may or may not appear. Without the hook, a
   * dashboard blocks the event loop while it searches for items to act on.
   */
  allDelayed?(): Iterable<DelayedItem<T>>;

  /**
   * Begins a batch of items that became due together, at `readyAt` by the queue's clock. They are added in one or more
   * slices. Without the hook, the first of the items goes to a waiting `get`, even if another has a higher priority.
   */
  beginBatch?(readyAt: number): AddSlice;

  /**
   * Calls `callback` when the queue has less to do: an item was handed out, an item is done, or the queue was shut
   * down. Returns an unsubscribe function.
   *
   * Without the hook, a draining queue above shuts this queue down as soon as no item is delayed. Items that fail later
   * are given up, whatever the drain's `delayed` option says. A pool that waits for a token of its `throttle` notices a
   * shutdown only when it gets the token.
   */
  watch?(callback: () => void): () => void;

  /**
   * Called for each item that a pool gives up, before the item is forgotten and done. An error that it throws goes to
   * the pool's `onError`. Without the hook, only the pool knows about given-up items.
   */
  givenUp?(given: GivenUpItem<T>): void;

  /**
   * Reports whether a processing key was added again, so that it becomes ready when it is done, even after a shutdown.
   * Without the hook, a pool may end before a key that another consumer is processing becomes ready again.
   */
  mayComeBack?(): boolean;

  /**
   * The item whose key is known while layers and pools pass it on. The queue takes the item's key from here instead of
   * calling `keyOf`, which may throw. Without the hook, each layer and pool calls `keyOf`.
   */
  readonly known?: KnownKey | undefined;

  /** Receives the metrics of pools, under the queue's name. Without the hook, pools have no metrics. */
  readonly metrics?: MetricsProvider | undefined;

  /**
   * Whether `addRateLimited` knows the option `minDelay`. If not, an item with a shortest delay is added with
   * `addAfter`, and the limiter doesn't count that failure. A queue that declares with
   * `[Symbol.for("workqueue.options")]` that it takes options doesn't need the hook.
   */
  readonly takesMinDelay?: boolean;

  /**
   * Reports whether this error is the one that the limiter threw in the latest `addRateLimited`. If so, the pool gives
   * up the failed item, because its delay is unknown. After any other error, the pool adds the item again without the
   * limiter. Without the hook, any error of `addRateLimited` gives up the item.
   */
  limiterThrew?(error: unknown): boolean;

  /**
   * Numbers of attempts by key since the key was last forgotten, shared by all pools of the queue. The queue's `forget`
   * clears the number. Without the hook, `forget` doesn't reset the counts of pools.
   */
  readonly attempts?: AttemptCounts<T>;
}

/** An item whose key is known. */
export interface KnownKey {
  /** The item, or an object that is not an item if there is none. */
  item: unknown;
  /** Its key. */
  key: unknown;
}

/** An item whose delay has not passed. */
export interface DelayedItem<T> {
  /** The item. */
  readonly item: T;
  /** Its priority; 0 unless it was added with another. */
  readonly priority: number;
  /** Time at which it is due, in milliseconds by the queue's clock. */
  readonly dueAt: number;
}

/**
 * Calls `action`, which adds some items of a batch. Waiting calls of `get` are served only after it returns. First in,
 * first out hands out items after each slice, because later slices can't change the order. A queue with any other
 * discipline hands out nothing until the batch is over: `action` returns `true` or throws.
 */
export type AddSlice = (action: () => boolean) => void;

/** Numbers of attempts by key. */
export interface AttemptCounts<T> {
  /** Returns the number of attempts of the key; `undefined` if there were none. `item` is an item with that key. */
  get(key: unknown, item: T): number | undefined;
  /** Stores the number of attempts of the key. */
  set(key: unknown, attempts: number, item: T): void;
  /** Forgets the key. */
  delete(key: unknown): void;
}
