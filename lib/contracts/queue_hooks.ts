import type { HOOKS } from "../base/brands.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { AddOptions } from "./work_queue.ts";
import type { GivenUpItem } from "./work_source.ts";

/** A queue that has hooks, under `Symbol.for("workqueue.hooks")`. */
export interface HookedQueue<T> {
  /** The hooks of the queue. */
  readonly [HOOKS]?: QueueHooks<T>;
}

/**
 * What our layers and pools ask of a queue beside its interface. A queue of somebody else's may have any of these
 * hooks, and works without them; what it misses, each of them says.
 */
export interface QueueHooks<T> {
  /**
   * The newest item with the key of this one, if this very item is being worked on: whatever was added since is newer,
   * even if this one is added again after it, because it failed. `undefined` if nobody works on this item.
   * Without the hook, the retry of an old item replaces a newer one with its key.
   */
  newest?(item: T): T | undefined;

  /**
   * What becomes of the item: it is ready, held, or held and added again; `undefined` if it is none of these. Without
   * the hook, a delayed item whose add throws when it is due is added again a second later, even if the queue has it;
   * and a delaying queue above cannot have `addWhileDelayed: "replace"`.
   */
  stateOf?(item: T): "ready" | "processing" | "addedAgain" | undefined;

  /**
   * Whether the queue, which is shutting down, still takes an item back from its holder. Without the hook it does not:
   * what fails during a drain is given up.
   */
  takesBack?(item: T): boolean;

  /** Adds an item again whose holder gives it back, after a delay in milliseconds, if `takesBack` says so. */
  takeBack?(item: T, delay: number, options?: AddOptions): void;

  /**
   * Makes a delayed item ready whose add threw when it was due, because the queue's discipline threw. Without the hook,
   * the item is added again a second later.
   */
  keep?(item: T, priority: number): void;

  /** When an item that waits is due, by the queue's clock; `undefined` if it does not wait. */
  dueAt?(item: T): number | undefined;

  /**
   * When the first of the items that wait is due, by the queue's clock. Without the hook, a queue above does not say so
   * when it is printed.
   */
  nextDueAt?(): number | undefined;

  /**
   * Iterates over what waits, in no particular order, and may be asked for the next item in a later turn of the event
   * loop: what began or ended to wait meanwhile may be given or not. Without the hook, a dashboard blocks the event
   * loop while it looks for items to act on.
   */
  allDelayed?(): Iterable<DelayedItem<T>>;

  /**
   * Begins a batch: items that became due together, at this time by the queue's clock, and are added in one slice or in
   * several. Without the hook, of items that are due together the first goes to who waits, and not the one with the
   * highest priority.
   */
  beginBatch?(readyAt: number): AddSlice;

  /**
   * Calls back whenever there is less to do: an item was handed out, is done, or the queue is shut down. Returns what
   * ends that. Without the hook, a delaying queue above that drains shuts this one down as soon as nothing waits, and
   * what fails later is given up, whatever the drain was to do; and a pool that waits for a token of its `throttle`
   * learns of a shutdown only once it has one.
   */
  watch?(callback: () => void): () => void;

  /**
   * Called for each item that a pool gives up, before it is forgotten and done. What it throws goes to the pool's
   * `onError`. Without the hook, only the pool knows.
   */
  givenUp?(given: GivenUpItem<T>): void;

  /**
   * Whether a key that is held was added again, so that it becomes ready when it is done, even after a shutdown.
   * Without the hook, a pool does not wait for such a key if somebody else holds it: it may end before the key is
   * ready.
   */
  mayComeBack?(): boolean;

  /**
   * The item whose key is known, while layers and pools pass it on. The queue takes its key from here instead of
   * calling `keyOf`, which may throw. Without the hook, each layer calls `keyOf`, and so do pools.
   */
  readonly known?: KnownKey | undefined;

  /** Where pools send what they measure of the queue, under its name. Without the hook, they measure nothing. */
  readonly metrics?: MetricsProvider | undefined;

  /**
   * Whether `addRateLimited` knows the option `minDelay`. Without the hook, and unless the queue says by
   * `[Symbol.for("workqueue.options")]` that it takes options, `addAfter` is called instead for an item that has to
   * wait at least so long: its limiter does not hear of that failure.
   */
  readonly takesMinDelay?: boolean;

  /**
   * Whether this error is the one that the limiter threw when `addRateLimited` asked it last. A pool gives up the
   * failed item then, as nobody can say when to try again. After any other error it adds the item again without the
   * limiter. Without the hook, whatever `addRateLimited` throws gives up the item.
   */
  limiterThrew?(error: unknown): boolean;

  /**
   * How often each key was tried since it was last forgotten, for all pools of the queue. `forget` of the queue clears
   * it. Without the hook, `forget` leaves alone what pools have counted.
   */
  readonly attempts?: AttemptCounts<T>;
}

/** An item whose key is known. */
export interface KnownKey {
  /** The item; an object that is no item if there is none. */
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
  /** When it is due, by the queue's clock. */
  readonly dueAt: number;
}

/**
 * Does the action, in which some items of a batch are added, and serves the calls of `get` that wait only after it.
 * First in, first out hands out what it has then, as later slices change nothing about that. A queue with any other
 * discipline hands out nothing until the batch is over: the action says so by returning `true`, or by throwing.
 */
export type AddSlice = (action: () => boolean) => void;

/** Numbers of attempts by key. */
export interface AttemptCounts<T> {
  /** Returns how often the key was tried; `undefined` if it was not. The item is one with that key. */
  get(key: unknown, item: T): number | undefined;
  /** Notes how often the key was tried. */
  set(key: unknown, attempts: number, item: T): void;
  /** Forgets the key. */
  delete(key: unknown): void;
}
