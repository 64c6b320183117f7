import type { Handler } from "../lib/contracts/handler.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";
import type { DisciplineDescription } from "../disciplines/definition.ts";
import type { LimiterDescription } from "../limiters/definition.ts";
import type { ValueOf } from "../registry/fields.ts";
import type { queueOptions } from "./queue_options.ts";

/** What one document says. */
export interface ConfigContents {
  /** The names of the document's limiters, in its order. */
  readonly limiterNames: string[];
  /** The names of the document's queues, in its order. */
  readonly queueNames: string[];
  /**
   * The limiter of that name. It was built once and is shared by everything that names it. When the document is
   * reloaded, it does what the new one says of that name, even if that is a limiter of another type. A name that stands
   * for another one gives the limiter of that.
   *
   * @throws {RangeError} If the document has no limiter of that name.
   */
  limiter<T>(name: string): RateLimiter<T>;
  /**
   * The token bucket of the limiter of that name, to take tokens from by hand, or to pause it when a server asks for
   * that. The limiter and the queues whose `throttle` names it take their tokens from the same. It stays the same for
   * as long as the documents that are loaded have a bucket of that name.
   *
   * @throws {RangeError} If the document has no limiter of that name that is a bucket.
   */
  bucket(name: string): TokenBucket;
  /**
   * The options for {@linkcode runWorkers} that the document gives the queue. Pools that run with those of one name
   * share the token bucket `throttle`. They are what the document says now: a pool that is to follow what it says later
   * is run by {@linkcode WorkQueueConfig.runWorkers}.
   *
   * @throws {RangeError} If the document has no queue of that name.
   */
  workers(name: string): WorkerOptions;
  /**
   * What the document says of the queue, as data: for a page that shows it, or for what makes something else of it than
   * a queue in memory.
   *
   * @throws {RangeError} If the document has no queue of that name.
   */
  describe(name: string): QueueDescription;
}

/**
 * What a config document describes, and what becomes of it when another takes its place. Made by
 * {@linkcode loadConfig}.
 */
export interface WorkQueueConfig extends ConfigContents {
  /** Where its queues measure, as {@linkcode loadConfig} was told. */
  readonly metrics?: MetricsProvider | undefined;
  /**
   * Makes a queue as the document describes it. Queues made for one name share their limiter, and each has a discipline
   * of its own. When the document is reloaded, the limiter does what the new one says; the queue's other options are
   * for queues that are made from then on.
   *
   * @param options What the document cannot say, such as `keyOf`.
   * @throws {RangeError} If the document has no queue of that name.
   */
  queue<T>(name: string, options?: RateLimitingQueueOptions<T>): RateLimitingQueue<T>;
  /**
   * Runs the handler on a queue with the options that the document gives to the queue of that name, as
   * {@linkcode runWorkers} does. When the document is reloaded, the pool does what the new one says, until it has
   * ended.
   *
   * Only what changes in the document changes the pool: a `concurrency` that was set by hand stays until the document
   * has another one. Attempts that are running keep their timeout. If the document loses the queue, the pool goes on as
   * it is.
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
   * assertEquals(pool.concurrency, 10); // and three retries, as that is given here
   * ```
   *
   * @param queue Where the pool takes its items: a queue of `queue(name)`, or any other.
   * @param options What the document cannot say, such as `onError`. What is given here stays, whatever documents say.
   * @throws {RangeError} If the document has no queue of that name, or an option is out of its bounds.
   * @throws {TypeError} If `queue` is no queue that workers can run on, or `handler` or an option is not what it should
   * be.
   */
  runWorkers<T>(
    name: string,
    queue: RateLimitingQueue<T> | SourcedQueue<T>,
    handler: Handler<T>,
    options?: WorkerOptions<[T][T extends unknown ? 0 : never]>, // so that `T` is found out from the others
  ): WorkerPool<T>;
  /**
   * Puts another document in the place of the one in force, at once and whole, for everything that runs: the limiters
   * that {@linkcode WorkQueueConfig.limiter} gave and those of the queues, the buckets, and the pools of
   * {@linkcode WorkQueueConfig.runWorkers}. Nobody sees half of it. Options of a queue that {@linkcode queueOptions}
   * declares as `inForce: "nextStart"`, such as its discipline, are for queues that are made from then on.
   *
   * **A limiter gives a delay when an item fails.** Delays that were given stand: a lower rate slows the failures that
   * come, and not the items that wait already; a higher one frees none of these. What works at once is the `throttle`
   * of a queue: no attempt begins without one of its tokens, be it a first one or a retry.
   *
   * A part of the document that stands where one of the same type stood goes on, and keeps what it has counted:
   * failures of items, tokens that are there and those that are owed. That holds for the built-in types, and for others
   * whose definition has an `update`; the rest starts afresh if its options change. A limiter or queue that the
   * document does not have any more goes on as it was for who holds it, and is joined again when it is back. What was
   * set by hand, such as the `rate` of a bucket or the `concurrency` of a pool, stays until the document says something
   * else there.
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
   * @param source As for {@linkcode loadConfig}. It is read with the same registries.
   * @param options With `dryRun: true`, nothing changes: the document is checked, those who follow are asked, and what
   * it would change is told. A definition of somebody else's that refuses to update a part is not asked.
   * @returns What the new document says otherwise; nothing if only its wording differs.
   * @throws {ConfigError} If anything in the document is wrong, with all that is; or if a definition cannot make a part
   * of it, or refuses to update one. The old document stays in force then.
   * @throws {Error} If it is called within a reload, by a definition or by who follows the config. The old document
   * stays in force then, and if somebody who follows refuses the new one: what they throw is thrown.
   */
  reload(source: string | object, options?: ReloadOptions): ConfigChange[];
  /**
   * Tells when the document is reloaded. The callback is given what the next document says, before it is in force, and
   * may throw: then the old document stays in force, and `reload` throws the same. It changes nothing yet: what it
   * returns is called when nobody has refused and the document is in force. That should not throw, as it refuses
   * nothing any more: `reload` throws it when all others have been called.
   *
   * What is asked of the next document is final but for what runs: its limiters and buckets have their new options when
   * it is in force.
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
   * @param prepare The callback.
   * @returns Ends it.
   * @throws {TypeError} If the callback is no function.
   */
  onReload(prepare: (next: ConfigContents) => (() => void) | void): () => void;
}

/** How a document is reloaded. */
export interface ReloadOptions {
  /**
   * Whether to tell only what would change.
   *
   * @default {false}
   */
  dryRun?: boolean | undefined;
}

/**
 * One thing that a reloaded document says otherwise than the one before: plain data, lengths of time in milliseconds.
 */
export interface ConfigChange {
  /**
   * Where: a JSON Pointer into the documents. It is that of an option; or of a whole limiter, discipline or queue that
   * is new, gone, or of another type.
   */
  readonly path: string;
  /** What the document said before, defaults filled in; absent where it said nothing. */
  readonly old?: unknown;
  /** What it says now, defaults filled in; absent where it says nothing. */
  readonly new?: unknown;
  /**
   * `"now"` for what runs already, as for a queue that was removed and is added again: its pools follow it at once;
   * `"nextStart"` for what is felt by queues that are made from now on, or has to be put to
   * use by the program.
   */
  readonly inForce: "now" | "nextStart";
  /**
   * `true` where what was counted is lost: a part is made anew, or another `separator` puts items into other groups.
   * Absent otherwise. A group whose name stays the same keeps its counts.
   */
  readonly startsAfresh?: true;
}

/** The options of a queue as data. */
export type QueueOptionDescriptions = {
  readonly [K in keyof typeof queueOptions]?: QueueOptionDescription<(typeof queueOptions)[K]>;
};

/**
 * A queue of a document as data, lengths of time in milliseconds: its options, which {@linkcode queueOptions} explains.
 * What the document leaves out is absent.
 */
export interface QueueDescription extends QueueOptionDescriptions {
  /** The name of the queue. */
  readonly name: string;
  /** How long failed items wait; the default controller limiter if the document names none. */
  readonly limiter: LimiterDescription;
}

/** An option as data: of its declaration. */
export type QueueOptionDescription<F> = F extends { kind: "limiter" } ? LimiterDescription
  : F extends { kind: "discipline" } ? DisciplineDescription
  : F extends { kind: "bucket" } ? BucketDescription
  : F extends { kind: "weights" } ? Readonly<Record<string, number>>
  : ValueOf<F>;

/** A token bucket of a document, as data. */
export interface BucketDescription {
  /**
   * Where the bucket is described: a JSON Pointer into the document. It identifies the bucket: the limiter and the
   * queues that take their tokens from the same one have the same path.
   */
  readonly path: string;
  /** The name that the document gives to the bucket, or to the limiter that it belongs to; absent without one. */
  readonly name?: string;
  /** Tokens a second. */
  readonly rate: number;
  /** How many tokens the bucket holds. */
  readonly burst: number;
}
