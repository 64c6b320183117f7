import type { Handler } from "../lib/contracts/handler.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import type { TokenBucket } from "../lib/structures/token_bucket.ts";
import type { QueueDescription } from "./queue_description.ts";

/** What one document says. */
export interface ConfigContents {
  /** The names of the document's limiters, in its order. */
  readonly limiterNames: string[];
  /** The names of the document's queues, in its order. */
  readonly queueNames: string[];
  /**
   * The limiter of that name. It was built once and is shared by everything that names it. When the document is reloaded,
   * it does what the new one says.
   *
   * @throws {RangeError} If the document has no limiter of that name.
   */
  limiter<T>(name: string): RateLimiter<T>;
  /**
   * The token bucket of the limiter of that name, to take tokens from by hand, or to hold it while a server asks for a
   * pause. The limiter and the queues whose `starts` name it take their tokens from the same. It stays the same for as
   * long as the documents that are loaded have a bucket of that name.
   *
   * @throws {RangeError} If the document has no limiter of that name that is a bucket.
   */
  bucket(name: string): TokenBucket;
  /**
   * The options for {@linkcode runWorkers} that the document gives the queue. Pools that run with those of one name
   * share the token bucket `starts`. They are what the document says now: a pool that is to follow what it says later is
   * run by {@linkcode WorkQueueConfig.runWorkers}.
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

/** What a config document describes, and what becomes of it when another takes its place. Made by {@linkcode loadConfig}. */
export interface WorkQueueConfig extends ConfigContents {
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
   * {@linkcode runWorkers} does. When the document is reloaded, the pool does what the new one says, until it has ended.
   *
   * Only what changes in the document changes the pool: a `concurrency` that was set by hand stays until the document has
   * another one. Attempts that are running keep their timeout. If the document loses the queue, the pool goes on as it is.
   *
   * @param queue Where the pool takes its items: a queue of `queue(name)`, or any other.
   * @param options What the document cannot say, such as `onError`. What is given here stays, whatever documents say.
   * @throws {RangeError} If the document has no queue of that name, or an option is out of its bounds.
   * @throws {TypeError} If `queue` is no queue that workers can run on, or `handler` or an option is not what it should be.
   */
  runWorkers<T>(
    name: string,
    queue: RateLimitingQueue<T> | SourcedQueue<T>,
    handler: Handler<T>,
    options?: WorkerOptions<[T][T extends unknown ? 0 : never]>, // so that `T` is found out from the others
  ): WorkerPool<T>;
  /**
   * Puts another document in the place of the one in force, at once and whole, for everything that runs.
   *
   * @param source As for {@linkcode loadConfig}. It is read with the same registries.
   * @returns What the new document says otherwise; nothing if that is only how it is written.
   * @throws {ConfigError} If anything in the document is wrong; with all that is. The old one stays in force.
   */
  reload(source: string | object): ConfigChange[];
  /**
   * Tells when the document is reloaded. The callback is given what the next document says, before it is in force, and may
   * throw: then the old document stays in force, and `reload` throws the same. It changes nothing yet: what it returns is
   * called when all others agreed and the document is in force.
   *
   * @param prepare The callback.
   * @returns Ends it.
   * @throws {TypeError} If the callback is no function.
   */
  onReload(prepare: (next: ConfigContents) => (() => void) | void): () => void;
}

/** One thing that a reloaded document says otherwise than the one before: plain data, lengths of time in milliseconds. */
export interface ConfigChange {
  /**
   * Where: a JSON Pointer into the documents. It is that of an option; or of a whole limiter, discipline or queue that is
   * new, gone, or of another type.
   */
  readonly path: string;
  /** What the document said before, defaults filled in; absent where it said nothing. */
  readonly old?: unknown;
  /** What it says now, defaults filled in; absent where it says nothing. */
  readonly new?: unknown;
  /**
   * `"now"` for what runs already; `"nextStart"` for what is felt by queues that are made from now on, or has to be put to
   * use by the program.
   */
  readonly inForce: "now" | "nextStart";
  /** `true` where something is made anew, so that what it had counted is lost; absent otherwise. */
  readonly startsAfresh?: true;
}
