import {
  type CancelledFrom,
  type Duration,
  type GivenUpOptions,
  type GivenUpPage,
  type GivenUpRetention,
  type GivenUpSelection,
  type MetricsProvider,
  type RedriveOptions,
  type RedriveProgress,
  type RetryBudgetOptions,
  type Shutdown,
  type SnapshotOptions,
  systemClock,
} from "@workqueue/core";
import {
  A_LIMIT,
  A_POSITIVE_INTEGER,
  A_SIGNAL,
  A_STRING,
  argumentError,
  DISCARD,
  formatNumber,
  inspect,
  invalidArgument,
  LIST_GIVEN_UP,
  messageOf,
  REDRIVE,
  requireDuration,
  requireOptions,
  requireRule,
  requireRules,
  type Rule,
  setInspection,
  withCode,
} from "@workqueue/core/internal";
import { ItemCallbacks } from "@workqueue/core/internal/structures";
import { beginMeasuring, type TimesRecorder } from "@workqueue/core/metrics";
import {
  type FailedEnding,
  type GivenUpEnding,
  type GivenUpItem,
  INSPECTION,
  type RemoteInspection,
  SOURCE,
  type Throttle,
  type WorkSource,
} from "@workqueue/core/hooks";
import { setTimeout as delay } from "node:timers/promises";
import { writeReason } from "./cancel_reason.ts";
import { classNameOf } from "./class_name.ts";
import type {
  QueueCounts,
  RemoteAddAllOptions,
  RemoteAddAllResult,
  RemoteAddAndWaitOptions,
  RemoteAddOptions,
  RemoteLease,
  RemoteQueue,
  RemoteQueueSnapshot,
} from "./contract.ts";
import { ENGINE } from "./copy.ts";
import { type Dispatch, Dispatcher, type DispatcherEvents } from "./dispatcher.ts";
import type {
  Awaiting,
  Engine,
  EngineLimiter,
  Finish,
  GivenUpKey,
  PartitionedEngine,
  QueueEngine,
  RankedEntry,
  TakenKey,
} from "./engine.ts";
import { ErrorLog } from "./error_log.ts";
import { lineOf } from "./error_text.ts";
import { GivenUpItems, retentionOf } from "./given_up.ts";
import { endEventOf } from "./item_event.ts";
import { Items } from "./items.ts";
import { handled, HeldLease, type LeaseEvents } from "./lease.ts";
import { MEASURED, type Measured } from "./measured.ts";
import { type EndAnswer, type LeaseEnding, requirePriority } from "./outcome.ts";
import { PartitionedDispatcher } from "./partitioned_dispatcher.ts";
import { ProcessMetrics } from "./process_metrics.ts";
import { ProcessTimes } from "./process_times.ts";
import { refusedResult, writeResult } from "./results.ts";
import { SharedThrottle } from "./shared_throttle.ts";
import { SHUTDOWN } from "./shutdown.ts";
import { snapshotOf } from "./snapshot.ts";
import { isBucket, RemoteSource, type ThrottleName } from "./source.ts";
import type { GatePlan, ThrottleStore } from "./throttle_store.ts";
import { unknownKind } from "./unknown_kind.ts";
import { shutDown, Waits } from "./waits.ts";

/** Parts of a queue object. */
export interface RemoteQueueParts<T> {
  /** Engine of the queue, which the queue object closes. */
  readonly engine: Engine | PartitionedEngine;
  /** Store of the throttles that all processes share. Not used after the engine was closed. */
  readonly throttleStore: ThrottleStore;
  /** Option `keyOf`. */
  readonly keyOf: ((item: T) => string) | undefined;
  /**
   * Path of the queue's throttle in the document, and its name, if it has one. Without a document, the path is empty.
   */
  readonly throttleName: ThrottleName;
  /** Throttle of the queue, if all processes share it. */
  readonly shared: SharedThrottlePlan | undefined;
  /** Option `metrics`. */
  readonly metrics: MetricsProvider | undefined;
  /** Option `onQueueError`. */
  readonly onQueueError: ((error: unknown) => void) | undefined;
  /** Whether results of handlers are stored for processes that await them: the queue has the option `results`. */
  readonly storesResults: boolean;
  /** Option `retryPriority`. */
  readonly retryPriority: number | undefined;
}

/** Throttle of a config that all processes share. */
export interface SharedThrottlePlan {
  /** Throttle that the config built for this process. */
  readonly local: Throttle;
  /** Parts that all processes share, in the order in which permits must be acquired. */
  readonly gates: readonly GatePlan[];
}

/** Settings from a config document that a reload can change. */
export interface LiveSettings {
  /** Limiter of the queue. */
  readonly limiter: EngineLimiter;
  /**
   * Path of the queue's throttle in the document, and its name, if it has one. Without a document, the path is empty.
   */
  readonly throttleName: ThrottleName;
  /** Throttle of the queue, if all processes share it. */
  readonly shared: SharedThrottlePlan | undefined;
  /** Limits on the given-up items; `undefined` to change nothing. */
  readonly keepGivenUp: number | GivenUpRetention | undefined;
  /** Retry budget of the queue; `undefined` to change nothing. */
  readonly retryBudget: RetryBudgetOptions | undefined;
}

/** Interval between two checks by `whenIdle` and `whenBelow`, in milliseconds. */
const IDLE_LOOK = 500;
/** Rule for iterables of items. A string is refused, because adding its characters is never intended. */
const AN_ITERABLE: Rule = [isIterable, "must be an iterable of items"];

/** Queue object whose settings its package can change. */
export interface LiveRemoteQueue<T, R = unknown> extends RemoteQueue<T, R> {
  /** Applies the settings of a reloaded document. */
  change(settings: LiveSettings): void;

  /** Calls `callback` when the queue object is shut down. Returns an unsubscribe function. */
  onShutDown(callback: () => void): () => void;

  /**
   * Returns the entries that `addAll` would add.
   *
   * @throws {Error} If the queue object was shut down.
   * @throws {TypeError | RangeError} If an item or an option is invalid.
   */
  entriesOf(action: string, items: Iterable<T>, options: RemoteAddAllOptions<T> | undefined): RankedEntry[];
}

/** Creates the queue object of this process for a queue of an engine. */
export function createRemoteQueue<T, R = unknown>(parts: RemoteQueueParts<T>): LiveRemoteQueue<T, R> {
  return new RemoteQueueObject(parts) as LiveRemoteQueue<T, unknown> as LiveRemoteQueue<T, R>;
}

/** Queue object: this process's access to a queue of an engine. */
class RemoteQueueObject<T> implements LiveRemoteQueue<T> {
  readonly name: string;
  readonly keyOf: ((item: T) => string) | undefined;
  readonly #items: Items<T>;
  readonly #engine: Engine | PartitionedEngine;
  readonly #throttleStore: ThrottleStore;
  #throttleName: ThrottleName;
  #shared: SharedThrottlePlan | undefined;
  /** Shared throttles by their local throttle. Includes the throttles from before the last reload. */
  readonly #sharedThrottles = new Map<Throttle, SharedThrottle>();
  #countOfShared = 0;
  readonly #sources = new Set<RemoteSource<T>>();
  readonly #errors: ErrorLog;
  readonly #provider: MetricsProvider | undefined;
  readonly #times = new ProcessTimes<HeldLease<T>>();
  readonly #watched = new ItemCallbacks(() => systemClock.now());
  readonly #metrics: ProcessMetrics | undefined;
  readonly #process: string = crypto.randomUUID();
  readonly #dispatcher: Dispatch<T>;
  readonly #leaseEvents: LeaseEvents<T>;
  readonly #givenUp: GivenUpItems<T>;
  readonly #storesResults: boolean;
  readonly #retryPriority: number | undefined;
  /** Calls to `addAndWait`, by the engine, or partition, of their items. */
  readonly #waits = new Map<Awaiting, Waits>();
  /** Number of running calls. */
  #calls = 0;
  #isShutDown = false;
  readonly #shutDownCallbacks = new Set<() => void>();
  /** Callbacks that the pools registered for items that the engine gives up. */
  readonly #givenUpCallbacks = new Set<(given: GivenUpItem<T>) => void>();
  #isClosing = false;
  /** Resolves when the queue object is shut down, has no work left and has reported every outcome. */
  readonly #closed: Promise<void>;
  #close!: () => void;

  constructor(parts: RemoteQueueParts<T>) {
    const { engine, throttleStore, keyOf, throttleName, shared, metrics, onQueueError, storesResults, retryPriority } =
      parts;
    this.name = engine.settings.name;
    this.keyOf = keyOf;
    this.#items = new Items(keyOf);
    this.#engine = engine;
    this.#throttleStore = throttleStore;
    this.#throttleName = throttleName;
    this.#shared = shared;
    this.#storesResults = storesResults;
    this.#retryPriority = retryPriority;
    this.#errors = new ErrorLog(`Queue ${inspect(this.name)} on ${engine.product}`, onQueueError);
    this.#provider = metrics;
    this.#metrics = metrics && new ProcessMetrics(metrics, this.name, this.#times);
    if (this.#metrics !== undefined) this.#recordTimes(this.#metrics);
    this.#leaseEvents = {
      product: engine.product,
      carryOut: (lease, ending) => this.#carryOut(lease, ending),
      onNews: (news) => {
        for (const source of this.#sources) source.tell(news);
      },
      onError: this.#errors.write,
      call: (promise) => this.#errors.call(promise),
    };
    const events: DispatcherEvents<T> = {
      leaseOf: (taken) => this.#leaseOf(taken),
      onUnreadable: (taken, error) => this.#refuse(taken, error),
      onGivenUp: (key) => this.#reportGivenUp(key),
      onError: this.#errors.write,
      onSettled: () => this.#closeIfDone(),
      onFirstWant: () => engine.checkStore(this.#errors.write),
    };
    this.#dispatcher = "partitions" in engine
      ? new PartitionedDispatcher(engine.partitions, this.#process, events)
      : new Dispatcher(engine, this.#process, events);
    this.#givenUp = new GivenUpItems(engine, this.#items, this.#errors.write);
    const endMeasuring = metrics && beginMeasuring(metrics, this.name);
    this.#closed = new Promise<void>((resolve) => this.#close = resolve).then(endMeasuring).catch(this.#errors.write);
  }

  get engine(): string {
    return this.#engine.product.toLowerCase();
  }

  get shuttingDown(): boolean {
    return this.#isShutDown;
  }

  add(item: T, options?: RemoteAddOptions): Promise<void> {
    return this.#call("add item", () => {
      const given = givenWith("add item", options);
      return this.#add([{ ...this.#items.write("add item", item), ...given, delay: 0 }]);
    });
  }

  addAll(items: Iterable<T>, options: RemoteAddAllOptions<T> = {}): Promise<RemoteAddAllResult> {
    const action = "add items";
    return this.#call(action, async () => {
      const entries = this.entriesOf(action, items, options);
      const added = entries.length === 0 ? 0 : await this.#engine.addEach(entries);
      for (const { delay } of entries) if (delay > 0) this.#metrics?.retried();
      return { added, folded: entries.length - added };
    });
  }

  entriesOf(action: string, items: Iterable<T>, options: RemoteAddAllOptions<T> = {}): RankedEntry[] {
    this.#requireOpen(action);
    requireOptions(action, options, ["priority", "delay", "trace"]);
    requireRule(action, "items", items, AN_ITERABLE);
    const { priority, delay } = options;
    const trace = requireTrace(action, options.trace);
    return Array.from(items, (item) => ({
      ...this.#items.write(action, item),
      trace,
      priority: requirePriority(action, typeof priority === "function" ? priority(item) : priority) ?? 0,
      delay: requireDuration(action, "delay", (typeof delay === "function" ? delay(item) : delay) ?? 0),
    }));
  }

  addAndWait(item: T, options?: RemoteAddAndWaitOptions): Promise<unknown> {
    let isAdded = false;
    const call = this.#addAndWait(item, options, () => isAdded = true);
    return this.#errors.call(call, (error) => !isAdded && error !== options?.signal?.reason);
  }

  /** Adds an item, and waits for its result. Calls `onAdded` when the engine has the item. */
  async #addAndWait(
    item: T,
    options: RemoteAddAndWaitOptions = {},
    onAdded: () => void,
  ): Promise<unknown> {
    const action = "add item";
    const given = givenWith(action, options, "signal");
    const { signal } = options;
    requireRules(action, { signal }, { signal: A_SIGNAL });
    signal?.throwIfAborted();
    if (this.#isShutDown) throw shutDown();
    const entry = { ...this.#items.write(action, item), ...given, delay: 0 };
    const engine = this.#engine;
    const { added, result } = "partitions" in engine
      ? this.#waitsIn(await engine.engineOf(entry.key)).add(entry, signal)
      : this.#waitsIn(engine).add(entry, signal); // at once, so that calls take effect in their order
    handled(this.#run(action, () => added).then(onAdded)); // if it rejects, the result rejects too
    return await result;
  }

  #waitsIn(engine: Awaiting): Waits {
    if (this.#isShutDown) throw shutDown();
    let waits = this.#waits.get(engine);
    if (waits === undefined) this.#waits.set(engine, waits = new Waits(engine, this.#errors.write));
    return waits;
  }

  addAfter(item: T, delay: Duration, options?: RemoteAddOptions): Promise<void> {
    return this.#call("add item", async () => {
      const given = givenWith("add item", options);
      const ms = requireDuration("add item", "delay", delay);
      await this.#add([{ ...this.#items.write("add item", item), ...given, delay: ms }]);
      this.#metrics?.retried();
    });
  }

  /**
   * Adds entries. Entries that have the same delay, and neither a priority nor a trace, are sent together with other
   * such entries.
   */
  async #add(entries: readonly RankedEntry[]): Promise<void> {
    const [first] = entries;
    const isPlain = entries.every(({ priority, delay, trace }) => {
      return priority === 0 && trace === undefined && delay === first!.delay;
    });
    await (isPlain ? this.#engine.add(entries, first?.delay) : this.#engine.addEach(entries));
  }

  addRateLimited(item: T, options: RemoteAddOptions & { minDelay?: Duration | undefined } = {}): Promise<void> {
    return this.#call("add item", async () => {
      const { priority: asked, trace } = givenWith("add item", options, "minDelay");
      const priority = options.priority ?? this.#retryPriority ?? asked;
      const minDelay = options.minDelay === undefined ? 0 : requireDuration("add item", "minDelay", options.minDelay);
      const entry = { ...this.#items.write("add item", item), trace };
      const isNewest = !this.#items.wasHandedOut(item);
      let failures: number | undefined = 0;
      do {
        const given = this.#engine.limiter.given(failures, { key: entry.key, item, isReadable: true, minDelay });
        failures = await this.#engine.addRateLimited(entry, isNewest, given, minDelay, priority);
      } while (failures !== undefined);
      this.#metrics?.retried();
    });
  }

  cancelDelayed(item: T): Promise<boolean> {
    return this.#call("cancel item", () => this.#engine.cancelDelayed(this.#items.keyOf("cancel item", item)));
  }

  cancel(item: T, reason?: unknown): Promise<CancelledFrom | undefined> {
    const action = "cancel item";
    return this.#call(action, () => this.#engine.cancel(this.#items.keyOf(action, item), writeReason(reason)));
  }

  promoteDelayed(item: T): Promise<boolean> {
    return this.#call("retry item", () => this.#engine.promoteDelayed(this.#items.keyOf("retry item", item)));
  }

  forget(item: T): Promise<void> {
    return this.#call("forget item", () => this.#engine.forget(this.#items.keyOf("forget item", item)));
  }

  numRequeues(item: T): Promise<number> {
    const action = "count requeues";
    return this.#call(action, () => this.#engine.numRequeues(this.#items.keyOf(action, item)));
  }

  pause(): Promise<number> {
    return this.#call("pause queue", () => this.#engine.pause());
  }

  resume(options: { pause?: number | undefined } = {}): Promise<void> {
    return this.#call("resume queue", async () => {
      requireRules("resume queue", options, { pause: A_POSITIVE_INTEGER });
      await this.#engine.resume(options.pause);
    });
  }

  pauseGroup(group: string, duration: Duration): Promise<void> {
    const action = "pause group";
    return this.#call(action, async () => {
      requireRule(action, "group", group, A_STRING);
      const ms = requireDuration(action, "duration", duration);
      if (!await this.#engine.pauseGroup(group, ms)) throw noGroups(action);
    });
  }

  resumeGroup(group: string): Promise<void> {
    const action = "resume group";
    return this.#call(action, async () => {
      requireRule(action, "group", group, A_STRING);
      if (!await this.#engine.resumeGroup(group)) throw noGroups(action);
    });
  }

  async get(options: { signal?: AbortSignal | undefined } = {}): Promise<RemoteLease<T> | Shutdown> {
    requireRules("get item", options, { signal: A_SIGNAL });
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#isShutDown) return SHUTDOWN;
    return await new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        signal?.removeEventListener("abort", abort);
        this.#dispatcher.unwant(want);
        settle();
      };
      const abort = () => end(() => reject(signal!.reason));
      const want = {
        request: () => ({ count: 1 }),
        accept: ([lease]: readonly HeldLease<T>[]) => {
          this.#tellStarted(lease!);
          end(() => resolve(lease!));
        },
        end: () => end(() => resolve(SHUTDOWN)),
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#dispatcher.want(want);
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let lease = await this.get(); !lease.shutdown; lease = await this.get()) {
      try {
        yield lease.item;
      } finally {
        await lease[Symbol.asyncDispose]();
      }
    }
  }

  givenUp(options: GivenUpOptions = {}): Promise<GivenUpPage<T>> {
    return this.#call(LIST_GIVEN_UP, () => this.#givenUp.list(options));
  }

  redrive(options: RedriveOptions = {}): Promise<RedriveProgress> {
    return this.#call(REDRIVE, () => this.#givenUp.redrive(options));
  }

  redriveProgress(): Promise<RedriveProgress | undefined> {
    return this.#call("look at redrive", () => this.#givenUp.progress());
  }

  stopRedrive(): Promise<RedriveProgress | undefined> {
    return this.#call("stop redrive", () => this.#givenUp.stop());
  }

  discard(options: GivenUpSelection = {}): Promise<number> {
    return this.#call(DISCARD, async () => await this.#givenUp.discard(options));
  }

  counts(): Promise<QueueCounts> {
    return this.#count("count items");
  }

  #count(action: string): Promise<QueueCounts> {
    return this.#call(action, () => this.#engine.counts());
  }

  snapshot(options: SnapshotOptions = {}): Promise<RemoteQueueSnapshot<T>> {
    return this.#call("make snapshot", async () => {
      requireRules("make snapshot", options, { limit: A_LIMIT });
      const { limit = 100 } = options;
      return snapshotOf(this.name, await this.#engine.snapshot(limit), this.#items);
    });
  }

  async whenIdle(options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const isIdle = ({ ready, blocked, delayed, processing }: QueueCounts) =>
      ready + blocked + delayed + processing === 0;
    await this.#when("wait for idle queue", options, isIdle);
  }

  async whenBelow(count: number, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const action = "wait for fewer items";
    requireRule(action, "count", count, A_POSITIVE_INTEGER);
    await this.#when(action, options, ({ ready, blocked, delayed }) => ready + blocked + delayed < count);
  }

  /** Waits until the counts meet a condition. */
  async #when(
    action: string,
    options: { signal?: AbortSignal | undefined },
    isReached: (counts: QueueCounts) => boolean,
  ): Promise<void> {
    requireRules(action, options, { signal: A_SIGNAL });
    const { signal } = options;
    for (;;) {
      signal?.throwIfAborted();
      if (isReached(await this.#count(action))) return;
      await delay(IDLE_LOOK, undefined, { signal }).catch(() => signal!.throwIfAborted());
    }
  }

  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    for (const callback of this.#shutDownCallbacks) callback();
    this.#givenUp.shutDown();
    this.#dispatcher.close();
    this.#closeIfDone();
  }

  shutDownWithDrain(options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return handled(this.#drain(options));
  }

  async #drain(options: { signal?: AbortSignal | undefined }): Promise<void> {
    if ((options as { delayed?: unknown } | null)?.delayed !== undefined) {
      throw argumentError(
        "drain queue",
        `'delayed' is for queues in memory: on ${this.#engine.product}, delayed items stay for other processes`,
      );
    }
    requireRules("drain queue", options, { signal: A_SIGNAL });
    const { signal } = options;
    this.shutDown();
    signal?.throwIfAborted();
    if (signal === undefined) return await this.#closed;
    await new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      this.#closed.then(() => {
        signal.removeEventListener("abort", abort);
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutDownWithDrain();
  }

  [SOURCE](): WorkSource<T> {
    const source = new RemoteSource({
      name: this.name,
      product: this.#engine.product,
      dispatcher: this.#dispatcher,
      throttleName: () => this.#throttleName,
      sharedThrottle: (throttle) => this.#sharedThrottle(throttle),
      metrics: this.#provider,
      noteStart: (lease) => {
        this.#noteStart(lease);
        this.#tellStarted(lease);
      },
      pause: (key, scope, ms) => this.#pause(key, scope, ms),
      isOver: () => this.#isShutDown,
      onShutDown: (callback) => this.onShutDown(callback),
      watchGivenUp: (callback) => {
        this.#givenUpCallbacks.add(callback);
        return () => {
          this.#givenUpCallbacks.delete(callback);
          this.#sources.delete(source); // the pool has ended
        };
      },
    });
    this.#sources.add(source);
    return source;
  }

  /**
   * Returns the throttle that all processes share, if the given throttle of the config is its local part.
   */
  #sharedThrottle(local: Throttle): SharedThrottle | undefined {
    const gates = local === this.#shared?.local ? this.#shared.gates : this.#gatesOfBucket(local);
    if (gates === undefined) return undefined;
    const known = this.#sharedThrottles.get(local);
    if (known !== undefined) return known;
    const countItems = () => [...this.#sources].reduce((sum, source) => sum + source.unbegun, 0);
    const throttle = new SharedThrottle(local, gates, countItems, {
      store: this.#throttleStore,
      process: `${this.#process}.${this.#countOfShared++}`, // an earlier throttle may have permits of the same gate
      leaseDuration: this.#engine.settings.leaseDuration,
      onError: this.#errors.write,
      onExpired: () => this.#dispatcher.losePermits(),
    });
    this.#sharedThrottles.set(local, throttle);
    return throttle;
  }

  /**
   * Returns the gate for a bucket of this process in a queue with partitions. Without partitions, the tokens come with
   * the items.
   */
  #gatesOfBucket(local: Throttle): readonly GatePlan[] | undefined {
    if (!("partitions" in this.#engine) || !isBucket(local)) return undefined;
    return [{ kind: "tokens", id: this.#engine.partitions.bucket, values: local, countsCosts: true }];
  }

  get [INSPECTION](): RemoteInspection {
    return {
      keepsTraces: true,
      recordTimes: (recorder) => this.#recordTimes(recorder),
      watchItem: (item, callback) => this.#watched.add(this.#items.keyOf("watch item", item as T), callback),
    };
  }

  // Inspecting a queue object shows only local state and makes no call to the engine.
  static {
    const title = (queue: RemoteQueueObject<unknown>) => {
      const { product, address } = queue.#engine;
      return `${classNameOf(product, "Queue")} ${inspect(queue.name)} on ${address}`;
    };
    setInspection<RemoteQueueObject<unknown>>(RemoteQueueObject.prototype, title, (queue) => {
      const state = queue.#isShutDown ? "shut down" : queue.#engine.isConnected ? "connected" : "not connected";
      const paused = queue.#dispatcher.isPaused && !queue.#isShutDown ? ", paused" : "";
      return `${formatNumber(queue.#dispatcher.processing)} processing here, ${state}${paused}`;
    });
  }

  get [MEASURED](): Measured {
    return {
      product: this.#engine.product,
      metrics: this.#provider,
      measure: () => this.#run("measure queue", () => this.#engine.counts()),
      onError: this.#errors.write,
      onShutDown: (callback) => this.onShutDown(callback),
    };
  }

  get [ENGINE](): QueueEngine {
    return this.#engine;
  }

  change({ limiter, throttleName, shared, keepGivenUp, retryBudget }: LiveSettings): void {
    this.#engine.limiter = limiter;
    this.#throttleName = throttleName;
    this.#shared = shared;
    for (const [local, throttle] of this.#sharedThrottles) {
      if (local === shared?.local) throttle.change(shared.gates);
      else if (throttle.isUnused) {
        this.#sharedThrottles.delete(local);
        throttle.close().catch(this.#errors.write);
      }
    }
    if (keepGivenUp !== undefined) this.#engine.keepGivenUp(retentionOf(keepGivenUp)).catch(this.#errors.write);
    if (retryBudget !== undefined) this.#engine.limitRetries(retryBudget).catch(this.#errors.write);
    this.#dispatcher.look();
  }

  onShutDown(callback: () => void): () => void {
    this.#shutDownCallbacks.add(callback);
    return () => void this.#shutDownCallbacks.delete(callback);
  }

  /** Passes the times of this process's items to a recorder. Returns a function that ends this. */
  #recordTimes(recorder: TimesRecorder): () => void {
    const end = this.#times.recorders.add(recorder);
    this.#engine.measuresTimes = true;
    return () => {
      end();
      this.#engine.measuresTimes = this.#times.recorders.size > 0;
    };
  }

  /** Pauses the group of a key, or the queue, for a number of milliseconds. Returns whether that is possible. */
  #pause(key: string, scope: "group" | "queue", ms: number): boolean {
    const group = scope === "group" ? this.#engine.groupOf(key) : undefined;
    if (scope === "group" && group === undefined) return false;
    const pause = group === undefined ? this.#engine.pauseUntil(ms) : this.#engine.pauseGroup(group, ms);
    pause.catch(this.#errors.write);
    return true;
  }

  /** Makes a call whose promise doesn't have to be awaited. */
  #call<R>(action: string, call: () => Promise<R>): Promise<R> {
    return this.#errors.call(this.#run(action, call));
  }

  #requireOpen(action: string): void {
    if (this.#isShutDown) throw new Error(`Cannot ${action}: this queue object was shut down`);
  }

  async #run<R>(action: string, call: () => Promise<R>): Promise<R> {
    this.#requireOpen(action);
    this.#engine.checkStore(this.#errors.write);
    this.#calls++;
    try {
      return await call();
    } finally {
      this.#calls--;
      this.#closeIfDone();
    }
  }

  #leaseOf(taken: TakenKey): HeldLease<T> {
    const lease = new HeldLease(this.#items.handOut(taken), taken, this.#leaseEvents);
    this.#noteStart(lease);
    this.#times.taken(lease, taken.readyForMs);
    return lease;
  }

  #noteStart(lease: HeldLease<T>): void {
    if (this.#engine.limiter.needsStart) lease.startedAt = systemClock.now();
  }

  #tellStarted({ key, attempt }: HeldLease<T>): void {
    if (this.#watched.size > 0) this.#watched.tell(key, { state: "started", attempt });
  }

  /**
   * Reports an item that this process can't read, and creates a lease without an item. The item is retried after the
   * limiter's delay, because another process may be able to read it.
   */
  #refuse(taken: TakenKey, error: unknown): HeldLease<T> {
    this.#errors.write(new Error(`Cannot take ${inspect(taken.key)}: ${messageOf(error)}`, { cause: error }));
    return new HeldLease(undefined as T, taken, this.#leaseEvents, false);
  }

  #carryOut(lease: HeldLease<T>, ending: LeaseEnding): Promise<EndAnswer> {
    const finish = this.#finishOf(lease, ending, lease.attempt - 1); // throws if the limiter throws
    if (ending.kind === "handedBack") this.#times.handedBack(lease);
    else this.#times.ended(lease);
    return handled(this.#tellEnd(lease, ending, finish));
  }

  /**
   * Reports a key that the engine gave up. Also notifies one of this process's pools, because the pools can't know that
   * the engine gave up the key.
   */
  #reportGivenUp({ key, payload, attempts }: GivenUpKey): void {
    const error = errorOfStalls(key);
    this.#errors.write(error);
    this.#watched.tell(key, { state: "givenUp", attempt: attempts, error, reason: "stalled" });
    const [callback] = this.#givenUpCallbacks;
    if (callback === undefined) return;
    try {
      callback({ item: this.#items.read({ key, payload }), key, attempts, error, reason: "stalled" });
    } catch (unreadable) { // added by a process with another `keyOf` setting
      this.#errors.write(unreadable);
    }
  }

  /**
   * Reports the outcome of the work on an item to the engine. Resolves to the ending that replaced `ending`, if the
   * item was cancelled, if the limiter threw, or if the item was to be given up and has retries left.
   */
  async #tellEnd(lease: HeldLease<T>, ending: LeaseEnding, finish: Finish): Promise<EndAnswer> {
    let instead: FailedEnding | GivenUpEnding | undefined;
    this.#calls++;
    try {
      for (;;) {
        const answer = await this.#dispatcher.finish(lease, finish);
        if ((answer === true || answer === "cancelled") && this.#watched.has(lease.key)) {
          const applied = answer === true ? instead ?? ending : answer;
          const event = endEventOf(lease.attempt, applied, finish);
          if (event !== undefined) this.#watched.tell(lease.key, event);
        }
        if (answer === "cancelled") return { kind: answer };
        if (typeof answer === "boolean") {
          if (answer && IS_RETRY[(instead ?? ending).kind]) this.#metrics?.retried();
          return answer && instead !== undefined ? instead : answer;
        }
        if (ending.kind === "givenUp") {
          instead = { kind: "failed", error: ending.error, minDelay: lease.limits!.minDelay };
        }
        try {
          finish = this.#finishOf(lease, instead ?? ending, answer);
        } catch (error) { // the limiter threw, so the next delay can't be computed
          instead = { kind: "givenUp", error, reason: "limiter" };
          finish = this.#finishOf(lease, instead, answer);
        }
      }
    } finally {
      this.#calls--;
      this.#closeIfDone();
    }
  }

  #finishOf(lease: HeldLease<T>, ending: LeaseEnding, failures: number): Finish {
    const { key, token, item, isReadable, startedAt } = lease;
    const { limiter } = this.#engine;
    const finish = { key, token: `${token}`, kind: ending.kind };
    switch (ending.kind) {
      case "requeueAfter":
        return { ...finish, delay: ending.delay, priority: ending.priority };
      case "retry":
      case "failed": {
        const reason = "error" in ending ? lineOf(ending.error) : "";
        const asked = "priority" in ending ? ending.priority : undefined;
        const priority = asked ?? this.#retryPriority;
        const { minDelay } = ending;
        const given = limiter.given(failures, { key, item, isReadable, startedAt, minDelay });
        return { ...finish, delay: minDelay, rules: limiter.rules, given, reason, priority };
      }
      case "givenUp":
        return {
          ...finish,
          reason: lineOf(ending.error),
          why: ending.reason,
          attempts: lease.attempt,
          maxRetries: ending.reason === "maxRetries" ? lease.limits?.maxRetries : undefined,
        };
      case "succeeded":
        return lease.isAwaited && this.#storesResults
          ? { ...finish, result: this.#resultOf(key, ending.result) }
          : finish;
      case "done":
      case "handedBack":
        return finish;
      default:
        throw unknownKind(this.#engine.product, "outcome", ending);
    }
  }

  /** Returns the outcome of the waits for a key. Reports a result that can't be stored. */
  #resultOf(key: string, result: unknown): string {
    const outcome = writeResult(result);
    const refusal = refusedResult(key, outcome);
    if (refusal !== undefined) this.#errors.write(refusal);
    return outcome;
  }

  /** Closes the connection once the queue object is shut down, has no work left and has reported every outcome. */
  #closeIfDone(): void {
    if (!this.#isShutDown || this.#isClosing || this.#calls > 0 || !this.#dispatcher.isDone) return;
    this.#isClosing = true;
    this.#disconnect().catch(this.#errors.write).then(this.#close);
  }

  async #disconnect(): Promise<void> {
    this.#metrics?.stop();
    try {
      await Promise.all([...this.#waits.values()].map((waits) => waits.close()));
      await Promise.all([...this.#sharedThrottles.values()].map((throttle) => throttle.close()));
      await this.#dispatcher.leave();
    } finally {
      await this.#engine.close();
    }
  }
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

/** Options of an add, with their defaults. */
type Given = Pick<RankedEntry, "priority" | "trace">;

const NOTHING_GIVEN: Given = { priority: 0, trace: undefined };

/**
 * Returns the options of an add, with their defaults.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type, or if `trace` is not a traceparent.
 * @throws {RangeError} If the priority is `NaN` or infinite.
 */
function givenWith(action: string, options: RemoteAddOptions | undefined, ...known: string[]): Given {
  if (options === undefined) return NOTHING_GIVEN;
  requireOptions(action, options, ["priority", "trace", ...known]);
  return {
    priority: requirePriority(action, options.priority) ?? 0,
    trace: requireTrace(action, options.trace),
  };
}

/** Form of a `traceparent`: https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

function requireTrace(action: string, trace: unknown): string | undefined {
  if (trace === undefined || (typeof trace === "string" && TRACEPARENT.test(trace))) return trace;
  throw invalidArgument(action, "trace", "must be a W3C traceparent", trace);
}

function noGroups(action: string): Error {
  return argumentError(action, 'the queue has no groups: it needs a discipline of type "fair"', Error);
}

/** Whether each outcome counts as a retry in metrics. */
const IS_RETRY: Readonly<Record<LeaseEnding["kind"], boolean>> = {
  done: false,
  succeeded: false,
  handedBack: false,
  givenUp: false,
  requeueAfter: true,
  retry: true,
  failed: true,
};

function errorOfStalls(key: string): Error {
  return withCode(
    "WQ_LEASE_LOST",
    new Error(`${inspect(key)} is given up, as each process that worked on it was lost`),
  );
}
