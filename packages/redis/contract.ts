import type {
  Duration,
  LimiterConfig,
  LimiterRegistry,
  MetricsProvider,
  Outcome,
  QueueSnapshot,
  Shutdown,
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
   * A connection that you have, instead of `url`: a client of `redis` or `@redis/client` (5 or later), or of `ioredis` with
   * `autoResendUnfulfilledCommands: false`. The queue opens one more like it, for messages, and closes only that.
   */
  client?: RedisClient | undefined;
  /**
   * How long items wait that failed, as in a config document. Its state is on the server, shared by all processes; the config
   * is each caller's.
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
   * How long items stay with a process that is not heard of. It is renewed while they are worked on. From 100 ms to a day.
   *
   * @default {"30s"}
   */
  lease?: Duration | undefined;
  /**
   * After how many lost holders an item is given up; a positive integer.
   *
   * @default {5}
   */
  maxLapses?: number | undefined;
  /**
   * How long a call is tried again while the server is away, until it fails. From 100 ms to a day.
   *
   * @default {"10s"}
   */
  patience?: Duration | undefined;
  /**
   * Items with the same key are the same item, and the newest of them is handed out. Without it, items must be strings, which
   * are their own keys. With it they travel as JSON.
   */
  keyOf?: ((item: T) => string) | undefined;
  /**
   * What an item can be while it waits, as for a queue in memory: with `"keep"` it can be ready as well, with `"replace"` it
   * cannot.
   *
   * @default {"keep"}
   */
  whileWaiting?: "keep" | "replace" | undefined;
  /**
   * Where this process sends what it measures of its own work: `queueLatency`, `workDuration`, `unfinishedWork`,
   * `longestRunningProcessor` and `retries`, and by its pools `active`, `concurrency`, `failures` and `givenUp`. For those of the
   * whole queue see {@linkcode redisQueueMetrics}.
   */
  metrics?: MetricsProvider | undefined;
  /**
   * Is told of every call that failed, whether its promise is awaited or not, of leases that were lost and of items that were
   * given up after `maxLapses`. Without it they are written to `console.error`, one line a second at most.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * A work queue that many processes share, on Redis or Valkey. What its promises answer holds for all of them, but for
 * shutdown, which concerns this process alone.
 *
 * Each failed call is told to `onError`, and no rejection is left unhandled: a promise may be awaited, or not. Calls reject
 * with a {@linkcode RedisConnectionError} if the server is away for longer than `patience`, with the server's error if it
 * refuses them, as it does for adds when its memory is full, and with a `TypeError` or `RangeError` if an argument is not
 * right.
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
 * assertEquals((await queue.stats()).waiting, 1);
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

  /** Adds the items, in their order. Up to 500 are added at once, others after them. */
  addAll(items: Iterable<T>): Promise<void>;

  /** Adds the item once the delay has passed. One that waits already keeps the earlier of its two deadlines. */
  addAfter(item: T, delay: Duration): Promise<void>;

  /**
   * Counts a failure of the item, and adds it when the limiter says so; no sooner than after `atLeast`. It is not repeated when
   * its reply is lost, so it may have counted although it rejects.
   */
  addRateLimited(item: T, options?: { atLeast?: Duration | undefined }): Promise<void>;

  /** Takes back what was added with a delay that has not passed. Tells whether the item was waiting. */
  cancelAfter(item: T): Promise<boolean>;

  /**
   * Makes ready at once what was added with a delay that has not passed, as its last one: one that is being worked on is handed
   * out once more when it is done. Its failures stay counted. Tells whether the item was waiting.
   *
   * @example Usage
   * ```ts ignore
   * import { createRedisQueue } from "@workqueue/redis";
   * import { assertEquals } from "@std/assert";
   *
   * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
   * await queue.addAfter("cat.jpg", "1h");
   * assertEquals(await queue.retryNow("cat.jpg"), true);
   * assertEquals(await queue.retryNow("cat.jpg"), false); // it is ready
   * ```
   */
  retryNow(item: T): Promise<boolean>;

  /** Forgets the failures of the item. */
  forget(item: T): Promise<void>;

  /** How often the limiter has counted the item since it was last forgotten. */
  numRequeues(item: T): Promise<number>;

  /**
   * Takes the item that is next, and waits for one if there is none. After a shutdown of this queue object, it gives
   * `Shutdown`.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<RedisLease<T> | Shutdown>;

  /**
   * Pauses the queue for all processes: nothing is handed out, to anybody, until {@linkcode resume}. What is held goes on, adds
   * and retries as well. The server keeps that, whatever becomes of the processes. To pause a pool alone, pause that.
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

  /** Counts. What is due is ready; `failing` are keys with failures that are not forgotten. */
  stats(): Promise<RedisQueueStats>;

  /**
   * Shows what is in the queue. The counts are exact, the lists have up to `limit` items each.
   *
   * @param options With a `limit`: an integer from 0 to 1000, 100 by default.
   */
  snapshot(options?: { limit?: number | undefined }): Promise<QueueSnapshot<T>>;

  /**
   * Shows what is in the queue and how it is, in one call: what {@linkcode snapshot} and {@linkcode stats} tell, and what fails,
   * with its last error. Those with the most attempts are listed, however many fail. Up to 1,000 keys with failures that will not be
   * tried again are passed over on the way.
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
   * while ((await queue.stats()).failing === 0);
   * const { failingItems: [cat], paused } = await queue.details({ limit: 10 });
   * assertEquals([cat?.item, cat?.error, paused], ["cat.jpg", "Error: cannot read cat.jpg", false]);
   * await pool.stop();
   * ```
   *
   * @param options With a `limit`: an integer from 0 to 1000, 100 by default.
   */
  details(options?: { limit?: number | undefined }): Promise<RedisQueueDetails<T>>;

  /**
   * Waits until nothing is ready, waiting or held by any process. It looks twice a second: it may be late by half a
   * second, and miss a moment.
   *
   * @param options With a `signal` that ends the wait.
   * @throws The signal's reason (as a rejection), if the signal aborts first.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /** Whether this queue object was shut down. */
  readonly shuttingDown: boolean;

  /**
   * This process takes nothing more, and adds nothing: adds reject. What it holds can be finished still. The queue itself, and
   * other processes, go on. The connection is closed when nothing is held any more.
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

/** What is in a queue, counted over all processes. */
export interface RedisQueueStats {
  /** Items that may be handed out now. */
  ready: number;
  /** Items whose delay has not passed. */
  waiting: number;
  /** Items that are being worked on. */
  held: number;
  /** Items with failures that are not forgotten. */
  failing: number;
  /** Items that were given up, of which the newest 10,000 are kept. */
  givenUp: number;
}

/** What is in a queue, and how it is, over all processes. Lengths of time are in milliseconds. */
export interface RedisQueueDetails<T = string> extends QueueSnapshot<T> {
  /** Whether the queue is paused, by {@linkcode RedisQueue.pause}. */
  paused: boolean;
  /** Items with failures that are not forgotten. */
  failing: number;
  /** Items that were given up, of which the newest 10,000 are kept. */
  givenUp: number;
  /** For how long the oldest of the ready items has been so; 0 if there is none. */
  oldestReady: number;
  /** Counts since there is a queue, for those who look at their differences. */
  totals: RedisQueueTotals;
  /** Items that have failed and will be tried again, the most attempts first; up to `limit`. */
  failingItems: FailingRedisItem<T>[];
}

/** What the server has counted since there is a queue. Processes of a release that does not count are not in it. */
export interface RedisQueueTotals {
  /** How often an item became ready: hand-outs, and what is ready now. */
  added: number;
  /** How often an item was handed out. */
  handedOut: number;
  /** Attempts that have failed with an error, or gave their item up. */
  failed: number;
  /** How often an item was given up. */
  givenUp: number;
}

/** An item that has failed and will be tried again. */
export interface FailingRedisItem<T = string> {
  /** The item. */
  item: T;
  /** How often it has failed. */
  attempts: number;
  /** The last error, in one line of up to 300 characters; `""` if none is known. */
  error: string;
  /** In how many milliseconds it is due; left out if it does not wait. */
  dueIn?: number;
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
   * Ends the work. Without an outcome it has succeeded: the failures are forgotten. `requeue` counts a failure and adds the
   * item again when the limiter says so, `requeueAfter` forgets the failures and adds it again after that long, `giveUp`
   * forgets them and keeps the item as given up, with that reason. The first call counts; later ones give its answer.
   *
   * @returns Whether it counts. It does not if the lease was lost.
   */
  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean>;
}
