/** Interface between the dashboard and a queue on any engine. */

import type { GiveUpReason } from "@workqueue/core";

/**
 * State of a queue when the dashboard last looked at it. Lists contain at most the requested number of items. `null`
 * means unknown.
 */
export interface Look {
  readonly ready: number;
  readonly blocked: number;
  readonly delayed: number;
  readonly processing: number;
  readonly failing: number | null;
  readonly totals: LookTotals;
  /** Time since the oldest ready or blocked item became ready, in milliseconds; `null` also if there is none. */
  readonly oldestReadyMs: number | null;
  readonly workers: Workers | null;
  /**
   * Whether the pool (of an in-memory queue) or the queue (on Redis) is paused. No item is handed out during a pause.
   */
  readonly isPaused: boolean;
  readonly readyItems: readonly { readonly item: unknown; readonly priority: number }[];
  readonly delayedItems: readonly DelayedLook[];
  readonly failingItems: readonly LookFailing[];
  readonly runningItems: readonly LookRunning[];
}

/** Totals since counting began. */
export interface LookTotals {
  readonly handedOut: number | null;
  /** Attempts that have ended. */
  readonly attempts: number | null;
  readonly failed: number | null;
  readonly givenUp: number | null;
  readonly givenUpFor: Readonly<Partial<Record<GiveUpReason, number>>> | null;
}

/** State of the pool in this process. */
export interface Workers {
  readonly active: number;
  /** Number of active handlers that are abandoned. */
  readonly abandoned: number;
  readonly concurrency: number;
  readonly paused: boolean;
}

export interface DelayedLook {
  readonly item: unknown;
  readonly priority: number;
  readonly dueInMs: number;
}

export interface LookFailing {
  readonly item: unknown;
  readonly attempts: number;
  readonly error: string;
  readonly ago: number | null;
  readonly dueInMs: number | null;
}

export interface LookRunning {
  readonly item: unknown;
  readonly attempt: number | null;
  readonly for: number | null;
}

/** Delayed items that were read from the queue, in the order in which they are due. */
export interface DelayedItems {
  readonly items: readonly DelayedLook[];
  /** Number of delayed items that were not read. */
  readonly more: number;
}

/**
 * Maximum length of a list. Servers return at most this many items at once, and pools remember at most this many
 * failing items.
 */
export const MAX_LISTED = 1000;

/** Control of a queue, or a sentence that explains why the queue doesn't support the control. */
export type Can<F> = F | string;

/** Functions that pause and resume the work of a queue. */
export interface Pausing {
  /** Pauses work. Returns the number of this pause, if the queue counts pauses. */
  pause(): number | void | Promise<number | void>;
  resume(): void | Promise<void>;
  /** Ends the pause with this number: resumes work, unless someone has paused it again since. */
  end(pause: number | void): void | Promise<void>;
}

export interface Source {
  readonly engine: "memory" | "redis";
  /** Name given to the queue when it was created. */
  readonly queueName: string;
  keyOf(item: unknown): unknown;
  /**
   * Returns the current state of the queue. The time that this takes depends on `limit`, not on the size of the queue.
   */
  look(limit: number): Look | Promise<Look>;
  /**
   * Returns all delayed items, but at most `limit`, and at most as many as can be fetched at once. The call may take a
   * while.
   */
  allDelayed(limit?: number): DelayedItems | Promise<DelayedItems>;
  /**
   * Returns an iterable over all delayed items in no particular order; `undefined` if the queue doesn't support
   * iteration. The iteration may continue in later turns of the event loop.
   */
  eachDelayed?(): Iterable<DelayedLook> | undefined;
  /**
   * Returns the number of delayed items that `allDelayed` would return. The lists of `look` must have been read with
   * the limit `MAX_LISTED`.
   */
  findable(look: Look): number;
  /** Whether each item is a string. Such an item can be retried or taken back without a search. */
  readonly hasTexts: boolean;
  /** Reason why delayed items can't be made ready; `undefined` if they can be made ready. */
  readonly cannotRetry?: string | undefined;
  /**
   * Makes a delayed item ready. Returns `false` if that is not possible, for example because the item is no longer
   * delayed.
   */
  retry(item: DelayedLook): boolean | Promise<boolean>;
  /** Removes a delayed item and forgets its failures. Returns `false` if the item was not delayed. */
  takeBack(item: DelayedLook): boolean | Promise<boolean>;
  readonly pausing: Can<Pausing>;
}
