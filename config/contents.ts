import { argumentError, ConfigError, inspect } from "../lib/base/errors.ts";
import { pick, withoutAbsent } from "../lib/base/objects.ts";
import { suggest } from "../lib/base/suggest.ts";
import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { RateLimitingQueueOptions } from "../lib/contracts/rate_limiting_queue.ts";
import type { WorkerOptions } from "../lib/contracts/workers.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { LiveRetention, storeWith } from "../lib/queue/given_up_store.ts";
import { LiveDuration } from "../lib/queue/live_duration.ts";
import { LiveRetryBudget } from "../lib/queue/retry_budget.ts";
import { isTokenBucket } from "../lib/tokens/is_token_bucket.ts";
import type { TokenBucket } from "../lib/tokens/token_bucket.ts";
import { isBuiltIn } from "../registry/built_in.ts";
import { type ThrottleDescription, throttleKind } from "../throttles/definition.ts";
import type { LimiterDescription } from "../limiters/definition.ts";
import { Builder, type Building, type MadeParts } from "../registry/build.ts";
import { describeOptions, describePart, type Describing } from "../registry/description.ts";
import type { OptionsOf } from "../registry/fields.ts";
import { isName, type NameNode, type PartTree } from "../registry/tree.ts";
import { carryOut, type Update } from "../registry/updates.ts";
import { bucketOf } from "./buckets.ts";
import { type DocumentTree, limiterPath, queuePath } from "./document.ts";
import { LiveLimiter, type Places } from "./places.ts";
import { type FromDocument, optionsFor, type queueOptions } from "./queue_options.ts";
import type { ConfigContents, QueueDescription } from "./work_queue_config.ts";

/** Options of a queue in a document, after its limiter and its throttle have been built. */
type QueueSettings =
  & {
    readonly limiter: RateLimiter;
    readonly retryBudget: LiveRetryBudget | undefined;
    readonly keepGivenUp: LiveRetention | undefined;
    readonly forgetAfter: LiveDuration | undefined;
  }
  & Omit<DocumentOptions, "limiter" | "retryBudget" | "keepGivenUp" | "forgetAfter">;

/** Options of a queue in a document, with built parts. */
type DocumentOptions = OptionsOf<typeof queueOptions, {
  limiter: RateLimiter;
  discipline: QueueDiscipline<unknown>;
  throttle: Throttle;
}>;

/** Options for creating a queue: its limiter, its discipline, and the other options from the document. */
export type QueueTerms =
  & Pick<QueueSettings, "limiter" | "discipline">
  & FromDocument<
    RateLimitingQueueOptions<unknown>,
    | "name"
    | "keyOf"
    | "discipline"
    | "clock"
    | "metrics"
    | "priorityLevels"
    | "retriesFirst"
    | "retryPriority"
    | "ref"
    | "onDrop"
  >;

/** Options of a pool that a document can supply. */
type PoolTerms = FromDocument<
  WorkerOptions,
  "maxAbandoned" | "signal" | "clock" | "cost" | "isOverload" | "onError" | "onGiveUp" | "whileProcessing" | "abortFor"
>;

/** Live values of an option by the name of the queue. Only the first value of a queue may be `undefined`. */
type LiveValues<Live> = Map<string, readonly (Live | undefined)[]>;

/**
 * Contents of a document, with all parts built. Parts kept from the previous document are the same objects, and change
 * only when {@linkcode Contents.putInForce} is called.
 */
export class Contents implements ConfigContents {
  readonly document: DocumentTree;
  readonly #building: Building;
  readonly #made: MadeParts;
  readonly #limiters = new Map<string, LiveLimiter>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #throttles = new Map<string, Throttle>();
  readonly #queues = new Map<string, QueueSettings>();
  /**
   * Retry budgets by the name of the queue: the one for queues that are created now, or `undefined`, and those of
   * queues that were created before the option was removed and added again.
   */
  readonly #budgets: LiveValues<LiveRetryBudget>;
  /** Retentions of given-up items by the name of the queue, in the same form as the budgets. */
  readonly #retentions: LiveValues<LiveRetention>;
  /** Times after which failures are forgotten, by the name of the queue, in the same form as the budgets. */
  readonly #forgetTimes: LiveValues<LiveDuration>;
  /** Changes of the budgets, the retentions and these times. */
  readonly #liveChanges: (() => void)[] = [];
  /** Limiters of this document, by the stable limiter that delegates to them. */
  readonly #standing = new Map<LiveLimiter, RateLimiter>();
  #updates: readonly Update[];

  constructor(document: DocumentTree, building: Building, places: Places, before?: Contents) {
    this.document = document;
    this.#building = building;
    const builder = new Builder(building, before && before.#made, {
      now: (node) => this.namedThrottle(node),
      before: (node) => before && before.namedThrottle(node),
    });
    this.#made = builder.made;
    this.#updates = builder.updates;

    const named = new Map<string, RateLimiter>();
    const build = (tree: PartTree<RateLimiter>) => isName(tree) ? named.get(tree.name)! : builder.part(tree);
    const open = (path: string, limiter: RateLimiter) => {
      const place = places.open(path, limiter);
      this.#standing.set(place, limiter);
      return place;
    };
    for (const [name, tree] of document.limiters) {
      const limiter = build(tree);
      named.set(name, limiter);
      const place = open(limiterPath(name), limiter);
      this.#limiters.set(name, isName(tree) ? this.#limiters.get(tree.name)! : place);
    }
    for (const name of document.bucketNames) {
      this.#buckets.set(name, requireBucket(building.action, name, named.get(name)));
    }
    for (const [name, tree] of document.throttles) this.#throttles.set(name, builder.part(tree));
    this.#budgets = new Map(before && before.#budgets);
    this.#retentions = new Map(before && before.#retentions);
    this.#forgetTimes = new Map(before && before.#forgetTimes);
    for (const [name, { parts, ...others }] of document.queues) {
      const { limiter, throttle } = parts as { limiter: PartTree<RateLimiter>; throttle?: PartTree<Throttle> };
      const options = builder.options({ ...others, parts: {} }, before?.document.queues.get(name));
      const { retryBudget, keepGivenUp, forgetAfter } = options as Partial<DocumentOptions>;
      this.#queues.set(name, {
        ...options as Omit<DocumentOptions, "limiter" | "throttle" | "retryBudget" | "keepGivenUp" | "forgetAfter">,
        retryBudget: this.#live(this.#budgets, name, retryBudget, (value) => new LiveRetryBudget(value)),
        keepGivenUp: this.#live(this.#retentions, name, keepGivenUp, (value) => new LiveRetention(value)),
        forgetAfter: this.#live(this.#forgetTimes, name, forgetAfter, (value) => new LiveDuration(value)),
        limiter: open(`${queuePath(name)}/limiter`, build(limiter)),
        throttle: throttle && builder.part(throttle),
      });
    }
  }

  // Returns a new list each time, because the caller may sort it.
  get limiterNames(): string[] {
    return [...this.document.limiterNames];
  }

  get queueNames(): string[] {
    return [...this.document.queues.keys()];
  }

  /**
   * Makes this document take effect: updates the kept parts, and makes the stable limiter of each place delegate to
   * this document's limiter.
   *
   * @throws {ConfigError} If a part can't be updated. In that case, nothing has changed.
   */
  putInForce(): void {
    carryOut(this.#updates, this.#building);
    this.#updates = []; // otherwise, the updates would keep the previous parts in memory
    for (const [place, limiter] of this.#standing) LiveLimiter.put(limiter, place);
    for (const change of this.#liveChanges.splice(0)) change();
  }

  /**
   * Returns the live value of a queue's option. If the option is removed or added, existing queues keep what they have.
   * Later changes apply to all queues that have the option.
   */
  #live<V, Live extends { update(value: V): void }>(
    lives: LiveValues<Live>,
    name: string,
    value: V | undefined,
    make: (value: V) => Live,
  ): Live | undefined {
    const [live, ...others] = lives.get(name) ?? [];
    if (value === undefined) {
      if (live !== undefined) lives.set(name, [undefined, live, ...others]);
      return undefined;
    }
    if (live === undefined) {
      const added = make(value);
      lives.set(name, [added, ...others]);
      return added;
    }
    this.#liveChanges.push(() => {
      for (const each of [live, ...others]) each!.update(value);
    });
    return live;
  }

  limiter<T>(name: string): RateLimiter<T> {
    return find(this.#limiters, "limiter", name);
  }

  get throttleNames(): string[] {
    return [...this.document.throttleNames];
  }

  throttle(name: string): Throttle {
    return find(new Map<string, Throttle>([...this.#throttles, ...this.#buckets]), "throttle", name);
  }

  bucket(name: string): TokenBucket {
    const throttles = [...this.#throttles].filter((entry): entry is [string, TokenBucket] => isTokenBucket(entry[1]));
    return find(new Map([...this.#buckets, ...throttles]), "bucket", name);
  }

  /** Returns the throttle with a name; `undefined` if the name is not that of a throttle. */
  namedThrottle({ kind, name }: NameNode): Throttle | undefined {
    if (kind !== throttleKind) return undefined;
    return this.#throttles.get(name) ?? this.#buckets.get(name);
  }

  /** Returns the options for creating the queue with the given name. */
  queueTerms(name: string): QueueTerms {
    const { keepGivenUp, forgetAfter, ...settings } = find(this.#queues, "queue", name);
    const terms: QueueTerms = {
      ...settings,
      keepGivenUp: keepGivenUp && storeWith(keepGivenUp), // each queue needs a store of its own
      forgetAfter: forgetAfter as LiveDuration & number | undefined, // only code of this package may give it to a queue
    };
    return pick(terms, optionsFor("queue"));
  }

  workers(name: string): WorkerOptions {
    const terms: PoolTerms = find(this.#queues, "queue", name);
    return withoutAbsent(pick(terms, optionsFor("pool")));
  }

  describe(name: string): QueueDescription {
    find(this.#queues, "queue", name);
    const options = describeOptions(this.document.queues.get(name)!, this.#describing());
    return { name, ...options } as object as QueueDescription;
  }

  /**
   * Returns a context with descriptions of all limiters and throttles. Each is described after those to which it
   * refers.
   */
  #describing(): Describing {
    const limiters = new Map<string, LimiterDescription>();
    const throttles = new Map<string, ThrottleDescription>();
    const describing: Describing = {
      building: this.#building,
      named: ({ kind, name }) => (kind === throttleKind ? throttles : limiters).get(name)!,
    };
    for (const [name, tree] of this.document.limiters) limiters.set(name, describePart(tree, describing, name));
    for (const [name, bucket] of this.#buckets) {
      throttles.set(name, new BucketDescription(limiters.get(name)!, bucket, this.document.bucketThrottle));
    }
    for (const [name, tree] of this.document.throttles) throttles.set(name, describePart(tree, describing, name));
    return describing;
  }
}

function find<V>(map: ReadonlyMap<string, V>, kind: string, name: string): V {
  const value = map.get(name);
  if (value !== undefined) return value;
  const hint = typeof name === "string" ? suggest(name, [...map.keys()]) : "";
  throw argumentError(`get ${kind}`, `the config has none named ${inspect(name)}${hint}`, RangeError);
}

/**
 * Returns the bucket of a limiter of type "bucket". A custom registry may use that type for a limiter without a bucket.
 */
function requireBucket(action: string, name: string, limiter: unknown): TokenBucket {
  const bucket = bucketOf(limiter);
  if (bucket !== undefined) return bucket;
  const message = `${inspect("bucket")} created a limiter without a token bucket`;
  throw new ConfigError(action, [{ path: limiterPath(name), message }]);
}

/** Describes the bucket of a limiter as a throttle, with the path of the limiter. */
class BucketDescription implements ThrottleDescription {
  readonly type = "bucket";
  readonly path: string;
  declare readonly name?: string;
  readonly options: ThrottleDescription["options"];
  readonly #bucket: TokenBucket;
  readonly #definition: DocumentTree["bucketThrottle"];

  /** The options are those of the document, or of the bucket if its definition is third-party. */
  constructor(limiter: LimiterDescription, bucket: TokenBucket, definition: DocumentTree["bucketThrottle"]) {
    const { path, name, options } = limiter;
    this.path = path;
    Object.assign(this, withoutAbsent({ name }));
    this.options = isBuiltIn(limiter.definition()) ? options : { rate: bucket.rate, burst: bucket.burst };
    this.#bucket = bucket;
    this.#definition = definition;
  }

  definition(): ReturnType<ThrottleDescription["definition"]> {
    if (this.#definition !== undefined) return this.#definition;
    throw argumentError("describe throttle", 'the registry of throttles has no type "bucket"');
  }

  create(): Throttle {
    return this.#bucket;
  }
}
