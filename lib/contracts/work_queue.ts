import type { Clock } from "../base/clock.ts";
import type { QueueDiscipline } from "./discipline.ts";
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

  /** Says that the item needs work. Ignored once the queue is shutting down. */
  add(item: T): void;

  /** The number of items ready to be handed out: not being processed, not waiting for a delay. */
  readonly length: number;

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
}

/** The right to work on an item. While it is held, the item's key is handed to nobody else. */
export interface Lease<T> extends Disposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; tells a lease from {@linkcode Shutdown}. */
  readonly shutdown: false;
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
   * What becomes of items whose delay has not passed: `"drop"` forgets them, `"flush"` makes them ready now,
   * `"wait"` waits for each until it is due. With `"wait"`, what fails meanwhile is tried again: what was in the queue
   * is worked on to its end.
   *
   * @default {"drop"}
   */
  waiting?: "drop" | "flush" | "wait" | undefined;
  /**
   * Ends the drain when it aborts, as `shutDown` does. The drain's promise rejects with the signal's reason; those of
   * other drains that wait resolve. Without it, a drain that no worker serves waits for ever.
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
  discipline?: QueueDiscipline<T> | undefined;
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /** Where measurements go. As in client-go, a queue without a name is not measured. */
  metrics?: MetricsProvider | undefined;
}
