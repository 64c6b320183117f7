import { A_BOOLEAN, requireObject, requireRules } from "../lib/base/arguments.ts";
import { withCode } from "../lib/base/error_codes.ts";
import { invalidArgument } from "../lib/base/errors.ts";
import { withoutAbsent } from "../lib/base/objects.ts";
import type { Handler, ResultOf } from "../lib/contracts/handler.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import { createRateLimitingQueue } from "../lib/queue/rate_limiting_queue.ts";
import { together } from "../lib/tokens/bucket_changes.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";
import type { Building } from "../registry/build.ts";
import { type BuildContext, partContextOf } from "../registry/definition.ts";
import type { NameNode, OptionsTree } from "../registry/tree.ts";
import { throttleKind } from "../throttles/definition.ts";
import { changesOf } from "./changes.ts";
import { Contents } from "./contents.ts";
import { type Definitions, limiterPath, readDocument } from "./document.ts";
import { Places } from "./places.ts";
import { runFollowing } from "./pools.ts";
import type {
  ConfigChange,
  ConfigContents,
  QueueDescription,
  ReloadOptions,
  WorkQueueConfig,
} from "./work_queue_config.ts";

/** Settings that stay the same when the document is replaced. */
export interface Surroundings {
  readonly definitions: Definitions;
  /** Clock and source of random numbers for limiters. */
  readonly context: BuildContext;
  /** Queue options that a document can't supply. */
  readonly queueOptions: Pick<RateLimitingQueueOptions<unknown>, "clock" | "metrics">;
}

type Follower = (next: ConfigContents) => (() => void) | void;

/** A loaded config, whose document can be replaced by a reload. */
export class LoadedConfig implements WorkQueueConfig {
  readonly #surroundings: Surroundings;
  readonly #places = new Places();
  /**
   * Options of each removed queue, from the last document that contained it. Pools of a removed queue may still be
   * running.
   */
  readonly #removed = new Map<string, OptionsTree>();
  readonly #followers = new Set<{ readonly prepare: Follower }>();
  readonly #building: Omit<Building, "action">;
  #contents: Contents;
  #isReloading = false;

  constructor(source: string | object, surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const places = this.#places;
    const named = (node: NameNode) =>
      node.kind === throttleKind ? this.#contents.namedThrottle(node) : places.get(limiterPath(node.name));
    this.#building = { context: partContextOf(surroundings.context), named };
    this.#contents = this.#read("load config", source);
  }

  get metrics(): MetricsProvider | undefined {
    return this.#surroundings.queueOptions.metrics;
  }

  get limiterNames(): string[] {
    return this.#contents.limiterNames;
  }

  get queueNames(): string[] {
    return this.#contents.queueNames;
  }

  limiter<T>(name: string): RateLimiter<T> {
    return this.#contents.limiter(name);
  }

  get throttleNames(): string[] {
    return this.#contents.throttleNames;
  }

  throttle(name: string): Throttle {
    return this.#contents.throttle(name);
  }

  bucket(name: string): TokenBucket {
    return this.#contents.bucket(name);
  }

  workers(name: string): WorkerOptions {
    return this.#contents.workers(name);
  }

  describe(name: string): QueueDescription {
    return this.#contents.describe(name);
  }

  queue<T, R = unknown>(name: string, options: RateLimitingQueueOptions<T> = {}): RateLimitingQueue<T, R> {
    const { limiter, discipline, ...others } = this.#contents.queueTerms(name);
    requireObject("create queue", options);
    const given = withoutAbsent(options);
    return createRateLimitingQueue<T, R>(limiter, {
      name,
      ...withoutAbsent({ ...this.#surroundings.queueOptions, ...others }),
      ...(discipline === undefined || given.discipline !== undefined ? {} : { discipline: discipline() }),
      ...given,
    });
  }

  runWorkers<T, R = unknown>(
    name: string,
    queue: RateLimitingQueue<T, R> | SourcedQueue<T>,
    handler: Handler<T, ResultOf<R>>,
    options: WorkerOptions<T> = {},
  ): WorkerPool<T> {
    return runFollowing(this, name, queue, handler as Handler<T>, options);
  }

  onReload(prepare: Follower): () => void {
    if (typeof prepare !== "function") throw invalidArgument("follow config", "prepare", "must be a function", prepare);
    const follower = { prepare };
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  reload(source: string | object, options: ReloadOptions = {}): ConfigChange[] {
    requireRules("reload config", options, { dryRun: A_BOOLEAN });
    if (this.#isReloading) throw withCode("WQ_CONFIG", new Error("Cannot reload config inside another reload"));
    let changes: ConfigChange[] = [];
    together(() => { // so that code that runs when a bucket changes sees the whole new document
      this.#isReloading = true;
      try {
        changes = options.dryRun ? this.#tryReload(source) : this.#reload(source);
      } finally {
        this.#isReloading = false;
      }
    });
    return changes;
  }

  /** Reloads the document: first runs every step that may refuse the document, then makes every change. */
  #reload(source: string | object): ConfigChange[] {
    const before = this.#contents;
    let steps: (() => void)[] = [];
    this.#contents = this.#places.openFor(() => {
      const [next, prepared] = this.#prepare(source);
      steps = prepared;
      next.putInForce();
      return next;
    });
    carryOutAll(steps);
    const { document } = this.#contents;
    const changes = changesOf(before.document, document, this.#removed);
    for (const [name, options] of before.document.queues) {
      if (!document.queues.has(name)) this.#removed.set(name, options);
    }
    return changes;
  }

  /** Runs the steps that may refuse the document, except for the updates of parts. Then discards the document. */
  #tryReload(source: string | object): ConfigChange[] {
    const next = this.#places.tryFor(() => this.#prepare(source)[0]);
    return changesOf(this.#contents.document, next.document, this.#removed);
  }

  #prepare(source: string | object): [next: Contents, steps: (() => void)[]] {
    const next = this.#read("reload config", source, this.#contents);
    return [next, Array.from(this.#followers, ({ prepare }) => requireStep(prepare(next)))];
  }

  #read(action: string, source: string | object, before?: Contents): Contents {
    const document = readDocument(action, source, this.#surroundings.definitions);
    return new Contents(document, { ...this.#building, action }, this.#places, before);
  }
}

function requireStep(step: unknown): () => void {
  if (step === undefined) return () => {};
  if (typeof step === "function") return step as () => void;
  throw invalidArgument("reload config", "prepare()", "must be a function, or nothing", step);
}

/** Runs all steps, even if some throw. Then throws the first error. */
function carryOutAll(steps: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
