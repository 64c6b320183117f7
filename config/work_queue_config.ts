import type { Handler, ResultOf } from "../lib/contracts/handler.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";
import type { DisciplineDescription } from "../disciplines/definition.ts";
import type { LimiterDescription } from "../limiters/definition.ts";
import type { ThrottleDescription } from "../throttles/definition.ts";
import type { ValueOf } from "../registry/fields.ts";
import type { queueOptions } from "./queue_options.ts";

/** Contents of one config document. */
export interface ConfigContents {
  /** Names of the document's limiters, in document order. */
  readonly limiterNames: string[];
  /** Names of the document's queues, in document order. */
  readonly queueNames: string[];
  /**
   * Returns the limiter with the given name. The limiter is built once and shared by all queues and limiters that refer
   * to it. They share its buckets. Built-in limiters count failures for each queue separately, and also for calls of
   * the returned limiter by hand. After a reload, the limiter behaves as the new document specifies, even if its type
   * has changed. If the document gives another limiter's name in place of a config, returns that other limiter.
   *
   * @throws {RangeError} If the document has no limiter with that name.
   */
  limiter<T>(name: string): RateLimiter<T>;
  /** Names of the document's throttles, in document order. */
  readonly throttleNames: string[];
  /**
   * Returns the throttle with the given name, which all queues that refer to it share. A limiter of type `"bucket"` is
   * a throttle too. The throttle stays the same object until a reload changes its type.
   *
   * @throws {RangeError} If the document has no throttle with that name.
   */
  throttle(name: string): Throttle;
  /**
   * Returns the token bucket with the given name: a throttle of type `"bucket"`, or the bucket of a limiter of that
   * type. For example, a program can pause this bucket when a server asks clients to wait. The limiter and the queues
   * whose `throttle` refers to the name share this bucket. The bucket stays the same object as long as every reloaded
   * document has a bucket with that name.
   *
   * @throws {RangeError} If the document has no bucket with that name.
   */
  bucket(name: string): TokenBucket;
  /**
   * Returns the options that the document specifies for pools of the queue, for use with {@linkcode runWorkers}. All
   * pools with the options of the same queue share one `throttle`. These options don't follow
   * later reloads; {@linkcode WorkQueueConfig.runWorkers} starts a pool that follows reloads.
   *
   * @throws {RangeError} If the document has no queue with that name.
   */
  workers(name: string): WorkerOptions;
  /**
   * Describes the queue as data, for displays and for engines that don't build queues in memory.
   *
   * @throws {RangeError} If the document has no queue with that name.
   */
  describe(name: string): QueueDescription;
}

/**
 * Queues, limiters and pools of a config document. The document can be replaced by another document. Created by
 * {@linkcode loadConfig}.
 */
export interface WorkQueueConfig extends ConfigContents {
  /** Receives the metrics of the config's queues, as given to {@linkcode loadConfig}. */
  readonly metrics?: MetricsProvider | undefined;
  /**
   * Creates a queue with the given name, as described in the document. Queues with the same name share a limiter, but
   * each has its own discipline. After a reload, the limiter behaves as the new document specifies. Changes to the
   * queue's other options apply only to queues that are created later.
   *
   * @param options Options that a document can't supply, such as `keyOf`. These options override the options of the
   * document.
   * @throws {RangeError} If the document has no queue with that name, or an option is a number out of range.
   * @throws {TypeError} If an option is unknown or has the wrong type.
   */
  queue<T, R = unknown>(name: string, options?: RateLimitingQueueOptions<T>): RateLimitingQueue<T, R>;
  /**
   * Runs the handler on the items of a queue, as {@linkcode runWorkers} does, with the options that the document
   * specifies for the queue named `name`. After a reload, a running pool follows the new document.
   *
   * Only changes to the document change the pool: a `concurrency` that was set in code stays until the document's value
   * changes. Attempts that are already running keep their timeout. If a new document doesn't contain the queue, the
   * pool continues unchanged.
   *
   * @example A pool that follows its document
   * ```ts
   * import { loadConfig } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const config = loadConfig({ queues: { images: { concurrency: 4 } } });
   * const queue = config.queue<string>("images");
   * await using pool = config.runWorkers("images", queue, (image) => console.log(image), { maxRetries: 3 });
   *
   * config.reload({ queues: { images: { concurrency: 10, maxRetries: 0 } } });
   * assertEquals(pool.concurrency, 10); // and three retries, because `maxRetries` is given above
   * ```
   *
   * @param queue The queue to take items from: the result of `queue(name)`, or any other queue.
   * @param options Options that a document can't supply, such as `onError`. Options given here override the options of
   * every document.
   * @throws {RangeError} If the document has no queue with that name, or an option is a number out of range.
   * @throws {TypeError} If `queue` is not a queue from which workers can take items, `handler` is not a function, or an
   * option is unknown or has the wrong type.
   */
  runWorkers<T, R = unknown>(
    name: string,
    queue: RateLimitingQueue<T, R> | SourcedQueue<T>,
    handler: Handler<T, ResultOf<R>>,
    options?: WorkerOptions<[T][T extends unknown ? 0 : never]>, // infers `T` only from the other parameters
  ): WorkerPool<T>;
  /**
   * Atomically replaces the document in force with another document. The new document applies at once to limiters from
   * {@linkcode WorkQueueConfig.limiter}, limiters of queues, buckets, and running pools that
   * {@linkcode WorkQueueConfig.runWorkers} started. Queue options that {@linkcode queueOptions} declares as
   * `inForce: "nextStart"`, such as the discipline, apply to queues that are created later.
   *
   * **A limiter sets a delay when an item fails.** Existing delays stay: a lower rate lengthens the delays of later
   * failures, but not the delays of items that are already delayed. Likewise, a higher rate doesn't shorten existing
   * delays. For a limit that takes effect immediately, change the `throttle` of a queue: every attempt, whether a first
   * attempt or a retry, needs a token from the throttle.
   *
   * A part that has the same place and the same type as before keeps its state: its failure counts, and its available
   * or owed tokens. This applies to the built-in types, and to types whose definition has `update`. Parts of other
   * types are created again if their options change. Limiters and queues that are missing from the new document
   * continue to work unchanged for code that uses them. If a later document contains them again, they follow that
   * document. Values set in code, such as the `rate` of a bucket or the `concurrency` of a pool, stay until the
   * document's value changes.
   *
   * @example Twenty a second, from now on
   * ```ts
   * import { loadConfig } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const document = (rate: number) => ({ queues: { images: { concurrency: 50, throttle: { rate, burst: 1 } } } });
   * const config = loadConfig(document(1000));
   * const queue = config.queue<string>("images");
   * config.runWorkers("images", queue, (image) => console.log(image));
   *
   * assertEquals(config.reload(document(20)), [
   *   { path: "/queues/images/throttle/rate", old: 1000, new: 20, inForce: "now" },
   * ]);
   * queue.shutDown();
   * ```
   *
   * @param source The new document, as for {@linkcode loadConfig}. It is read with the same registries.
   * @param options `dryRun`: with `true`, nothing changes. The document is checked, the callbacks of
   * {@linkcode WorkQueueConfig.onReload} are called, and the changes are returned. The `update` functions of
   * definitions are not called, so a dry run doesn't detect that a third-party definition would refuse an update.
   * @returns The differences from the old document; an empty list if only the formatting differs.
   * @throws {ConfigError} If the document is invalid (the error lists every problem), or if a definition can't create a
   * part or refuses to update one. The old document stays in force.
   * @throws {TypeError} If `options` is not an object, or an option is unknown or has the wrong type.
   * @throws {Error} If a definition or a callback calls `reload` during a reload. The error's code is `WQ_CONFIG`, and
   * the old document stays in force.
   * @throws The error that a callback of {@linkcode WorkQueueConfig.onReload} throws to refuse the new document. The
   * old document stays in force.
   */
  reload(source: string | object, options?: ReloadOptions): ConfigChange[];
  /**
   * Calls `prepare` at each reload, with the contents of the next document, before the next document is in force. If
   * `prepare` throws, `reload` throws the same error and the old document stays in force. `prepare` must not change
   * anything yet. `prepare` may return a function that makes changes. That function is called once all callbacks have
   * accepted the document and the document is in force. That function should not throw, because the document can no
   * longer be refused at that point. If it throws, `reload` still calls the functions that the other callbacks
   * returned, and then throws the error.
   *
   * The contents of the next document are final, except that limiters and buckets receive their new options only when
   * the next document is in force.
   *
   * @example A document that is refused
   * ```ts
   * import { loadConfig } from "@workqueue/core";
   * import { assertEquals, assertThrows } from "@std/assert";
   *
   * const config = loadConfig({ queues: { images: { concurrency: 4 } } });
   * let connections = 4;
   * config.onReload((next) => {
   *   const { concurrency = 1 } = next.workers("images");
   *   if (concurrency > 10) throw new Error("there are no more than ten connections");
   *   return () => connections = concurrency;
   * });
   *
   * assertThrows(() => config.reload({ queues: { images: { concurrency: 11 } } }), Error, "ten connections");
   * config.reload({ queues: { images: { concurrency: 8 } } });
   * assertEquals([config.workers("images").concurrency, connections], [8, 8]);
   * ```
   *
   * @param prepare The callback. It receives the contents of the next document.
   * @returns An unsubscribe function.
   * @throws {TypeError} If `prepare` is not a function.
   */
  onReload(prepare: (next: ConfigContents) => (() => void) | void): () => void;
}

/** Options of {@linkcode WorkQueueConfig.reload}. */
export interface ReloadOptions {
  /**
   * Whether to return the changes without making them.
   *
   * @default {false}
   */
  dryRun?: boolean | undefined;
}

/** One difference between a reloaded document and the previous one, as plain data with durations in milliseconds. */
export interface ConfigChange {
  /**
   * JSON Pointer to the difference. The pointer refers to an option, or to a whole limiter, discipline or queue that
   * was added or removed, or whose type changed.
   */
  readonly path: string;
  /** Value in the previous document, with defaults filled in. Absent if the previous document had no value. */
  readonly old?: unknown;
  /** Value in the new document, with defaults filled in. Absent if the new document has no value. */
  readonly new?: unknown;
  /**
   * Time at which the change takes effect. `"now"`: at once, for everything that is running. This includes a queue that
   * was removed and is added again, because pools of the queue that are still running follow the new document
   * immediately. `"nextStart"`: only for queues and pools that the program creates later.
   */
  readonly inForce: "now" | "nextStart";
  /**
   * `true` if counts are lost, because a part is created again or because a new `separator` assigns items to different
   * groups. Absent otherwise. A group whose name stays the same keeps its counts.
   */
  readonly startsAfresh?: true;
}

/** Options of a queue as data. */
export type QueueOptionDescriptions = {
  readonly [K in keyof typeof queueOptions]?: QueueOptionDescription<(typeof queueOptions)[K]>;
};

/**
 * A queue of a document as data, with durations in milliseconds. {@linkcode queueOptions} documents its options.
 * Options that the document omits are absent.
 */
export interface QueueDescription extends QueueOptionDescriptions {
  /** Name of the queue. */
  readonly name: string;
  /** Limiter that delays failed items. Default: the default controller limiter. */
  readonly limiter: LimiterDescription;
}

/** Type of an option's value as data, derived from the option's declaration. */
export type QueueOptionDescription<F> = F extends { kind: "limiter" } ? LimiterDescription
  : F extends { kind: "discipline" } ? DisciplineDescription
  : F extends { kind: "throttle" } ? ThrottleDescription
  : F extends { kind: "weights" } ? Readonly<Record<string, number>>
  : ValueOf<F>;
