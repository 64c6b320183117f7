import type { Clock } from "../base/clock.ts";
import type { QueueDisciplineFor } from "./discipline.ts";
import type { MetricsProvider } from "./metrics.ts";

/**
 * A queue of things that need work.
 *
 * An item that is added again while it is ready changes nothing. One that is added again while somebody
 * works on it is put back, once, when that work is done. So an item is worked on by one holder at a time,
 * and at least once after its last `add`. The semantics are those of `Typed` in client-go's
 * [`util/workqueue`](https://pkg.go.dev/k8s.io/client-go/util/workqueue).
 *
 * Made by {@linkcode createWorkQueue}.
 */
export interface WorkQueue<T> extends AsyncIterable<T>, Disposable {
  /** The name given at creation, `""` by default. Metrics carry it. */
  readonly name: string;

  /** What the queue de-duplicates by; absent where that is the item itself. The layers above take it over. */
  keyOf?(item: T): unknown;

  /** The clock given at creation; absent where it was the system's. The layers and pools above take it over. */
  readonly clock?: Clock;

  /**
   * Says that the item needs work. Ignored once the queue is shutting down.
   *
   * @param item The item.
   * @param options The item's priority, for a discipline that looks at it.
   * @throws {TypeError} If `options` is no object, has an unknown option, or has a priority that is no finite number.
   */
  add(item: T, options?: AddOptions): void;

  /**
   * The number of items that may be handed out now: not being processed, not waiting for a delay, not blocked by a
   * discipline.
   */
  readonly length: number;

  /** The number of items that were handed out and are not done. */
  readonly processing: number;

  /**
   * Waits for an item and hands it out. Waiters are served in the order they came.
   *
   * Give the item back by disposing the lease (`using lease = await queue.get()`) or by `done(item)`.
   *
   * @param options With a `signal` that aborts the wait; no item is lost by that.
   * @returns A lease on the item, or `Shutdown` when the queue was shut down and nothing is ready.
   * @throws The signal's reason (as a rejection), if the signal aborts before an item is there.
   * @throws {TypeError} As a rejection, if `options` is no object of options: a signal by itself, say.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<Lease<T> | Shutdown>;

  /** Hands out an item that is ready; `undefined` if there is none right now. */
  tryGet(): Lease<T> | undefined;

  /** Says that the work on the item ended. Ignored if nobody holds the item. */
  done(item: T): void;

  /** Whether the queue was shut down: nothing more can be added. */
  readonly shuttingDown: boolean;

  /**
   * Takes no more items. Those ready are still handed out, then `get` gives `Shutdown`.
   * Ends the wait of `shutDownWithDrain`. Disposing the queue calls it.
   */
  shutDown(): void;

  /**
   * Shuts down and waits until nothing is ready and nobody holds an item, or until `shutDown` is called.
   *
   * @param options What becomes of items that wait for their delay, and a signal that ends the drain.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} As a rejection, if an option is unknown or not what it should be. The queue goes on then.
   */
  shutDownWithDrain(options?: DrainOptions): Promise<void>;

  /**
   * Waits until there has been, since the call, a moment with nothing ready, blocked, waiting for a delay or being
   * processed: all is done, retries included.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} As a rejection, if `options` is no object of options.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Waits until fewer items than that are ready, blocked or waiting for a delay, or until the queue is shut down:
   * what a producer awaits before it adds more. Everybody who waits goes on at once when it is so.
   *
   * @param count A positive integer.
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} As a rejection, if `options` is no object of options, or `count` no number.
   * @throws {RangeError} As a rejection, if `count` is no positive integer.
   */
  whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Shows what is in the queue. The counts are exact, the lists have at most `limit` items each; making one takes time
   * by that limit, and hardly by the number of items.
   *
   * @param options With a `limit`: a non-negative integer, 100 by default.
   * @throws {TypeError} If `options` is no object of options, or `limit` no number.
   * @throws {RangeError} If `limit` is no non-negative integer.
   */
  snapshot(options?: SnapshotOptions): QueueSnapshot<T>;
}

/** What is said of an item when it is added. */
export interface AddOptions {
  /**
   * How urgent the item is; a finite number, and a higher one is more urgent. Of several adds that fold into one, the
   * highest counts. A queue without a discipline that looks at it, as first in, first out is, passes it on only.
   *
   * @default {0}
   */
  priority?: number | undefined;
}

/** How much a snapshot shows. */
export interface SnapshotOptions {
  /**
   * How long each list may be; a non-negative integer.
   *
   * @default {100}
   */
  limit?: number | undefined;
}

/**
 * What is in a queue at one moment. Beside the items there are only numbers and strings, so it can be sent as JSON if
 * they can.
 */
export interface QueueSnapshot<T> {
  /** The queue's name. */
  name: string;
  /** How many items may be handed out now. */
  ready: number;
  /** How many items are ready and blocked by the discipline. */
  blocked: number;
  /** How many items wait for their delay. */
  delayed: number;
  /** How many items were handed out and are not done. */
  processing: number;
  /**
   * Items that may be handed out now, the next one first, as far as the discipline can tell that; then others in no
   * particular order.
   */
  readyItems: { item: T; priority: number }[];
  /** Items that wait, and in how many milliseconds each is due; the earliest first. */
  delayedItems: { item: T; priority: number; dueInMs: number }[];
  /** Items that are being processed, and whether each was added again meanwhile. */
  processingItems: { item: T; priority: number; addedAgain: boolean }[];
}

/** The right to work on an item. While it is held, the item's key is handed to nobody else. */
export interface Lease<T> extends Disposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; tells a lease from {@linkcode Shutdown}. */
  readonly shutdown: false;
  /** The priority that the item was handed out with: the highest of the adds that led to it. */
  readonly priority: number;
  /**
   * Reports whether the item was added again since it was handed out; `false` once it is given back. Works without its
   * lease as well (`const { addedAgain } = lease`).
   */
  readonly addedAgain: () => boolean;
  /** The item's key: what `keyOf` returned when the item was added. Leases of other queues may not have it. */
  readonly key?: unknown;
}

/** What `get` gives once the queue is shut down and nothing is ready. Disposing it does nothing. */
export interface Shutdown extends Disposable {
  /** Always `undefined`. */
  readonly item: undefined;
  /** Always `true`; tells it from a {@linkcode Lease}. */
  readonly shutdown: true;
}

/** How to drain a queue. */
export interface DrainOptions {
  /**
   * What happens to delayed items, and to items that fail during the drain:
   *
   * - `"drop"` drops delayed items, and gives up an item that fails;
   * - `"flush"` makes delayed items ready now, and retries an item that fails when its limiter says so;
   * - `"wait"` leaves delayed items until they are due, and retries as `"flush"` does.
   *
   * With `"flush"` and `"wait"` the drain ends when every item is done or given up. In every drain, a handler that asks
   * for `requeue` or `requeueAfter` is done.
   *
   * @default {"drop"}
   */
  delayed?: "drop" | "flush" | "wait" | undefined;
  /**
   * Ends the drain when it aborts, as `shutDown` does: delayed items are dropped, retries included. The drain's promise
   * rejects with the signal's reason. The promises of other drains that wait resolve, although items were dropped.
   * Without a signal, a drain that no worker serves waits for ever, and so does a `"flush"` or `"wait"` drain of an
   * item that always fails, unless `maxRetries` gives it up.
   */
  signal?: AbortSignal | undefined;
}

/** The options of {@linkcode createWorkQueue}. */
export interface WorkQueueOptions<T> {
  /**
   * The queue's name, as a label of its metrics.
   *
   * @default {""}
   */
  name?: string | undefined;
  /**
   * Items with the same key (compared as `Map` does) are the same item, and the newest of them is the one
   * handed out. By default an item is its own key, so objects are compared by identity. An item that is added
   * again while it is held, as a retry does, is older than what was added since.
   */
  keyOf?: ((item: T) => unknown) | undefined;
  /** Which ready item is next. By default the one that became ready first. */
  discipline?: QueueDisciplineFor<T> | undefined;
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /** Where measurements go. As in client-go, a queue without a name is not measured. */
  metrics?: MetricsProvider | undefined;
  /**
   * Names of priorities whose depth is measured by itself: `{ urgent: 100, background: -100 }`. An item is counted
   * under the name of the priority it was added with, if that has one. By default there are none.
   */
  priorityLevels?: Readonly<Record<string, number>> | undefined;
}
