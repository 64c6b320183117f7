import type { HOOKS } from "../base/brands.ts";

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
   * Whether the item is ready or held. Without the hook, a delayed item is lost whose add throws when it is due.
   */
  isHere?(item: T): boolean;

  /**
   * Whether the queue, which is shutting down, still takes an item back from its holder. Without the hook it does not:
   * what fails during a drain is given up.
   */
  takesBack?(item: T): boolean;

  /** Adds an item again whose holder gives it back, after a delay in milliseconds, if `takesBack` says so. */
  takeBack?(item: T, delay: number): void;

  /**
   * Calls back, once, as soon as nothing is ready and nothing is held: at once if that is so now. Without the hook, a
   * delaying queue above that drains shuts this one down as soon as nothing waits, and what fails later is given up.
   */
  onEmptied?(callback: () => void): void;

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
