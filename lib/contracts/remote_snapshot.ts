/** Views of queues that processes share: the one shape that engines make and displays read. */

import type { GiveUpReason } from "./handler.ts";
import type { QueueSnapshot } from "./work_queue.ts";
import type { FailingItem } from "./workers.ts";

/** Number of items in each state of a queue, across all processes. */
export interface QueueCounts {
  /** Items that can be handed out now. */
  ready: number;
  /** Items whose delay has passed, but whose group is at a limit or paused, and retries without budget. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /**
   * Items that have failed and whose failures have not been forgotten. With `forgetAfter`, the number may include items
   * whose failures were forgotten in the meantime.
   */
  failing: number;
  /** Items that were given up. Engines keep only the newest. */
  givenUp: number;
  /** Milliseconds since the oldest ready or blocked item became ready or was due; 0 if there is none. */
  oldestReadyMs: number;
}

/**
 * Contents of a queue, across all processes. A snapshot can be sent as JSON if its items can, because all other values
 * are numbers, strings and booleans. If this process can't read an item, because a process without `keyOf` added it, a
 * list has its key as the item.
 */
export interface RemoteQueueSnapshot<T = string> extends QueueSnapshot<T>, QueueCounts {
  /** Items whose delay has passed, but whose group is at a limit or paused, and retries without budget. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /** Whether the queue is paused in all processes. */
  paused: boolean;
  /** Counts since the queue was created. For rates, compare two snapshots. */
  totals: QueueTotals;
  /** Items that have failed and will be retried, up to `limit`. The items with the most attempts come first. */
  failingItems: Omit<FailingItem<T>, "failedAgoMs">[];
  /**
   * Groups with blocked items, up to `limit`. The groups with the most blocked items come first. If there are more
   * groups, the choice is arbitrary. Missing if the queue has no groups, because its discipline is not `fair`.
   */
  blockedGroups?: RemoteBlockedGroup[];
  /** Number of blocked items that are retries without budget. Missing if the queue has no retry budget. */
  blockedRetries?: number;
}

/** Group of items that has blocked items. */
export interface RemoteBlockedGroup {
  /** Name of the group. */
  group: string;
  /**
   * - `"paused"`: the group is paused;
   * - `"probing"`: the group was paused, and its other items wait until one item, the probe, is done;
   * - `"rate"`: the rate of the group allows no further item now;
   * - `"limit"`: as many items of the group are processing as its limit allows.
   */
  reason: "paused" | "probing" | "rate" | "limit";
  /** Number of blocked items. */
  blocked: number;
  /** Time until one more item becomes ready, in milliseconds; `null` if it depends on other items of the group. */
  resumesInMs: number | null;
}

/** Totals since the queue was created. Processes that run a release without these counters are not included. */
export interface QueueTotals {
  /** Number of times that an item became ready: the number of hand-outs plus the number of items that are ready now. */
  added: number;
  /** Number of times that an item was handed out. */
  handedOut: number;
  /** Number of attempts that failed with an error or gave up their item. */
  failed: number;
  /** Number of times that an item was given up. */
  givenUp: number;
  /**
   * Number of times that an item was given up, by reason. For items given up through `finish({ giveUp })`, the reason
   * is `"terminal"`.
   */
  givenUpFor: Record<GiveUpReason, number>;
}
