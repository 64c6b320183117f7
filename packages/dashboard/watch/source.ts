/** Interface between the dashboard and a queue on any engine. */

import type { GiveUpReason, PoolSnapshot, ReadyEntry } from "@workqueue/core";
import type { QueueGroups } from "@workqueue/core/hooks";
import type { BlockedGroup, BlockedGroupList } from "../api.ts";
import type { Failures, KnownFailure } from "./failures.ts";

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
   * Whether the pool (of an in-memory queue) or the shared queue is paused. No item is handed out during a pause.
   */
  readonly isPaused: boolean;
  /** Time until the queue hands out items again, in milliseconds; 0 if no item asked for a pause of the queue. */
  readonly resumesInMs?: number;
  /** Whether the items have groups that can be paused. */
  readonly hasGroups?: boolean;
  /** Number of blocked items that are retries without budget; `undefined` if retries need no budget. */
  readonly blockedRetries?: number | undefined;
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

/** Returns the workers of a pool; `null` if there is no pool. */
export function workersOf(pool: PoolSnapshot | undefined): Workers | null {
  if (pool === undefined) return null;
  const { active, abandoned, concurrency, paused } = pool;
  return { active, abandoned, concurrency, paused };
}

export interface DelayedLook {
  readonly item: unknown;
  readonly priority: number;
  readonly dueInMs: number;
  /** Entry of a retry that is due and blocked because there is no budget; `undefined` for a delayed item. */
  readonly blocked?: ReadyEntry<unknown>;
}

export interface LookFailing {
  readonly item: unknown;
  readonly attempts: number;
  readonly error: string;
  readonly ago: number | null;
  readonly dueInMs: number | null;
  /** Time since the attempt timed out, in milliseconds, if its handler still runs in this process. */
  readonly abandonedFor?: number | undefined;
}

export interface LookRunning {
  readonly item: unknown;
  readonly attempt: number | null;
  readonly for: number | null;
  /** Time since the attempt timed out, in milliseconds, if it has timed out. */
  readonly abandonedFor?: number | undefined;
}

/** Delayed items of a queue. */
export interface DelayedItems {
  /** Items in no particular order. The iteration may continue in later turns of the event loop. */
  readonly items: Iterable<DelayedLook>;
  /** Number of delayed items that were not read. */
  readonly more: number;
}

/**
 * Maximum length of a list. Engines return at most this many items at once, and pools list at most this many failing
 * items.
 */
export const MAX_LISTED = 1000;

/** Control of a queue, or a sentence that explains why the queue doesn't support the control. */
export type Can<F> = F | string;

/** Functions that pause and resume the work of a queue. */
export interface Pausing {
  /** Pauses work. Returns the number of this pause, if the queue counts pauses. */
  pause(): number | void | Promise<number | void>;
  resume(): void | Promise<void>;
  /** Reports whether nobody has paused again since the pause with this number. Missing if only the engine knows. */
  isLatest?(pause: number | void): boolean;
  /** Ends the pause with this number: resumes work, unless someone has paused it again since. */
  end(pause: number | void): void | Promise<void>;
}

export interface Source extends Partial<Disposable> {
  /** Name of the engine: `"memory"`, or that of a shared queue. */
  readonly engine: string;
  /** Name given to the queue when it was created. */
  readonly queueName: string;
  keyOf(item: unknown): unknown;
  /** Last errors of the failing items. For a shared queue, only of those that the engine lists. */
  readonly failures: Failures;
  /** Returns the last failure of an item, if it is failing and its error is known. */
  failureOf(item: unknown): KnownFailure | undefined;
  /** Returns the time until an item is due, in milliseconds, if the item is delayed and the time is known. */
  dueInMs?(item: unknown): number | undefined;
  /** Reports whether the last attempt at an item failed, as far as this process knows. */
  isFailing(item: unknown): boolean;
  /**
   * Returns the current state of the queue. The time that this takes depends on `limit`, not on the size of the queue.
   */
  look(limit: number): Look | Promise<Look>;
  /** Returns all delayed items, but at most as many as can be fetched at once. */
  delayedItems(): DelayedItems | Promise<DelayedItems>;
  /** Returns the retries that are due and blocked because there is no budget. Missing for a shared queue. */
  blockedRetries?(): Iterable<DelayedLook>;
  /**
   * Returns the number of delayed items that `delayedItems` would return. The lists of `look` must have been read with
   * the limit `MAX_LISTED`.
   */
  findable(look: Look): number;
  /** Whether each item is a string. Such an item can be retried or taken back without a search. */
  readonly hasTexts: boolean;
  /** Reason why delayed items can't be made ready; `undefined` if they can be made ready. */
  readonly cannotRetry?: string | undefined;
  /**
   * Makes a delayed item or a blocked retry ready. Returns `false` if that is not possible, for example because the
   * item is no longer delayed.
   */
  retry(item: DelayedLook): boolean | Promise<boolean>;
  /** Removes a delayed item and forgets its failures. Returns `false` if the item was not delayed. */
  takeBack(item: DelayedLook): boolean | Promise<boolean>;
  /** Cancels an item. Returns the state in which it was; `undefined` if it was in none. Missing if not possible. */
  readonly cancel?: ((item: unknown) => string | undefined | Promise<string | undefined>) | undefined;
  readonly pausing: Can<Pausing>;
  /** Groups of the items; `undefined` if items have none, or none that can be paused. */
  readonly groups?: GroupList | undefined;
}

/** Number of blocked items by reason. */
export type BlockedFor = Readonly<Partial<Record<BlockedGroup["reason"], number>>>;

/** Returns the number of blocked items by reason. */
export function blockedForIn(groups: Iterable<Pick<BlockedGroup, "reason" | "blocked"> | undefined>): BlockedFor {
  const counts: Partial<Record<BlockedGroup["reason"], number>> = {};
  for (const group of groups) if (group?.blocked) counts[group.reason] = (counts[group.reason] ?? 0) + group.blocked;
  return counts;
}

/** Groups of a queue that are paused or have blocked items. */
export interface GroupList {
  /** Whether the queue is known to have no groups. */
  readonly isMissing: boolean;
  /** Called after a change to the queue. */
  forget(): void;
  /** Returns the number of blocked items by reason, in the groups that are known to have some. */
  blockedFor(): BlockedFor;
  /** Returns at most `limit` of the groups whose names match, with the most blocked items first; `null` if none can. */
  list(search: string, limit: number): BlockedGroupList | null | Promise<BlockedGroupList>;
  /** Pauses the group with this name. Returns the time until the end of the pause, in milliseconds. */
  pause(name: string, ms: number): number | Promise<number>;
  /** Ends the pause of the group with this name. Returns `false` if the group is known not to be paused. */
  resume(name: string): boolean | Promise<boolean>;
}

/** Groups of the items of a queue in memory. */
export interface Groups extends Pick<QueueGroups, "groupNames" | "blockOf"> {
  /** Pauses a group, for a number of milliseconds. If the group is already paused, the later end applies. */
  pause(group: unknown, ms: number): void;
  /** Ends the pause of a group. */
  resume(group: unknown): void;
}
