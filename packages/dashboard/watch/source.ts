/** A queue as the dashboard sees it, wherever its items are. */

import type { GiveUpReason } from "@workqueue/core";

/** What a look at a queue finds. Lists have as many items as was asked for; what is not known is `null`. */
export interface Look {
  readonly ready: number;
  readonly blocked: number;
  readonly delayed: number;
  readonly processing: number;
  readonly failing: number | null;
  readonly totals: LookTotals;
  /** For how long the oldest ready item has been so, where the queue tells. */
  readonly oldestReadyMs: number | null;
  /** Whether the totals tell that otherwise, as items are handed out in their order. */
  readonly isFifo: boolean;
  readonly workers: Workers | null;
  /** Whether nobody is given anything: the queue is paused, or the pool where that is what can be paused. */
  readonly isPaused: boolean;
  readonly readyItems: readonly { readonly item: unknown; readonly priority: number }[];
  readonly delayedItems: readonly DelayedLook[];
  readonly failingItems: readonly LookFailing[];
  readonly runningItems: readonly LookRunning[];
}

/** What has been counted since somebody began to count. */
export interface LookTotals {
  readonly handedOut: number | null;
  /** Attempts that ended. */
  readonly attempts: number | null;
  readonly failed: number | null;
  readonly givenUp: number | null;
  readonly givenUpFor: Readonly<Partial<Record<GiveUpReason, number>>> | null;
}

/** The pool of this process. */
export interface Workers {
  readonly active: number;
  /** How many of them are abandoned. */
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

/** What waits, the earliest first, as far as it was looked at. */
export interface DelayedItems {
  readonly items: readonly DelayedLook[];
  /** How many more wait. */
  readonly more: number;
}

/** How many items a list may have: what servers give at once, and what pools know of failures. */
export const MAX_LISTED = 1000;

/** Something that can be done to a queue; or why it cannot, in a sentence. */
export type Can<F> = F | string;

export interface Source {
  readonly engine: "memory" | "redis";
  /** What the queue calls itself. */
  readonly queueName: string;
  keyOf(item: unknown): unknown;
  /** Looks at the queue. It takes time by `limit`, whatever is in the queue. */
  look(limit: number): Look | Promise<Look>;
  /** What waits: all of it, or so much, or as much as can be had at once. It may take some time. */
  allDelayed(limit?: number): DelayedItems | Promise<DelayedItems>;
  /**
   * What waits, in no particular order, where that can be looked at in slices: later turns of the event loop may go on.
   */
  eachDelayed?(): Iterable<DelayedLook> | undefined;
  /** How many of what waits are in `allDelayed`, by a look that lists `MAX_LISTED` items. */
  findable(look: Look): number;
  /** Whether each item is a text, and can be tried now or taken back without having been looked at. */
  readonly hasTexts: boolean;
  /** Why nothing can be made ready now that waits. */
  readonly cannotRetry?: string | undefined;
  /** Makes an item ready that waits. Tells whether it did. */
  retry(item: DelayedLook): boolean | Promise<boolean>;
  /** Forgets an item that waits. Tells whether it did. */
  takeBack(item: DelayedLook): boolean | Promise<boolean>;
  readonly pausing: Can<{ pause(): void | Promise<void>; resume(): void | Promise<void> }>;
}
