import type { Duration } from "../base/duration.ts";
import type { GiveUpReason } from "./handler.ts";

/**
 * A queue that keeps the items that its pools gave up. Other systems call such items dead letters.
 *
 * All methods return promises, so the same code works with a queue in memory and with a queue outside this process.
 */
export interface GivenUpQueue<T> {
  /**
   * Returns a page of the kept given-up items, newest first.
   *
   * One call checks at most 10,000 items. With `search`, a page may therefore have fewer items than `limit` asks for,
   * even none, although there are more: continue with `cursor` as long as the page has one.
   *
   * @param options The search, the length of the page, and the `cursor` of the previous page.
   * @throws {Error} (as a rejection) If the queue keeps no given-up items.
   * @throws {TypeError} (as a rejection) If an option is unknown or has the wrong type.
   * @throws {RangeError} (as a rejection) If `limit` is a number but not an integer from 0 to 1,000.
   */
  givenUp(options?: GivenUpOptions): Promise<GivenUpPage<T>>;

  /**
   * Starts to add kept given-up items again, the oldest first. Their failures are forgotten, so each starts afresh,
   * with attempt 1 and priority 0. An item that is added is no longer kept. Items that are given up after the call are
   * not added again.
   *
   * Resolves when the redrive has begun. Without `rate`, all items are added as fast as possible, without blocking the
   * event loop. {@linkcode GivenUpQueue.redriveProgress} returns the progress of the redrive. A queue has one redrive
   * at a time. A shutdown of an in-memory queue ends its redrive.
   *
   * @param options The items to add, and their number per second. By default, all.
   * @returns The progress of the redrive so far.
   * @throws {Error} (as a rejection) If a redrive of the queue is running, the queue is shutting down, or the queue
   * keeps no given-up items.
   * @throws {TypeError} (as a rejection) If an option is unknown or has the wrong type.
   * @throws {RangeError} (as a rejection) If `rate` is a number but not positive and finite.
   */
  redrive(options?: RedriveOptions): Promise<RedriveProgress>;

  /** Returns the progress of the running redrive or else of the last one; `undefined` if there was none. */
  redriveProgress(): Promise<RedriveProgress | undefined>;

  /**
   * Stops the running redrive. Items that were not added yet are still kept. Does nothing if no redrive is running.
   *
   * @returns The progress of the running redrive or else of the last one; `undefined` if there was none.
   */
  stopRedrive(): Promise<RedriveProgress | undefined>;

  /**
   * Forgets kept given-up items. They can't be added again by a redrive.
   *
   * @param options The items to forget. By default, all.
   * @returns The number of forgotten items.
   * @throws {Error} (as a rejection) If the queue keeps no given-up items.
   * @throws {TypeError} (as a rejection) If an option is unknown or has the wrong type.
   */
  discard(options?: GivenUpSelection): Promise<number>;
}

/** Selection of kept given-up items. An item is selected if it matches every given member. */
export interface GivenUpSelection {
  /**
   * Text that the item's key or its error must contain, ignoring case. A key that is not a string is searched as JSON.
   */
  search?: string | undefined;
  /** Keys, one of which must be the item's key. */
  keys?: readonly unknown[] | undefined;
}

/** Options of {@linkcode GivenUpQueue.givenUp}. */
export interface GivenUpOptions {
  /** Text that the item's key or its error must contain, ignoring case. */
  search?: string | undefined;
  /**
   * Maximum length of the page: an integer from 0 to 1,000.
   *
   * @default {100}
   */
  limit?: number | undefined;
  /** The `cursor` of the previous page. By default, the page begins with the newest item. */
  cursor?: string | undefined;
}

/** Options of {@linkcode GivenUpQueue.redrive}. */
export interface RedriveOptions extends GivenUpSelection {
  /** Number of items to add per second, at most; positive. By default, there is no limit. */
  rate?: number | undefined;
}

/** Page of given-up items. */
export interface GivenUpPage<T> {
  /** The items, newest first. */
  items: GivenUpEntry<T>[];
  /** Pass this to the next call, for the next page. Absent after the last page. */
  cursor?: string;
  /** Number of all kept given-up items, whether or not they match the search. */
  total: number;
  /**
   * Number of given-up items that were dropped so far, because there were more than `keepGivenUp` allows or they were
   * too old.
   */
  dropped: number;
}

/** Given-up item that a queue keeps. */
export interface GivenUpEntry<T> {
  /** The item. */
  item: T;
  /** Its key. */
  key: unknown;
  /** The last error, on one line. */
  error: string;
  /** Number of attempts. */
  attempts: number;
  /** The reason for giving the item up. */
  reason: GiveUpReason;
  /** Group of the item. Absent if the queue's discipline has no groups. */
  group?: unknown;
  /**
   * Time since the first of the failures after which the item was given up, in milliseconds. These are all failures
   * that were counted since the item was last forgotten, `requeue` and calls of `addRateLimited` included.
   */
  firstFailedAgoMs: number;
  /** Time since the item was given up, in milliseconds. */
  givenUpAgoMs: number;
}

/** Progress of a redrive. */
export interface RedriveProgress {
  /** Number of items that were added again. */
  redriven: number;
  /** Number of kept items that the redrive has not checked yet. With `search`, some of these items may not match it. */
  left: number;
  /** Whether the redrive is running. */
  running: boolean;
}

/** Store for the given-up items of one queue. Made by {@linkcode createGivenUpStore}. */
export interface GivenUpStore extends Readonly<GivenUpRetention> {
  /**
   * Changes the limits. Items over the new limits are dropped.
   *
   * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
   * @throws {RangeError} If `max` is a number but not a positive integer, or `maxAge` is shorter than 1 ms.
   */
  update(options: GivenUpRetention): void;
}

/** Limits on the given-up items that a queue keeps. */
export interface GivenUpRetention {
  /** Maximum number of items, a positive integer. The oldest items are dropped first. */
  max: number;
  /** Maximum time since an item was given up; at least 1 ms. By default, there is no limit. */
  maxAge?: Duration | undefined;
}
