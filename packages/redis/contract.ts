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

/** The options of {@linkcode createRedisQueue}. */
export interface RedisQueueOptions<T = string> {
  /** The queue's name: all who use the same name on the same server use the same queue. Without braces. */
  name: string;
  /**
   * Where the server is: `redis://user:password@host:port/database`, or `rediss://` with TLS.
   *
   * @default {"redis://localhost:6379"}
   */
  url?: string | undefined;
  /**
   * A connection that you have, instead of `url`: a client of `redis` or `@redis/client` (5 or later), or of `ioredis`
   * with `autoResendUnfulfilledCommands: false`. The queue opens one more like it, for messages, and closes only that.
   */
  client?: RedisClient | undefined;
  /**
   * How long items wait that failed, as in a config document. Its state is on the server, shared by all processes; the
   * config is each caller's.
   *
   * @default {client-go's default controller limiter}
   */
  limiter?: LimiterConfig | undefined;
  /**
   * The types of limiter that `limiter` may use. One that is not built in needs `delayAfter`.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * How long other processes wait for the items of a lost process. A process renews its lease while it works on items.
   * All processes of a queue should have the same duration. From 100 ms to a day.
   *
   * @default {"30s"}
   */
  leaseDuration?: Duration | undefined;
  /**
   * After how many lost holders an item is given up; a positive integer. Less than 3 counts as 3: an item is tried
   * alone before.
   *
   * @default {5}
   */
  maxStalls?: number | undefined;
  /**
   * How long a call may take, retries included, until it rejects. Calls are retried while the server is away, or
   * refuses calls for now: it loads its data, has too few replicas, …. From 100 ms to a day.
   *
   * @default {"10s"}
   */
  callTimeout?: Duration | undefined;
  /**
   * Items with the same key are the same item, and the newest of them is handed out. Without it, items must be strings,
   * which are their own keys. With it they travel as JSON.
   */
  keyOf?: ((item: T) => string) | undefined;
  /**
   * What happens to a delayed item that is added, as in memory: with `"keep"` it is ready now, and again when it is
   * due; with `"replace"` it is ready now, and its delay ends.
   *
   * @default {"keep"}
   */
  addWhileDelayed?: "keep" | "replace" | undefined;
  /**
   * Where this process sends what it measures of its own work: `queueLatency`, `workDuration`, `unfinishedWork`,
   * `longestRunningProcessor` and `retries`, and by its pools `active`, `concurrency`, `failures` and `givenUp`. For
   * those of the whole queue see {@linkcode redisQueueMetrics}.
   */
  metrics?: MetricsProvider | undefined;
  /**
   * Called with each error of the queue: for a call that failed, whether its promise is awaited or not, for a lost
   * lease that was taken by hand, and for an item that is given up after `maxStalls`; once for a server whose
   * `maxmemory-policy` is not `noeviction`. Failed attempts go to `onError` of their pool. Without the callback, errors
   * are written to `console.error`, one line a second at most.
   */
  onQueueError?: ((error: unknown) => void) | undefined;
}

/**
 * The options of {@linkcode redisQueues}: where the server is, and what its queues have in common. The config document,
 * or the queue itself, says the rest.
 */
export type RedisQueuesOptions = Omit<
  RedisQueueOptions<never>,
  "name" | "limiter" | "limiters" | "addWhileDelayed" | "keyOf"
>;

/**
 * A work queue that many processes share, on Redis or Valkey. What its promises answer holds for all of them, but for
 * shutdown, which concerns this process alone.
 *
 * Each failed call is reported to `onQueueError`, and no rejection is left unhandled: a promise may be awaited, or not.
 * Calls reject with a {@linkcode RedisConnectionError} if the server is away for longer than `callTimeout`, with the
 * server's error if it refuses them, as it does for adds when its memory is full, and with a `TypeError` or
 * `RangeError` if an argument is not right.
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
 *   await lease.finish({ requeueAfter: "1h" }); // false, if the lease was lost meanwhile
 * }
 * assertEquals((await queue.counts()).delayed, 1);
 * ```
 *
 * @typeParam T The type of the items.
 */
export interface RedisQueue<T = string> extends AsyncIterable<T>, AsyncDisposable, SourcedQueue<T> {
  /** The queue's name. */
  readonly name: string;

  /** As given. */
  readonly keyOf?: ((item: T) => string) | undefined;

  /** Adds the item, unless it is ready. One that is being worked on is handed out once more when it is done. */
  add(item: T): Promise<void>;

  /** Adds the items, in their order. Up to 200 are added at once, others after them. */
  addAll(items: Iterable<T>): Promise<void>;

  /** Adds the item after the delay. An item that is delayed already keeps the earlier deadline. */
  addAfter(item: T, delay: Duration): Promise<void>;

  /**
   * Counts a failure of the item, and adds it when the limiter says so; no sooner than after `minDelay`. It is not
   * repeated when its reply is lost, so it may have counted although it rejects.
   */
  addRateLimited(item: T, options?: { minDelay?: Duration | undefined }): Promise<void>;

  /** Takes back a delayed item. Returns whether it was delayed. */
  cancelDelayed(item: T): Promise<boolean>;

  /**
   * Makes a delayed item ready, behind all that are ready; an item that is processing is handed out once more when it
   * is done. Its failures stay counted. Returns whether it was delayed.
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
   */
  promoteDelayed(item: T): Promise<boolean>;

  /** Forgets the failures of the item. */
  forget(item: T): Promise<void>;

  /** How often the limiter has counted the item since it was last forgotten. */
  numRequeues(item: T): Promise<number>;

  /**
   * Takes the next item, and waits for one if there is none. After a shutdown of this queue object, it gives
   * `Shutdown`.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<RedisLease<T> | Shutdown>;

  /**
   * Pauses the queue for all processes: nothing is handed out, to anybody, until {@linkcode resume}. Handlers go on,
   * adds and retries as well. The server keeps that, whatever becomes of the processes. To pause a pool alone, pause
   * that.
   *
   * @example Usage
   * ```ts ignore
   * import { createRedisQueue } from "@workqueue/redis";
   *
   * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
   * await queue.pause(); // no worker of any process gets more
   * await queue.resume(); // those that wait get some at once
   * ```
   */
  pause(): Promise<void>;

  /** Ends a {@linkcode pause}, whoever began it. Does nothing if there is none. */
  resume(): Promise<void>;

  /**
   * Counts the items of the queue, over all processes. Costs the server about as much as an add, however many there
   * are.
   */
  counts(): Promise<QueueCounts>;

  /**
   * Shows what is in the queue, over all processes, in one call: its {@linkcode counts}, what was counted since there
   * is a queue, and lists of up to `limit` items each. Failing items come with their last error, those with the most
   * attempts first. Up to 1,000 keys that have failed and will not be retried are passed over to find them.
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
   * @param options With a `limit`: an integer from 0 to 1000, 100 by default.
   */
  snapshot(options?: SnapshotOptions): Promise<RemoteQueueSnapshot<T>>;

  /**
   * Waits until nothing is ready, delayed or processing, in any process. It looks twice a second: it may be late by
   * half a second, and miss a moment.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /** Whether this queue object was shut down. */
  readonly shuttingDown: boolean;

  /**
   * This process takes nothing more, and adds nothing: adds reject. What it holds can be finished still. The queue
   * itself, and other processes, go on. The connection is closed when this process holds no lease any more.
   */
  shutDown(): void;

  /**
   * Shuts down, and waits until what this process holds is finished and the server has been told.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   */
  shutDownWithDrain(options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** The numbers of a queue, over all processes. */
export interface QueueCounts {
  /** Items that can be handed out now. */
  ready: number;
  /** Items whose delay has passed, and that can't be handed out yet. Always 0 on Redis. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /** Items with failures that are not forgotten. */
  failing: number;
  /** Items that were given up, of which the newest 10,000 are kept. */
  givenUp: number;
  /** For how many milliseconds the oldest ready item has been ready; 0 if there is none. */
  oldestReadyMs: number;
}

/**
 * What is in a queue, over all processes. Beside the items there are only numbers, texts and booleans, so it can be
 * sent as JSON if they can.
 */
export interface RemoteQueueSnapshot<T = string> extends QueueSnapshot<T>, QueueCounts {
  /** Items whose delay has passed, and that can't be handed out yet. Always 0 on Redis. */
  blocked: number;
  /** Items whose delay has not passed. */
  delayed: number;
  /** Items that were handed out and are not done. */
  processing: number;
  /** Whether the queue is paused, by {@linkcode RedisQueue.pause}. */
  paused: boolean;
  /** Counts since there is a queue: look at their differences. */
  totals: QueueTotals;
  /** Items that have failed and will be retried, those with the most attempts first; up to `limit`. */
  failingItems: Omit<FailingItem<T>, "failedAgoMs">[];
}

/** What the server has counted since there is a queue. Processes of a release that does not count are not in it. */
export interface QueueTotals {
  /** How often an item became ready: hand-outs, and what is ready now. */
  added: number;
  /** How often an item was handed out. */
  handedOut: number;
  /** Attempts that have failed with an error, or gave their item up. */
  failed: number;
  /** How often an item was given up. */
  givenUp: number;
  /** The same, by reason. What was given up by `finish` counts as `"terminal"`. */
  givenUpFor: Record<GiveUpReason, number>;
}

/**
 * The right to work on an item, for as long as the lease lasts: it is renewed until the work is finished. Disposing it
 * says that the work has ended, as `done` does for a queue in memory, and leaves the failures as they are.
 */
export interface RedisLease<T = string> extends AsyncDisposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; tells a lease from `Shutdown`. */
  readonly shutdown: false;
  /** 1 the first time; one more than the failures that were counted and not forgotten. */
  readonly attempt: number;
  /** Grows with each item that this queue hands out, for those who refuse what comes from an earlier holder. */
  readonly token: bigint;
  /** Aborts when the lease may have been lost: others may work on the item from then on. */
  readonly signal: AbortSignal;
  /**
   * Ends the work. Without an outcome it has succeeded: the failures are forgotten. `requeue` counts a failure and adds
   * the item again when the limiter says so, `requeueAfter` forgets the failures and adds it again after that long,
   * `giveUp` forgets them and keeps the item as given up, with that reason. The first call counts; later ones give its
   * answer.
   *
   * @returns Whether it counts. It does not if the lease was lost.
   */
  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean>;
}
