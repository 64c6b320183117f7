import type { Duration } from "@workqueue/core";
import type { RemoteLease, RemoteQueue, RemoteQueueOptions } from "@workqueue/engine";
import type { RedisClient } from "./connection/connection.ts";
import type { RedisTlsOptions } from "./connection/tls.ts";

/** Options of {@linkcode createRedisQueue}. */
export interface RedisQueueOptions<T = string> extends RemoteQueueOptions<T> {
  /**
   * Name of the queue: a non-empty string without braces. Processes that use the same name on the same server and
   * database share the queue.
   */
  name: string;
  /**
   * Address of the server: `redis://user:password@host:port/database`, or `rediss://` for TLS. With `sentinels`, the
   * host is the name of the master. Can't be combined with `client`.
   *
   * @default {"redis://localhost:6379"}
   */
  url?: string | undefined;
  /**
   * URLs of Redis Sentinels, such as `["redis://sentinel-1:26379", "redis://sentinel-2:26379"]`. The queue asks them
   * for the address of the master whenever it connects. Needs a `url` that names the master, and contains the user,
   * password and database on the master, such as `redis://user:password@mymaster/0`.
   */
  sentinels?: readonly string[] | undefined;
  /**
   * URLs of some nodes of a Redis Cluster, instead of `url`, such as `["redis://node-1:6379", "redis://node-2:6379"]`.
   * The URLs must have the same user and password, which apply to all nodes. Without `partitions`, all keys of a queue
   * are on one node.
   */
  cluster?: readonly string[] | undefined;
  /**
   * Number of parts into which the keys of the queue are divided, from 1 to 256. In a cluster, the parts are on
   * different nodes, so that a queue may use more than one. The number is stored when the queue is first used, and
   * every process must give the same number. Order, fairness between groups, and buckets of limiters apply within
   * each partition; a group is in one partition.
   *
   * @default {1}
   */
  partitions?: number | undefined;
  /**
   * Time without calls after which the server forgets an empty queue: a queue without ready, blocked, delayed,
   * processing and given-up items that is not paused. Its keys expire, and with them its counts, failures and buckets.
   * When a process makes its next call, its options are in force again. The time is from 100 ms to ten years; the
   * server counts whole seconds. The server stores the time, which applies to all processes.
   *
   * @default {the time that the server has, which is 30 days for a new queue}
   */
  forgetQueuesAfter?: Duration | undefined;
  /**
   * Certificates for `rediss://` URLs, as text in PEM form: `ca`, `cert` and `key`. Needed if the server's certificate
   * is not signed by an authority that the runtime trusts, or if the server requires a client certificate.
   */
  tls?: RedisTlsOptions | undefined;
  /**
   * Client to use instead of a `url`. Supports `redis`, `@redis/client` and `ioredis`, version 5 or later. A client of
   * `ioredis` must have `autoResendUnfulfilledCommands: false`. The queue opens a second connection with the same
   * options, for messages. The queue closes only its own connection and leaves your client open.
   */
  client?: RedisClient | undefined;
}

/**
 * Options of {@linkcode redisQueues}: the server, and settings that apply to all of its queues. Other settings come
 * from the config document or are set for each queue.
 */
export type RedisQueuesOptions = Omit<
  RedisQueueOptions<never>,
  | "name"
  | "partitions"
  | "limiter"
  | "limiters"
  | "discipline"
  | "disciplines"
  | "retryBudget"
  | "keepGivenUp"
  | "forgetAfter"
  | "addWhileDelayed"
  | "keyOf"
>;

/**
 * Work queue on Redis or Valkey that many processes share. Results cover all processes. Shutdown affects only this
 * process.
 *
 * Each failed call is reported to `onQueueError`, or, without this callback, to `console.error` unless the program
 * handles the rejection. Promises need not be awaited, because no rejection counts as unhandled. Calls reject with:
 *
 * - a {@linkcode RedisConnectionError} if the server is unreachable for longer than `callTimeout`, or if a reply was
 *   lost and the call must not be repeated;
 * - the server's error if the server refuses the call, for example an add when its memory is full;
 * - a `TypeError` or `RangeError` if an argument is invalid;
 * - an `Error` if this queue object was shut down (see {@linkcode RemoteQueue.shutDown}).
 *
 * `counts` costs the server about as much as adding one item, regardless of the size of the queue. The server keeps the
 * newest 10,000 given-up items, or as many as `keepGivenUp` says, and counts no more. A search for given-up items
 * ignores the case of ASCII letters only. If more than 1,000 items have failed and will not be retried, the
 * failing items of `snapshot` may be incomplete.
 *
 * Created by {@linkcode createRedisQueue}.
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
 * @example Making a delayed item ready
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
 * @example Pausing for all processes
 * ```ts ignore
 * import { createRedisQueue } from "@workqueue/redis";
 *
 * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * await queue.pause(); // no process takes an item
 * await queue.resume(); // idle workers take items at once
 * ```
 *
 * @example Looking into the queue
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
 * @typeParam T The type of the items.
 * @typeParam R The type of the results, which handlers return.
 */
export interface RedisQueue<T = string, R = unknown> extends RemoteQueue<T, R> {
  /**
   * Moves all items to another number of partitions. First call {@linkcode RemoteQueue.pause}, and wait until no item
   * is processing. Until the items are moved, the calls of all processes reject. After that, the queue is still paused,
   * and every process must open it again, with the new number. If this process ends before the move does, call
   * `repartition` again with the same number, in any process: it continues where the first call stopped.
   *
   * The items keep their order, delays, priorities, failures and payloads. Given-up items, counts, limits on given-up
   * items, the discipline and paused groups are kept as well. Buckets of the limiter are full afterwards.
   *
   * @param partitions The number of partitions, from 1 to 256.
   * @throws {Error} (as a rejection) If the queue is not paused, if items are processing, if a redrive is running, if
   * the items are being moved to another number of partitions, or if this queue object was shut down.
   * @throws {RangeError} (as a rejection) If the number is out of range.
   */
  repartition(partitions: number): Promise<void>;
}

/** Right to work on an item of a {@linkcode RedisQueue}. */
export type RedisLease<T = string> = RemoteLease<T>;
