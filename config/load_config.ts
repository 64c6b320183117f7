/**
 * A whole config document: limiters by name, and queues that use them.
 *
 * @module
 */

import { requireObject, requireOptions } from "../lib/base/arguments.ts";
import { invalidArgument } from "../lib/base/errors.ts";
import type { Handler } from "../lib/contracts/handler.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import { runWorkers } from "../lib/workers/run_workers.ts";
import type { ConfigChange, ConfigContents, WorkQueueConfig } from "./work_queue_config.ts";
import type { Clock } from "../lib/base/clock.ts";
import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { Random } from "../lib/base/random.ts";
import { suggest } from "../lib/base/suggest.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import { createRateLimitingQueue } from "../lib/queue/rate_limiting_queue.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import type { TokenBucket } from "../lib/structures/token_bucket.ts";
import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { LimiterDescription } from "../limiters/definition.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { type Building, buildOptions, buildPart } from "../registry/build.ts";
import { type BuildContext, requireContext } from "../registry/context.ts";
import type { OptionsOf } from "../registry/fields.ts";
import { describeOptions, describePart, type Describing, type PartDescription } from "../registry/description.ts";
import { escapePointer } from "../registry/objects.ts";
import type { NameNode } from "../registry/tree.ts";
import { bucketKind, bucketOf } from "./bucket_kind.ts";
import { type DocumentTree, readDocument } from "./document.ts";
import type { BucketDescription, QueueDescription } from "./queue_description.ts";
import type { queueOptions } from "./queue_options.ts";
import { registriesOf } from "./registry_option.ts";

/** The options of {@linkcode loadConfig}. */
export interface LoadConfigOptions {
  /**
   * The types of limiter that the document may use.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * The types of discipline that the document may use.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Where the limiters and queues take time from.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /**
   * Where the limiters take random numbers from: from 0 up to 1.
   *
   * @default {Math.random}
   */
  random?: Random | undefined;
  /** Where the queues' measurements go. */
  metrics?: MetricsProvider | undefined;
}

const ACTION = "load config";

/**
 * Loads a config document: an object with `limiters` and `queues`, both optional, each an object by name. A
 * `$schema` is allowed.
 *
 * Where a limiter is expected, a text names another limiter of the document and shares it. A queue's options
 * are `limiter`, `maxWait`, `whileWaiting`, `discipline`, `starts`, `concurrency`, `maxRetries` and `timeout`.
 *
 * The source is JSON text or what a parser of another format made of it. It is rejected whole if anything in
 * it is wrong.
 *
 * @example Usage
 * ```ts
 * import { loadConfig, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfig(`{
 *   "limiters": { "gentle": { "type": "exponential", "baseDelay": "10ms", "maxDelay": "1m" } },
 *   "queues": { "images": { "limiter": "gentle", "concurrency": 4, "maxRetries": 5, "timeout": "30s" } }
 * }`);
 *
 * const queue = config.queue<string>("images");
 * queue.add("cat.png");
 * const done: string[] = [];
 * runWorkers(queue, (item) => void done.push(item), config.workers("images"));
 * await queue.shutDownWithDrain();
 * assertEquals(done, ["cat.png"]);
 * ```
 *
 * @param source JSON text, or a document that is parsed already.
 * @param options The registries, the clock, the random numbers and the metrics to use.
 * @returns What the document describes.
 * @throws {ConfigError} If the text is not JSON, or anything in the document is wrong; with all that is.
 * @throws {TypeError} If an option is unknown or of the wrong type.
 */
export function loadConfig(source: string | object, options: LoadConfigOptions = {}): WorkQueueConfig {
  requireOptions(ACTION, options, ["limiters", "disciplines", "clock", "random", "metrics"]);
  const { clock, random, metrics } = options;
  requireContext(ACTION, { clock, random });
  const document = readDocument(ACTION, source, registriesOf(ACTION, options));
  return new LoadedConfig(document, { clock, random }, metrics);
}

/** A queue's part of the document, with its limiter and its bucket built. */
type QueueSettings =
  & { readonly limiter: RateLimiter }
  & OptionsOf<typeof queueOptions, {
    limiter: RateLimiter;
    discipline: QueueDiscipline<unknown>;
    bucket: TokenBucket;
  }>;

class LoadedConfig implements WorkQueueConfig {
  readonly limiterNames: string[];
  readonly queueNames: string[];
  readonly #document: DocumentTree;
  readonly #building: Building;
  readonly #limiters = new Map<string, RateLimiter>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #queues = new Map<string, QueueSettings>();
  readonly #queueOptions: Pick<LoadConfigOptions, "clock" | "metrics">;

  constructor(document: DocumentTree, context: BuildContext, metrics: MetricsProvider | undefined) {
    this.limiterNames = [...document.limiterNames];
    this.queueNames = [...document.queues.keys()];
    this.#queueOptions = { clock: context.clock, metrics };
    this.#document = document;
    const building = this.#building = {
      action: ACTION,
      context,
      named: ({ kind, name }: NameNode) => (kind === bucketKind ? this.#buckets : this.#limiters).get(name),
    };
    for (const [name, tree] of document.limiters) this.#limiters.set(name, buildPart(tree, building));
    for (const name of document.bucketNames) this.#buckets.set(name, requireBucket(name, this.#limiters.get(name)));
    for (const [name, tree] of document.queues) this.#queues.set(name, buildOptions(tree, building) as QueueSettings);
  }

  limiter<T>(name: string): RateLimiter<T> {
    return find(this.#limiters, "limiter", name);
  }

  bucket(name: string): TokenBucket {
    return find(this.#buckets, "bucket", name);
  }

  queue<T>(name: string, options: RateLimitingQueueOptions<T> = {}): RateLimitingQueue<T> {
    const { limiter, maxWait, whileWaiting, discipline } = find(this.#queues, "queue", name);
    requireObject("create queue", options);
    const given = withoutAbsent(options);
    const known = withoutAbsent({ ...this.#queueOptions, maxWait, whileWaiting });
    return createRateLimitingQueue<T>(limiter, {
      name,
      ...known,
      ...(discipline === undefined || given.discipline !== undefined ? {} : { discipline: discipline() }),
      ...given,
    });
  }

  workers(name: string): WorkerOptions {
    const { concurrency, maxRetries, timeout, starts } = find(this.#queues, "queue", name);
    return withoutAbsent({ concurrency, maxRetries, timeout, starts });
  }

  runWorkers<T>(
    name: string,
    queue: RateLimitingQueue<T> | SourcedQueue<T>,
    handler: Handler<T>,
    options: WorkerOptions<[T][T extends unknown ? 0 : never]> = {},
  ): WorkerPool<T> {
    const given = withoutAbsent(options) as WorkerOptions<[T][T extends unknown ? 0 : never]>;
    return runWorkers<T>(queue, handler, { ...this.workers(name), ...given });
  }

  reload(_source: string | object): ConfigChange[] {
    throw new Error("Cannot reload config as that is not built yet");
  }

  onReload(prepare: (next: ConfigContents) => (() => void) | void): () => void {
    if (typeof prepare !== "function") throw invalidArgument("follow config", "prepare", "must be a function", prepare);
    return () => {};
  }

  describe(name: string): QueueDescription {
    const { starts: bucket } = find(this.#queues, "queue", name);
    const options = describeOptions(this.#document.queues.get(name)!, this.#describing());
    const starts = bucket && describeBucket(options["starts"] as PartDescription, bucket);
    return { name, ...options, ...withoutAbsent({ starts }) } as object as QueueDescription;
  }

  /** Each limiter is described after all that it refers to. */
  #describing(): Describing {
    const limiters = new Map<string, LimiterDescription>();
    const describing: Describing = { building: this.#building, named: ({ name }) => limiters.get(name)! };
    for (const [name, tree] of this.#document.limiters) limiters.set(name, describePart(tree, describing, name));
    return describing;
  }
}

function find<V>(map: ReadonlyMap<string, V>, kind: string, name: string): V {
  const value = map.get(name);
  if (value !== undefined) return value;
  const hint = typeof name === "string" ? suggest(name, [...map.keys()]) : "";
  throw new RangeError(`Cannot get ${kind} as the config has none named ${inspect(name)}${hint}`);
}

/** One that has a name is described as a limiter, which may be of a type that knows of no rate. */
function describeBucket({ path, name }: PartDescription, { rate, burst }: TokenBucket): BucketDescription {
  return { path, ...withoutAbsent({ name }), rate, burst };
}

/** What has the type of a bucket limiter has a bucket, unless another registry means something else by that type. */
function requireBucket(name: string, limiter: unknown): TokenBucket {
  const bucket = bucketOf(limiter);
  if (bucket !== undefined) return bucket;
  const message = `${inspect("bucket")} created a limiter without a token bucket`;
  throw new ConfigError(ACTION, [{ path: `/limiters/${escapePointer(name)}`, message }]);
}

/** Leaves out options that are undefined, so that they replace no others where objects are merged. */
function withoutAbsent<O extends object>(options: O): { [K in keyof O]?: NonNullable<O[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as typeof options;
}
