import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import type { QueueDisciplineFor } from "./discipline.ts";
import type { MetricsProvider } from "./metrics.ts";

/**
 * A queue of items that need work.
 *
 * Adding an item that is ready changes nothing. An item that is added while it is processing becomes ready once more
 * when it is done. So no item is processed by two consumers at once, and each item is processed at least once after it
 * was last added. The semantics are those of `Typed` in client-go's
 * [`util/workqueue`](https://pkg.go.dev/k8s.io/client-go/util/workqueue).
 *
 * Made by {@linkcode createWorkQueue}.
 */
export interface WorkQueue<T> extends AsyncIterable<T>, Disposable {
  /** The name given at creation; `""` by default. Metrics use the name as a label. */
  readonly name: string;

  /**
   * Returns the key by which the queue de-duplicates an item. Absent if each item is its own key.
   */
  keyOf?(item: T): unknown;

  /**
   * The clock given at creation. Absent if the queue uses the system clock. The queue's pools use the same
   * clock.
   */
  readonly clock?: Clock | undefined;

  /**
   * Adds the item. Does nothing once the queue is shutting down.
   *
   * @param item The item.
   * @param options The item's priority, for a discipline that uses priorities.
   * @throws {TypeError} If `options` is not an object or has an unknown option, or `priority` is not a number.
   * @throws {RangeError} If `priority` is `NaN` or infinite.
   * @throws The error that the queue's discipline or `keyOf` throws. In that case, the item is not added.
   */
  add(item: T, options?: AddOptions): void;

  /**
   * Number of ready items, which can be handed out now. Items that are blocked, delayed or processing are not counted.
   */
  readonly length: number;

  /** Number of items that were handed out and are not done yet. */
  readonly processing: number;

  /**
   * Waits for an item and hands it out. Calls are served in order.
   *
   * To end the work on the item, dispose the lease (`using lease = await queue.get()`) or call `done(item)`.
   *
   * @param options `signal`: aborts the wait, without losing an item.
   * @returns A lease on the item, or `Shutdown` if the queue was shut down and no item is ready.
   * @throws The signal's reason (as a rejection), if the signal aborts before an item is handed out.
   * @throws {TypeError} (as a rejection) If `options` is not an object or has an unknown option. Pass `{ signal }`, not
   * the signal itself.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown>;

  /** Hands out the next ready item. Returns `undefined` if no item is ready. */
  tryGet(): Lease<T> | undefined;

  /** Marks the item as done. Does nothing if the item is not processing. */
  done(item: T): void;

  /** Whether the queue was shut down or is draining. In both cases, added items are ignored. */
  readonly shuttingDown: boolean;

  /**
   * Shuts down the queue: added items are ignored, ready items are still handed out, and then `get` returns `Shutdown`.
   * Also ends any drain that is in progress. Disposing the queue calls this method.
   */
  shutDown(): void;

  /**
   * Shuts down the queue and waits until no item is ready, blocked or processing, or until `shutDown` is called. By
   * default, delayed items are dropped.
   *
   * @param options `delayed`: what happens to delayed items; `signal`: ends the drain.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} (as a rejection) If an option is unknown or invalid. In that case, the queue is not shut down.
   */
  shutDownWithDrain(options?: DrainOptions): Promise<void>;

  /**
   * Waits until no item is ready, blocked, delayed or processing: all work is done, including retries. The first idle
   * moment resolves the promise, even if items are added before the awaiting code continues.
   *
   * @param options `signal`: ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} (as a rejection) If `options` is not an object or has an unknown option.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Waits until fewer than `count` items are ready, blocked or delayed, or until the queue is shut down. A producer can
   * await this method before it adds more items. All pending calls with the same `count` resolve at the same time.
   *
   * @param count A positive integer.
   * @param options `signal`: ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} (as a rejection) If `options` is not an object or has an unknown option, or `count` is not a
   * number.
   * @throws {RangeError} (as a rejection) If `count` is a number but not a positive integer.
   */
  whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Pauses a group of items: until the pause ends, the group's ready items are blocked. They take no worker, and other
   * groups go on. Items of the group that are processing are not affected. A group may be paused before it has items.
   *
   * When the pause ends, one item of the group is handed out as a probe. The other items follow once the probe is done,
   * whatever its outcome, unless the group was paused again in the meantime.
   *
   * @param group The group, as the discipline's `groupOf` returns it: with a `separator`, the text before it.
   * @param duration Length of the pause from now: milliseconds, or a string such as `"30s"`. Zero or less has no
   * effect. If the group is already paused, the later end applies. To set an earlier end, call `resumeGroup` first.
   * @throws {TypeError} If `duration` is neither a duration nor a number.
   * @throws {RangeError} If `duration` is `NaN` or infinite.
   * @throws {Error} If the queue has no groups, because its discipline is not a fair one.
   */
  pauseGroup(group: unknown, duration: Duration): void;

  /**
   * Ends the pause of a group now, without a probe. Does nothing if the group is not paused.
   *
   * @param group The group.
   * @throws {Error} If the queue has no groups, because its discipline is not a fair one.
   */
  resumeGroup(group: unknown): void;

  /**
   * Returns a snapshot of the queue. The counts are exact. The lists have at most `limit` items each. The cost grows
   * with `limit`, but hardly with the number of items.
   *
   * @param options `limit`: maximum length of each list, a non-negative integer. Default: 100.
   * @throws {TypeError} If `options` is not an object or has an unknown option, or `limit` is not a number.
   * @throws {RangeError} If `limit` is a number but not a non-negative integer.
   */
  snapshot(options?: SnapshotOptions): QueueSnapshot<T>;
}

/** Options of {@linkcode WorkQueue.add}. */
export interface AddOptions {
  /**
   * Priority of the item: a finite number, higher is more urgent. If an item is added several times before it is handed
   * out, the highest priority applies. A first-in, first-out queue ignores priorities; a priority discipline uses them.
   *
   * @default {0}
   */
  priority?: number | undefined;
}

/** Options of a snapshot. */
export interface SnapshotOptions {
  /**
   * Maximum length of each list; a non-negative integer.
   *
   * @default {100}
   */
  limit?: number | undefined;
}

/**
 * State of a queue at one moment. Apart from the items, a snapshot contains only numbers, strings and booleans, so it
 * can be sent as JSON if the items can.
 */
export interface QueueSnapshot<T> {
  /** The queue's name. */
  name: string;
  /** Number of ready items, which can be handed out now. */
  ready: number;
  /**
   * Number of blocked items: their delay has passed, but they can't be handed out yet, for example because their group
   * is at a limit or paused, or because they are retries without budget.
   */
  blocked: number;
  /** Number of items whose delay has not passed. */
  delayed: number;
  /** Number of items that were handed out and are not done yet. */
  processing: number;
  /**
   * Ready items, in the order in which they will be handed out, as far as the discipline knows that order. Ready items
   * whose position is unknown follow in no particular order.
   */
  readyItems: { item: T; priority: number }[];
  /**
   * Delayed items, in the order in which they become due. `dueInMs` is the time until the item is due, in milliseconds.
   */
  delayedItems: { item: T; priority: number; dueInMs: number }[];
  /** Items that are processing. `addedAgain` shows whether the item has been added again since it was handed out. */
  processingItems: { item: T; priority: number; addedAgain: boolean }[];
}

/** The right to work on an item. Until the lease ends, the item's key is not handed out again. */
export interface Lease<T> extends Disposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; distinguishes a lease from {@linkcode Shutdown}. */
  readonly shutdown: false;
  /** Priority with which the item was handed out: the highest priority among the adds that led to this lease. */
  readonly priority: number;
  /**
   * Reports whether the item has been added again since it was handed out; `false` once the item is done. The function
   * can be destructured (`const { addedAgain } = lease`).
   */
  readonly addedAgain: () => boolean;
  /** The item's key, which `keyOf` returned when the item was added. Leases of third-party queues may lack it. */
  readonly key?: unknown;
}

/** Result of `get` once the queue is shut down and no item is ready. Disposing this object does nothing. */
export interface Shutdown extends Disposable {
  /** Always `undefined`. */
  readonly item: undefined;
  /** Always `true`; distinguishes this object from a {@linkcode Lease}. */
  readonly shutdown: true;
}

/** Options of {@linkcode WorkQueue.shutDownWithDrain}. */
export interface DrainOptions {
  /**
   * Treatment of delayed items, and of items that fail during the drain:
   *
   * - `"drop"` drops delayed items and gives up items that fail;
   * - `"flush"` makes delayed items ready now, and retries failed items after the limiter's delay;
   * - `"wait"` keeps delayed items until they are due and, like `"flush"`, retries failed items after the limiter's
   *   delay.
   *
   * With `"flush"` and `"wait"`, the drain ends when every item is done or given up. In every drain, an item whose
   * handler returns `requeue` or `requeueAfter` is done.
   *
   * @default {"drop"}
   */
  delayed?: "drop" | "flush" | "wait" | undefined;
  /**
   * Ends the drain when the signal aborts, with the same effect as `shutDown`: delayed items are dropped, including
   * retries. The drain's promise rejects with the signal's reason. The promises of other drains of the queue resolve,
   * even though items were dropped.
   *
   * Without a signal, a drain without workers never ends. A `"flush"` or `"wait"` drain doesn't end either if an item
   * always fails, unless `maxRetries` causes the item to be given up.
   */
  signal?: AbortSignal | undefined;
}

/** Options of {@linkcode createWorkQueue}. */
export interface WorkQueueOptions<T> {
  /**
   * Name of the queue, used as a label of its metrics.
   *
   * @default {""}
   */
  name?: string | undefined;
  /**
   * Returns the key of an item. Items with equal keys (compared as `Map` does) are the same item, and the newest of
   * them is handed out. By default, an item is its own key, so objects are compared by identity.
   *
   * An item that is added again while it is processing, for example as a retry, doesn't replace a newer item with the
   * same key that was added in the meantime.
   */
  keyOf?: ((item: T) => unknown) | undefined;
  /**
   * Order in which ready items are handed out. By default, first in, first out. Pass a discipline of your own through
   * `adaptDiscipline`.
   */
  discipline?: QueueDisciplineFor<T> | undefined;
  /**
   * Clock of the queue.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /**
   * Receives the queue's metrics. As in client-go, a queue without a name has no metrics. Pass a provider of your own
   * through `adaptMetrics`.
   */
  metrics?: MetricsProvider | undefined;
  /**
   * Names of the priorities for which the queue's depth is measured separately: `{ urgent: 100, background: -100 }`. An
   * item is counted under the name of the priority with which it was added, if that priority has a name. By default, no
   * priority has a name.
   */
  priorityLevels?: Readonly<Record<string, number>> | undefined;
}
