import type {
  Duration,
  FailingItem,
  GiveUpReason,
  LimiterConfig,
  LimiterRegistry,
  MetricsProvider,
  Outcome,
  QueueSnapshot,
  Shutdown,
  SnapshotOptions,
  SourcedQueue,
} from "@workqueue/core";
import type { RedisClient } from "./connection/connection.ts";

/** Options of {@linkcode createRedisQueue}. */
export interface RedisQueueOptions<T = string> {
  /**
   * Name of the queue: a non-empty string without braces. Processes that use the same name on the same server and
   * database share the queue.
   */
  name: string;
  /**
   * Address of the server: `redis://user:password@host:port/database`, or `rediss://` for TLS. Can't be combined with
   * `client`.
   *
   * @default {"redis://localhost:6379"}
   */
  url?: string | undefined;
  /**
   * Client to use instead of `url`: a client of `redis` or `@redis/client` (version 5 or later), or of `ioredis`
   * (version 5 or later) with `autoResendUnfulfilledCommands: false`. For messages, the queue opens a second connection
   * with the same options. It closes only that connection; the client stays yours.
   */
  client?: RedisClient | undefined;
  /**
   * Limiter for failed items, as in a config document. Its state is on the server and shared by all processes. Its
   * config comes from each caller.
   *
   * @default {client-go's default controller limiter}
   */
  limiter?: LimiterConfig | undefined;
  /**
   * Limiter types that `limiter` may use. A type that is not built in needs `delayAfter`.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * Time that other processes wait before they take over the items of a lost process. A process renews its lease while
   * it works on items. All processes of a queue should use the same duration. From 100 ms to one day.
   *
   * @default {"30s"}
   */
  leaseDuration?: Duration | undefined;
  /**
   * Number of lost holders at which an item is given up: a positive integer. Values below 3 count as 3, because an item
   * must be tried alone before it is given up.
   *
   * @default {5}
   */
  maxStalls?: number | undefined;
  /**
   * Time limit of a call, retries included. After that, the call rejects. Calls are retried while the server is away or
   * refuses calls for now, for example because it is loading its data or has too few replicas. From 100 ms to one day.
   *
   * @default {"10s"}
   */
  callTimeout?: Duration | undefined;
  /**
   * Returns the key of an item. Items with the same key are one item, and the newest is handed out. Items are stored as
   * JSON. All processes of a queue must use the same `keyOf`, or none. Without `keyOf`, items must be strings and are
   * their own keys.
   */
  keyOf?: ((item: T) => string) | undefined;
  /**
   * Effect of adding an item that is delayed. With `"keep"`, the item is ready now, and again when its delay ends. With
   * `"replace"`, the item is ready now, and its delay ends. In-memory queues have the same option.
   *
   * @default {"keep"}
   */
  addWhileDelayed?: "keep" | "replace" | undefined;
  /**
   * Metrics provider for this process's own work. The queue sends it `queueLatency`, `workDuration`, `unfinishedWork`,
   * `longestRunningProcessor` and `retries`. The pools of the queue send it `active`, `concurrency`, `failures` and
   * `givenUp`. For metrics of the whole queue, see {@linkcode redisQueueMetrics}. By default, nothing is measured.
   */
  metrics?: MetricsProvider | undefined;
  /**
   * Called with each error that doesn't belong to an attempt of a pool:
   *
   * - a call that failed, whether its promise is awaited or not;
   * - the loss of a lease that was taken with `get`, when its work ends;
   * - an item that was given up after `maxStalls`;
   * - an item that this process can't read;
   * - once, a server whose `maxmemory-policy` is not `noeviction`.
   *
   * Failed attempts are reported to `onError` of their pool. Without this callback, errors are written to
   * `console.error`, at most one line per second.
   */
  onQueueError?: ((error: unknown) => void) | undefined;
}

/**
 * Options of {@linkcode redisQueues}: the server, and settings that all its queues share. All other settings come from
 * the config document, or are given for each queue.
 */
export type RedisQueuesOptions = Omit<
  RedisQueueOptions<never>,
  "name" | "limiter" | "limiters" | "addWhileDelayed" | "keyOf"
>;

/**
 * Work queue on Redis or Valkey that many processes share. All results cover all processes. Only shutdown concerns this
 * process alone.
 *
 * Each failed call is reported to `onQueueError`. No rejection is left unhandled, so a promise may be awaited or not.
 * Calls reject with:
 *
 * - a {@linkcode RedisConnectionError} if the server is away for longer than `callTimeout`, or if a reply was lost and
 *   the call must not be repeated;
 * - the server's error if the server refuses the call, as it refuses adds when its memory is full;
 * - a `TypeError` or `RangeError` if an argument is invalid;
 * - an `Error` after {@linkcode RedisQueue.shutDown} of this queue object.
 *
 * Made by {@linkcode createRedisQueue}.
 *
 * @example Taking items by hand
 * ```ts ignore
 * import { createRedisQueue } from "@workqueue/redis";
 * import { assertEquals } from "@std/assert";
 *
 * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * await queue.add("cat.jpg");
 * const lease = await queue.get();
 * if (!lease.shutdown) {
 *   assertEquals([lease.item, lease.attempt], ["cat.jpg", 1]);
 *   await lease.finish({ requeueAfter: "1h" }); // false if the lease was lost
 * }
 * assertEquals((await queue.counts()).delayed, 1);
 * ```
 *
 * @typeParam T The type of the items.
 */
export interface RedisQueue<T = string> extends AsyncIterable<T>, AsyncDisposable, SourcedQueue<T> {
  /** Name of the queue. */
  readonly name: string;

  /** The `keyOf` option, if one was given. */
  readonly keyOf?: ((item: T) => string) | undefined;

  /**
   * Adds an item. An item that is ready keeps its place. An item that is processing is handed out once more when it is
   * done. An item that was given up becomes ready again. For a delayed item, see `addWhileDelayed`.
   *
   * @param item The item.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if the item has no valid key or no JSON form.
   */
  add(item: T): Promise<void>;

  /**
   * Adds items in their order, in calls of up to 200 items. If a call fails, the items of earlier calls stay added.
   *
   * @param items The items.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if an item has no valid key or no JSON form. No item is added then.
   */
  addAll(items: Iterable<T>): Promise<void>;

  /**
   * Adds an item after a delay. A delayed item keeps the earlier of its two deadlines. No delay ends after the year
   * 2255.
   *
   * @param item The item.
   * @param delay Milliseconds, or a string such as `"5s"`. If the delay is zero or negative, the item is added now.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {RangeError} As a rejection, if `delay` is `NaN` or infinite.
   * @throws {TypeError} As a rejection, if `delay` is not a duration, or the item has no valid key or no JSON form.
   */
  addAfter(item: T, delay: Duration): Promise<void>;

  /**
   * Counts a failure of the item, and adds the item after the limiter's delay, or after `minDelay` if that is longer.
   * The call is not repeated if its reply is lost: the failure may have been counted although the promise rejects.
   *
   * @param item The item.
   * @param options Shortest delay (`minDelay`), in milliseconds or as a string such as `"30s"`; 0 by default.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`, or if the reply
   * was lost.
   * @throws {RangeError} As a rejection, if `minDelay` is `NaN` or infinite, or the limiter returns an invalid delay.
   * @throws {TypeError} As a rejection, if an option is unknown or invalid, or the item has no valid key or no JSON
   * form.
   */
  addRateLimited(item: T, options?: { minDelay?: Duration | undefined }): Promise<void>;

  /**
   * Takes back a delayed item. Does nothing if the item is not delayed.
   *
   * @param item The item, or another item with the same key.
   * @returns Whether the item was delayed. May be `false` for a delayed item if a reply was lost and the call was
   * repeated.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if the item has no valid key.
   */
  cancelDelayed(item: T): Promise<boolean>;

  /**
   * Makes a delayed item ready, after all items that are ready. An item that is processing is handed out once more when
   * it is done. The failures of the item stay counted. Does nothing if the item is not delayed.
   *
   * @example Usage
   * ```ts ignore
   * import { createRedisQueue } from "@workqueue/redis";
   * import { assertEquals } from "@std/assert";
   *
   * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
   * await queue.addAfter("cat.jpg", "1h");
   * assertEquals(await queue.promoteDelayed("cat.jpg"), true);
   * assertEquals(await queue.promoteDelayed("cat.jpg"), false); // it is ready
   * ```
   *
   * @param item The item, or another item with the same key.
   * @returns Whether the item was delayed. May be `false` for a delayed item if a reply was lost and the call was
   * repeated.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if the item has no valid key.
   */
  promoteDelayed(item: T): Promise<boolean>;

  /**
   * Forgets the failures of an item.
   *
   * @param item The item, or another item with the same key.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if the item has no valid key.
   */
  forget(item: T): Promise<void>;

  /**
   * Returns the number of failures of an item that the limiter has counted since they were last forgotten.
   *
   * @param item The item, or another item with the same key.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if the item has no valid key.
   */
  numRequeues(item: T): Promise<number>;

  /**
   * Takes the next item. Waits if no item is ready. While the server is away, `get` keeps waiting, and errors are
   * reported to `onQueueError`.
   *
   * @param options A `signal` that ends the wait.
   * @returns A lease on the item; `Shutdown` after a shutdown of this queue object.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} As a rejection, if an option is unknown or invalid.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<RedisLease<T> | Shutdown>;

  /**
   * Pauses the queue for all processes: no item is handed out to any process until {@linkcode resume}. Running handlers
   * continue, and so do adds and retries. The pause is stored on the server, so it outlives the processes. To pause a
   * single pool, call `pause` of that pool.
   *
   * @example Usage
   * ```ts ignore
   * import { createRedisQueue } from "@workqueue/redis";
   *
   * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
   * await queue.pause(); // no process takes an item
   * await queue.resume(); // idle workers take items at once
   * ```
   *
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   */
  pause(): Promise<void>;

  /**
   * Ends a {@linkcode pause}, whichever process began it. Does nothing if the queue is not paused.
   *
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   */
  resume(): Promise<void>;

  /**
   * Counts the items of the queue, over all processes. A call costs the server about as much as an add, however many
   * items there are.
   *
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   */
  counts(): Promise<QueueCounts>;

  /**
   * Returns the contents of the queue, over all processes, in one call: its {@linkcode counts}, its totals since it was
   * created, and lists of up to `limit` items each. Failing items come with their last error, and the items with the
   * most attempts come first. To find them, the call skips up to 1,000 keys that have failed and will not be retried.
   *
   * @example Usage
   * ```ts ignore
   * import { runWorkers } from "@workqueue/core";
   * import { createRedisQueue } from "@workqueue/redis";
   * import { assertEquals } from "@std/assert";
   *
   * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
   * const pool = runWorkers(queue, (image) => {
   *   throw new Error(`cannot read ${image}`);
   * }, { maxRetries: 5, onError() {} });
   * await queue.add("cat.jpg");
   * while ((await queue.counts()).failing === 0);
   * const { failingItems: [cat], paused } = await queue.snapshot({ limit: 10 });
   * assertEquals([cat?.item, cat?.error, paused], ["cat.jpg", "Error: cannot read cat.jpg", false]);
   * await pool.stop();
   * ```
   *
   * @param options A `limit`: an integer from 0 to 1000, 100 by default.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {RangeError} As a rejection, if `limit` is out of range.
   * @throws {TypeError} As a rejection, if an option is unknown or of the wrong type.
   */
  snapshot(options?: SnapshotOptions): Promise<RemoteQueueSnapshot<T>>;

  /**
   * Waits until no item is ready, delayed or processing, in any process. Checks twice per second, so it may resolve
   * half a second late, and may miss a short idle moment.
   *
   * @param options A `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {TypeError} As a rejection, if an option is unknown or invalid.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /** Whether this queue object was shut down. */
  readonly shuttingDown: boolean;

  /**
   * Shuts down this queue object. This process takes no more items, and its adds reject. Items that it is processing
   * can still be finished. The queue itself and other processes continue. The connection is closed when this process
   * has no leases left.
   */
  shutDown(): void;

  /**
   * Shuts down this queue object, and waits until this process has finished its items and reported every outcome to the
   * server.
   *
   * @param options A `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   * @throws {TypeError} As a rejection, if an option is unknown or invalid. The queue object is not shut down then.
   */
  shutDownWithDrain(options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** Counts of a queue, over all processes. */
export interface QueueCounts {
  /** Items that can be handed out now. */
  ready: number;
  /** Items whose delay has passed and that can't be handed out yet. Always 0 on Redis. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /** Items whose failures are not forgotten. */
  failing: number;
  /** Items that were given up. The server keeps the newest 10,000, so the count is never higher. */
  givenUp: number;
  /** Milliseconds since the oldest ready item became ready; 0 if no item is ready. */
  oldestReadyMs: number;
}

/**
 * Contents of a queue, over all processes. Apart from the items, it consists of numbers, strings and booleans, so it
 * can be sent as JSON if the items can.
 */
export interface RemoteQueueSnapshot<T = string> extends QueueSnapshot<T>, QueueCounts {
  /** Items whose delay has passed and that can't be handed out yet. Always 0 on Redis. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /** Whether the queue is paused, by {@linkcode RedisQueue.pause}. */
  paused: boolean;
  /** Counts since the queue was created. For rates, compare two snapshots. */
  totals: QueueTotals;
  /** Items that have failed and will be retried, those with the most attempts first; up to `limit`. */
  failingItems: Omit<FailingItem<T>, "failedAgoMs">[];
}

/** Counts of the server since the queue was created. Processes of a release without these counters are not included. */
export interface QueueTotals {
  /** Number of times that an item became ready: hand-outs, plus the items that are ready now. */
  added: number;
  /** Number of times that an item was handed out. */
  handedOut: number;
  /** Attempts that failed with an error, or gave up their item. */
  failed: number;
  /** Number of times that an item was given up. */
  givenUp: number;
  /** Number of times that an item was given up, by reason. Items given up by `finish` count as `"terminal"`. */
  givenUpFor: Record<GiveUpReason, number>;
}

/**
 * Right to work on an item. The lease is renewed until the work is finished. Disposing the lease ends the work and
 * leaves the failures as they are, like `done` of an in-memory queue.
 */
export interface RedisLease<T = string> extends AsyncDisposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; tells a lease from `Shutdown`. */
  readonly shutdown: false;
  /** Number of this attempt: 1 plus the failures that were counted and not forgotten. */
  readonly attempt: number;
  /**
   * Fencing token. It grows with each item that the queue hands out: a system that stores the newest token can refuse
   * writes of an earlier holder.
   */
  readonly token: bigint;
  /** Aborts when the lease may have been lost. From then on, other processes may work on the item. */
  readonly signal: AbortSignal;
  /**
   * Ends the work. Without an outcome, the attempt succeeded, and the failures are forgotten. With an outcome:
   *
   * - `requeue: true` counts a failure, and adds the item again after the limiter's delay;
   * - `requeueAfter` forgets the failures, and adds the item again after this delay (milliseconds, or a string such as
   *   `"5s"`), if it is positive;
   * - `giveUp` forgets the failures, and stores the item as given up with this reason.
   *
   * Only the first call counts. Later calls return its result.
   *
   * @returns Whether the outcome counts. It does not if the lease was lost.
   * @throws {RedisConnectionError} As a rejection, if the server is away for longer than `callTimeout`.
   * @throws {RangeError} As a rejection, if `requeueAfter` is `NaN` or infinite.
   * @throws {TypeError} As a rejection, if the outcome is invalid or has a `priority`. The work has not ended then.
   * @throws The limiter's error (as a rejection), if the limiter throws.
   */
  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean>;
}
