import type { HOOKS } from "../base/brands.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { AddOptions } from "./work_queue.ts";

/** A queue that has hooks, under `Symbol.for("workqueue.hooks")`. */
export interface HookedQueue<T> {
  readonly [HOOKS]?: QueueHooks<T>;
}

/**
 * What our layers and pools ask of a queue beside its interface. A queue of somebody else's may have any of these hooks,
 * and works without them; what it misses, each of them says.
 */
export interface QueueHooks<T> {
  /**
   * The newest item with the key of this one, if this very item is being worked on: whatever was added since is newer,
   * even if this one is added again after it, because it failed. `undefined` if nobody works on this item.
   * Without the hook, the retry of an old item replaces a newer one with its key.
   */
  newest?(item: T): T | undefined;

  /**
   * What becomes of the item: it is ready, held, or held and added again; `undefined` if it is none of these. Without the
   * hook, a delayed item is lost whose add throws when it is due, and a delaying queue above cannot have
   * `whileWaiting: "replace"`.
   */
  stateOf?(item: T): "ready" | "held" | "addedAgain" | undefined;

  /**
   * Whether the queue, which is shutting down, still takes an item back from its holder. Without the hook it does not:
   * what fails during a drain is given up.
   */
  takesBack?(item: T): boolean;

  /** Adds an item again whose holder gives it back, after a delay in milliseconds, if `takesBack` says so. */
  takeBack?(item: T, delay: number, options?: AddOptions): void;

  /** When an item that waits is due, by the queue's clock; `undefined` if it does not wait. */
  dueAt?(item: T): number | undefined;

  /**
   * When the first of the items that wait is due, by the queue's clock. Without the hook, a queue above does not say so when
   * it is printed.
   */
  nextDueAt?(): number | undefined;

  /**
   * Does the action, in which items are added, and serves the calls of `get` that wait only after it. Without the hook,
   * of items that are due together the first goes to who waits, and not the one with the highest priority.
   */
  batch?(action: () => void): void;

  /**
   * Calls back whenever there is less to do: an item was handed out, is done, or the queue is shut down. Returns what
   * ends that. Without the hook, a delaying queue above that drains shuts this one down as soon as nothing waits, and
   * what fails later is given up; and a pool that waits for a token of its `starts` learns of a shutdown only once it has
   * one.
   */
  watch?(callback: () => void): () => void;

  /** Where pools send what they measure of the queue, under its name. Without the hook, they measure nothing. */
  readonly metrics?: MetricsProvider | undefined;

  /**
   * Whether `addRateLimited` knows the option `atLeast`. Without the hook, and unless the queue says by
   * `[Symbol.for("workqueue.options")]` that it takes options, `addAfter` is called instead for an item that has to wait
   * at least so long: its limiter does not hear of that failure.
   */
  readonly takesAtLeast?: boolean;

  /**
   * How often each key was tried since it was last forgotten, for all pools of the queue. `forget` of the queue clears
   * it. Without the hook, `forget` leaves alone what pools have counted.
   */
  readonly attempts?: AttemptCounts;
}

/** Numbers of attempts by key. */
export interface AttemptCounts {
  /** How often the key was tried; `undefined` if it was not. */
  get(key: unknown): number | undefined;
  /** Notes how often the key was tried. */
  set(key: unknown, attempts: number): void;
  /** Forgets the key. */
  delete(key: unknown): void;
}
