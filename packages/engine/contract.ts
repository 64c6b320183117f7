import type {
  AddOptions,
  CancelledFrom,
  DisciplineConfig,
  DisciplineRegistry,
  Duration,
  GivenUpQueue,
  GivenUpRetention,
  LimiterConfig,
  LimiterRegistry,
  MetricsProvider,
  Outcome,
  RetryBudgetOptions,
  Shutdown,
  SnapshotOptions,
  SourcedQueue,
} from "@workqueue/core";
import type { QueueCounts, RemoteQueueSnapshot } from "@workqueue/core/hooks";

export type { QueueCounts, QueueTotals, RemoteBlockedGroup, RemoteQueueSnapshot } from "@workqueue/core/hooks";

/** Options that queues of all engines have. */
export interface RemoteQueueOptions<T = string> {
  /**
   * Limiter for failed items, in the form that a config document uses. All processes share the limiter's state. Each
   * process applies its own limiter config.
   *
   * @default {client-go's default controller limiter}
   */
  limiter?: LimiterConfig | undefined;
  /**
   * Limiter types that `limiter` may use. A type that is not built in needs `next`, which each process calls for the
   * failures that it reports. On an engine, `next` gets no `dueAt`, and can't return `NOT_COUNTED`.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * Order of the ready items, in the form that a config document uses: `priority` or `fair`. The engine stores the
   * order, which applies to all processes: each process that has this option puts its discipline in force with its
   * first call, and a process without this option changes nothing. A changed discipline also applies to items that are
   * ready already.
   *
   * @default {the order that the engine has, which is first in, first out for a new queue}
   */
  discipline?: DisciplineConfig | undefined;
  /**
   * Discipline types that `discipline` may use. Only built-in types work outside the process.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Budget for the retries of all processes together: a retry that is due becomes ready only if there is budget. Until
   * then, it is blocked, in order, and takes no worker. The first attempts of all processes count. The engine stores
   * the budget, which applies to all processes: each process that has this option puts its budget in force with its
   * first call, and a process without this option changes nothing. With a `minRate` of 1,000,000 or more, no retry is
   * blocked. In-memory queues have the same option.
   *
   * @default {the budget that the engine has, which is none for a new queue}
   */
  retryBudget?: RetryBudgetOptions | undefined;
  /**
   * Maximum number of given-up items that the engine keeps, the newest; or an object with this number as `max`, and a
   * `maxAge`. {@linkcode RemoteQueue.givenUp} lists the items. The engine stores these limits, which apply to all
   * processes: each process that has this option puts its limits in force with its first call, and a process without
   * this option changes nothing.
   *
   * @default {the limits that the engine has, which is 10,000 items for a new queue}
   */
  keepGivenUp?: number | GivenUpRetention | undefined;
  /**
   * Time from the end of an item's last delay until its failures are forgotten, as for in-memory queues. So keys for
   * which `forget` is never called, such as the keys of deleted objects, don't accumulate. Must be longer than the time
   * from the end of a delay until the end of the attempt after it; otherwise, every failure counts as the first. The
   * time of the process that reports a failure applies. After a reload of the document, a changed time applies from an
   * item's next failure.
   *
   * @default {never}
   */
  forgetAfter?: Duration | undefined;
  /**
   * Time that other processes wait before they take over the items of a lost process. A process renews its lease while
   * it processes items. All processes of a queue should use the same duration. From 100 ms to one day.
   *
   * @default {"30s"}
   */
  leaseDuration?: Duration | undefined;
  /**
   * Number of stalls at which an item is given up: a positive integer. An item stalls when the process that holds its
   * lease is lost. Values below 3 are treated as 3, because an item is always tried alone before it is given up.
   *
   * @default {5}
   */
  maxStalls?: number | undefined;
  /**
   * Time limit for a call, retries included. A call that exceeds the limit rejects. Calls are retried while the engine
   * is unreachable or temporarily refuses calls. From 100 ms to one day.
   *
   * @default {"10s"}
   */
  callTimeout?: Duration | undefined;
  /**
   * Whether results of handlers are stored, so that {@linkcode RemoteQueue.addAndWait} resolves with them in whatever
   * process. A result must have a JSON form of at most 64 kB. Only awaited results are stored, until the process that
   * awaits them has received them, and for no longer than `keepFor` (from 100 ms to one day). The option of the process
   * that runs the handler applies.
   *
   * @default {none}
   */
  results?: { readonly keepFor: Duration } | undefined;
  /**
   * Returns the key of an item. Items with the same key are treated as one item, and the newest version is handed out.
   * Items are stored as JSON. All processes of a queue must use the same `keyOf`, or all of them must omit it. Without
   * `keyOf`, items must be strings, and each item is its own key.
   */
  keyOf?: ((item: T) => string) | undefined;
  /**
   * Effect of adding an item that is already delayed. With `"keep"`, the item becomes ready now, and again when its
   * delay ends. With `"replace"`, the item becomes ready now, and its delay is canceled. With `"fold"`, the same
   * applies, except that an item that failed in a pool is handed out once, when its retry is due. Until then, adding
   * the item changes only its payload and priority. In-memory queues have the same option.
   *
   * @default {"keep"}
   */
  addWhileDelayed?: "keep" | "replace" | "fold" | undefined;
  /**
   * Whether retries go before all other ready items, in a queue that is first in, first out. By default, a retry that
   * is due goes behind every ready item. The option of the process in which the attempt failed applies. In-memory
   * queues have the same option. A queue with a discipline has `retryPriority` instead.
   *
   * @default {false}
   */
  retriesFirst?: boolean | undefined;
  /**
   * Priority of retries, for a discipline that uses priorities. A priority that a handler or `addRateLimited` asks for
   * takes precedence. The option of the process in which the attempt failed applies. In-memory queues have the same
   * option.
   *
   * @default {the priority of the item}
   */
  retryPriority?: number | undefined;
  /**
   * Metrics provider for this process's own work. The queue reports `queueLatency`, `workDuration`, `unfinishedWork`,
   * `longestRunningProcessor` and `retries`. The queue's pools report `active`, `concurrency`, `failures` and
   * `givenUp`. The whole queue is measured by a function of the engine's package. Pass a provider of your own through
   * `adaptMetrics`. By default, nothing is measured.
   */
  metrics?: MetricsProvider | undefined;
  /**
   * Called with each error that doesn't belong to an attempt of a pool:
   *
   * - a call that failed, whether its promise is awaited or not;
   * - the loss of a lease that `get` returned, reported when the work on the lease's item ends;
   * - an item that was given up after `maxStalls` stalls;
   * - an item that this process can't read;
   * - settings of the engine that endanger its data, such as a `maxmemory-policy` of Redis that is not `noeviction`,
   *   reported once.
   *
   * Failed attempts are reported to the pool's `onError`. Without `onQueueError`, errors are written to
   * `console.error`, at most one line per second, but not the error of a call whose rejection the program handles.
   */
  onQueueError?: ((error: unknown) => void) | undefined;
}

/** Options of the calls of a {@linkcode RemoteQueue} that add an item. */
export interface RemoteAddOptions extends AddOptions {
  /**
   * The span that adds the item, as a `traceparent` of W3C Trace Context, such as
   * `"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`. The attempts at the item get it as `context.trace`. If
   * an item is added several times, the newest add applies, even if it has none. `tracedAdds` of
   * `@workqueue/opentelemetry` sets this option.
   *
   * @default {none}
   */
  trace?: string | undefined;
}

/** Options of {@linkcode RemoteQueue.addAndWait}. */
export interface RemoteAddAndWaitOptions extends RemoteAddOptions {
  /** Ends the waiting, but not the work. */
  signal?: AbortSignal | undefined;
}

/** Result of {@linkcode RemoteQueue.addAll}. If a call was repeated because its reply was lost, `added` is too low. */
export interface RemoteAddAllResult {
  /** Number of items that the queue did not have. */
  readonly added: number;
  /** Number of items that were ready, blocked, delayed or processing, or equal an earlier item of the call. */
  readonly folded: number;
}

/** Options of {@linkcode RemoteQueue.addAll}. A function returns the value for each item. */
export interface RemoteAddAllOptions<T> {
  /**
   * Priority of each item: a finite number, higher is more urgent.
   *
   * @default {0}
   */
  priority?: number | ((item: T) => number | undefined) | undefined;
  /**
   * Delay of each item: milliseconds, or a string such as `"5s"`. If the delay is zero or negative, the item is added
   * now.
   *
   * @default {0}
   */
  delay?: Duration | ((item: T) => Duration | undefined) | undefined;
  /**
   * The span that adds the items, as in {@linkcode RemoteAddOptions}.
   *
   * @default {none}
   */
  trace?: string | undefined;
}

/**
 * Work queue that many processes share, outside of all of them. Results cover all processes. Shutdown affects only this
 * process.
 *
 * Each failed call is reported to `onQueueError`, or, without this callback, to `console.error` unless the program
 * handles the rejection. Promises need not be awaited, because no rejection counts as unhandled. Calls reject with:
 *
 * - an error whose code is `WQ_CONNECTION` if the engine is unreachable for longer than `callTimeout`, or if a reply
 *   was lost and the call must not be repeated;
 * - the engine's error if the engine refuses the call, for example an add when there is no space left;
 * - a `TypeError` or `RangeError` if an argument is invalid;
 * - an `Error` if this queue object was shut down (see {@linkcode RemoteQueue.shutDown}).
 *
 * @typeParam T The type of the items.
 * @typeParam R The type of the results, which handlers return.
 */
export interface RemoteQueue<T = string, R = unknown>
  extends AsyncIterable<T>, AsyncDisposable, SourcedQueue<T>, GivenUpQueue<T> {
  /** Name of the queue. */
  readonly name: string;

  /** Name of the engine that stores the items: `"redis"` or `"sqlite"`. */
  readonly engine: string;

  /** The `keyOf` option, if one was given. */
  readonly keyOf?: ((item: T) => string) | undefined;

  /**
   * Adds an item. An item that is already ready keeps its place. If the item is already processing, it is handed out
   * once more after the current work on it ends. An item that was given up becomes ready again. For a delayed item, see
   * `addWhileDelayed`.
   *
   * @param item The item.
   * @param options The item's priority, for a `discipline` that uses priorities, and the span that adds it.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {RangeError} (as a rejection) If `priority` is `NaN` or infinite.
   * @throws {TypeError} (as a rejection) If the item has no valid key or no JSON form, if an option is unknown or of
   * the wrong type, or if `trace` is not a traceparent.
   */
  add(item: T, options?: RemoteAddOptions): Promise<void>;

  /**
   * Adds the item, and waits until it is done, in whatever process: the promise resolves after the first attempt that
   * began after this call and succeeded. If the queue of the process that made this attempt has the option `results`,
   * the promise resolves with the value that the handler returned; otherwise with `undefined`. Calls whose adds are
   * folded into one attempt get the same result. Failed attempts are retried as always, and the call keeps waiting. A
   * process that dies during the attempt ends nothing: the call gets the result of the next attempt.
   *
   * - If the handler returns `requeue`, the call keeps waiting. If it returns `requeueAfter`, or if the item was taken
   *   with `get`, the promise resolves to `undefined`.
   * - If the item is given up, the promise rejects with a `GivenUpError`, unless the item was added again meanwhile.
   *   Its `cause` is the error's name and message as text.
   * - After `cancel`, or after `cancelDelayed` if the item has no other pending work, the promise rejects with the code
   *   `WQ_CANCELLED`.
   * - If this queue object is shut down, and closes before the item is done, the promise rejects with the code
   *   `WQ_SHUT_DOWN`. The item stays in the queue.
   * - If the result can't be stored, the promise rejects with the code `WQ_RESULT`. The item is done.
   * - If this process was stopped for more than a minute, or the engine has lost the data of the queue, the promise may
   *   reject with the code `WQ_DATA_LOST`: the outcome is then not known.
   *
   * @param item The item.
   * @param options The item's priority, the span that adds it, and a `signal` that ends the waiting, but not the work.
   * @returns The result. Nothing is kept for items that nobody awaits.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout` when the item is added.
   * @throws {RangeError} (as a rejection) If `priority` is `NaN` or infinite.
   * @throws {TypeError} (as a rejection) If the item has no valid key or no JSON form, or if an option is unknown or
   * has the wrong type.
   * @throws The signal's reason (as a rejection), if the signal aborts first. If it has aborted before the call, the
   * item is not added.
   */
  addAndWait(item: T, options?: RemoteAddAndWaitOptions): Promise<R>;

  /**
   * Adds items in order, in calls of up to 200 items. Other programs may change the queue between these calls. If one
   * of the calls fails, the items of the other calls stay in the queue.
   *
   * @param items The items.
   * @param options Priorities and delays: a value for all items, or a function that returns the value for each item.
   * The `trace` of the span that adds the items.
   * @returns Resolves to how many of the items were new, and how many were folded into others.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {RangeError} (as a rejection) If a priority or delay is `NaN` or infinite. In that case, no item is added.
   * @throws {TypeError} (as a rejection) If `items` is a string or not an iterable, if an item has no valid key or no
   * JSON form, if an option is unknown or of the wrong type, or if `trace` is not a traceparent. In that case, no item
   * is added.
   */
  addAll(items: Iterable<T>, options?: RemoteAddAllOptions<T>): Promise<RemoteAddAllResult>;

  /**
   * Adds an item after a delay. If the item is already delayed, it keeps the earlier of the two deadlines. A deadline
   * after the year 2255 is moved to that year.
   *
   * @param item The item.
   * @param delay Milliseconds, or a string such as `"5s"`. If the delay is zero or negative, the item is added now.
   * @param options The item's priority, for a `discipline` that uses priorities, and the span that adds it.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {RangeError} (as a rejection) If `delay` or `priority` is `NaN` or infinite.
   * @throws {TypeError} (as a rejection) If `delay` is not a duration, if the item has no valid key or no JSON form, if
   * an option is unknown or of the wrong type, or if `trace` is not a traceparent.
   */
  addAfter(item: T, delay: Duration, options?: RemoteAddOptions): Promise<void>;

  /**
   * Counts a failure of the item, and adds the item after the limiter's delay, or after `minDelay` if that is longer.
   * If the reply is lost, the call is not repeated. In that case, the failure may have been counted even though the
   * promise rejects.
   *
   * @param item The item.
   * @param options Shortest delay (`minDelay`), in milliseconds or as a string such as `"30s"`; 0 by default. The
   * item's `priority`, for a `discipline` that uses priorities. The `trace` of the span that adds the item.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`, or if the reply was lost.
   * @throws {RangeError} (as a rejection) If `minDelay` or `priority` is `NaN` or infinite, or if the limiter's delay
   * is invalid.
   * @throws {TypeError} (as a rejection) If an option is unknown or invalid, or if the item has no valid key or no JSON
   * form.
   */
  addRateLimited(item: T, options?: RemoteAddOptions & { minDelay?: Duration | undefined }): Promise<void>;

  /**
   * Cancels a delayed item. Does nothing if the item is not delayed.
   *
   * @param item The item, or another item with the same key.
   * @returns Whether the item was delayed. May be `false` for a delayed item if a reply was lost and the call was
   * repeated.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If the item has no valid key.
   */
  cancelDelayed(item: T): Promise<boolean>;

  /**
   * Cancels the pending work on an item, in whatever process, and forgets its failures:
   *
   * - A ready, blocked or delayed item is taken out of the queue.
   * - If a process works on the item, the signal of its handler or lease aborts with `reason`: at once, or at the
   *   latest when the process renews its lease. A failure of that attempt is neither counted nor reported, and the item
   *   is not retried, however the attempt ends.
   * - Adds of a processing item before this call no longer make the item ready again. Later adds do.
   *
   * @param item The item, or another item with the same key.
   * @param reason Reason of the signal: a value with a JSON form of at most 10,000 characters, or an error, whose
   * message the process gets. By default, an error with the code `WQ_CANCELLED`.
   * @returns The state in which the item was; `undefined` if there was nothing to cancel, or if a reply was lost and
   * the call was repeated.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If the item has no valid key, or the reason no valid JSON form.
   */
  cancel(item: T, reason?: unknown): Promise<CancelledFrom | undefined>;

  /**
   * Makes a delayed item ready, and puts it behind all items that are already ready. A delayed item can be processing
   * at the same time; it is then handed out once more after the current work on it ends. The item's failure count
   * doesn't change. Does nothing if the item is not delayed.
   *
   * @param item The item, or another item with the same key.
   * @returns Whether the item was delayed. May be `false` for a delayed item if a reply was lost and the call was
   * repeated.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If the item has no valid key.
   */
  promoteDelayed(item: T): Promise<boolean>;

  /**
   * Forgets an item's failures.
   *
   * @param item The item, or another item with the same key.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If the item has no valid key.
   */
  forget(item: T): Promise<void>;

  /**
   * Returns the number of an item's failures since the failures were last forgotten. The result is always 0 if the
   * limiter doesn't count, as a bucket.
   *
   * @param item The item, or another item with the same key.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If the item has no valid key.
   */
  numRequeues(item: T): Promise<number>;

  /**
   * Takes the next item. Waits if no item is ready. While the engine is unreachable, `get` keeps waiting, and errors
   * are reported to `onQueueError`.
   *
   * @param options A `signal` that ends the wait.
   * @returns A lease on the item; `Shutdown` if this queue object was shut down.
   * @throws (as a rejection) If the signal aborts first. The error is the signal's reason.
   * @throws {TypeError} (as a rejection) If an option is unknown or invalid.
   */
  get(options?: { signal?: AbortSignal | undefined }): Promise<RemoteLease<T> | Shutdown>;

  /**
   * Pauses the queue for all processes: no item is handed out to any process until {@linkcode resume}. Running handlers
   * continue, and items can still be added and retried. The pause is stored with the items, so it outlives the
   * processes. To pause a single pool, call the pool's `pause` method.
   *
   * @returns The number of this pause, which {@linkcode resume} accepts.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   */
  pause(): Promise<number>;

  /**
   * Resumes the queue after a {@linkcode pause} by any process. Does nothing if the queue is not paused.
   *
   * @param options A `pause`: the number of a pause. The queue is then resumed only if nobody has paused it again
   * since.
   * @throws {RangeError | TypeError} (as a rejection) If an option is unknown or invalid.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   */
  resume(options?: { pause?: number | undefined }): Promise<void>;

  /**
   * Pauses a group of a fair discipline, for all processes: its items are blocked until the time has passed, and other
   * groups continue. After the pause, the group hands out one item as a probe, and continues when that item is done. If
   * the group is paused already, the later end applies.
   *
   * @param group The group: the part of the keys before the discipline's `separator`.
   * @param duration The duration of the pause: milliseconds, or a string such as `"30s"`.
   * @throws {Error} (as a rejection) If the queue has no groups, because its discipline is not a fair one; or, with
   * code `WQ_CONNECTION`, if the engine is unreachable for longer than `callTimeout`.
   * @throws {RangeError} (as a rejection) If `duration` is `NaN` or infinite.
   * @throws {TypeError} (as a rejection) If `group` is not a string, or `duration` is not a duration.
   */
  pauseGroup(group: string, duration: Duration): Promise<void>;

  /**
   * Ends the pause of a group now, without a probe. Does nothing if the group is not paused.
   *
   * @param group The group.
   * @throws {Error} (as a rejection) If the queue has no groups, because its discipline is not a fair one; or, with
   * code `WQ_CONNECTION`, if the engine is unreachable for longer than `callTimeout`.
   * @throws {TypeError} (as a rejection) If `group` is not a string.
   */
  resumeGroup(group: string): Promise<void>;

  /**
   * Counts the queue's items across all processes.
   *
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   */
  counts(): Promise<QueueCounts>;

  /**
   * Returns the queue's contents across all processes in one call: its {@linkcode counts}, its totals since it was
   * created, and lists of up to `limit` items each. Each failing item has its last error, and failing items with the
   * most attempts come first. Items that have failed but will not be retried are left out. If there are more than 1,000
   * of them, the list of failing items may be incomplete.
   *
   * @param options A `limit`: an integer from 0 to 1000, 100 by default.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {RangeError} (as a rejection) If `limit` is out of range.
   * @throws {TypeError} (as a rejection) If an option is unknown or of the wrong type.
   */
  snapshot(options?: SnapshotOptions): Promise<RemoteQueueSnapshot<T>>;

  /**
   * Waits until no item is ready, delayed or processing, in any process. Checks twice per second, so the promise may
   * resolve up to half a second late, and a short idle period may be missed.
   *
   * @param options A `signal` that ends the wait.
   * @throws (as a rejection) If the signal aborts first. The error is the signal's reason.
   * @throws {Error} (as a rejection) If this queue object was shut down.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {TypeError} (as a rejection) If an option is unknown or invalid.
   */
  whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Waits until fewer than `count` items are ready, blocked or delayed, in all processes together. Use it before adding
   * items, to limit the backlog. Several processes that wait may add items at the same time. Checks twice per second.
   *
   * @param count The number of items: a positive integer.
   * @param options A `signal` that ends the wait.
   * @throws (as a rejection) If the signal aborts first. The error is the signal's reason.
   * @throws {Error} (as a rejection) If this queue object was shut down; or, with code `WQ_CONNECTION`, if the engine
   * is unreachable for longer than `callTimeout`.
   * @throws {RangeError} (as a rejection) If `count` is not a positive integer.
   * @throws {TypeError} (as a rejection) If `count` is not a number, or an option is unknown or invalid.
   */
  whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;

  /** Whether this queue object was shut down. */
  readonly shuttingDown: boolean;

  /**
   * Shuts down this queue object. The queue object takes no more items, and its adds reject. Items that are processing
   * can still be finished. The queue itself and other processes continue. The connection is closed when the queue
   * object has no leases left.
   */
  shutDown(): void;

  /**
   * Shuts down this queue object, and waits until all of its items are finished and every outcome is reported to the
   * engine.
   *
   * @param options A `signal` that ends the wait.
   * @throws (as a rejection) If the signal aborts first. The error is the signal's reason.
   * @throws {TypeError} (as a rejection) If an option is unknown or invalid. In that case, the queue object is not shut
   * down.
   */
  shutDownWithDrain(options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/**
 * Right to work on an item. The lease is renewed until the work is finished. Disposing the lease ends the work and
 * keeps the failure count, like `done` on an in-memory queue.
 */
export interface RemoteLease<T = string> extends AsyncDisposable {
  /** The item to work on. */
  readonly item: T;
  /** Always `false`; distinguishes a lease from `Shutdown`. */
  readonly shutdown: false;
  /** Priority with which the item was handed out: the highest priority among the adds that led to this lease. */
  readonly priority: number;
  /** The option `trace` of the newest add of the item, if it had one. */
  readonly trace: string | undefined;
  /** Number of this attempt: 1, plus the number of failures since the item's failures were last forgotten. */
  readonly attempt: number;
  /**
   * Fencing token. The token increases with each item that the queue hands out. A system that stores the newest token
   * can refuse writes from an earlier holder.
   */
  readonly token: bigint;
  /**
   * Aborts when the lease may have been lost. From then on, other processes may work on the item. Also aborts when the
   * item is cancelled: see {@linkcode RemoteQueue.cancel}.
   */
  readonly signal: AbortSignal;
  /**
   * Ends the attempt. If no outcome is given, the attempt counts as a success, and the failures are forgotten. With an
   * outcome:
   *
   * - `requeue: true` counts a failure, and adds the item again after the limiter's delay;
   * - `requeueAfter` forgets the failures, and adds the item again after this delay (milliseconds, or a string such as
   *   `"5s"`), if the delay is positive;
   * - `giveUp` forgets the failures, and stores the item as given up with this reason, even if the reason is
   *   `undefined`. `giveUp` can't be combined with `requeue` or `requeueAfter`.
   *
   * Only the first call has an effect. Later calls return the first call's result.
   *
   * @returns `true` if the outcome was applied; `false` if the lease was lost.
   * @throws {Error} (as a rejection) With code `WQ_CONNECTION`, if the engine is unreachable for longer than
   * `callTimeout`.
   * @throws {RangeError} (as a rejection) If `requeueAfter` is `NaN` or infinite.
   * @throws {TypeError} (as a rejection) If the outcome is invalid. In that case, the lease stays
   * active.
   * @throws (as a rejection) If the limiter throws. Rejects with the limiter's error.
   */
  finish(outcome?: Outcome | { giveUp: unknown }): Promise<boolean>;
}
