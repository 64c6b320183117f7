import { hasMethods } from "../base/arguments.ts";
import { SOURCE } from "../base/brands.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { AttemptCounts, KnownKey, QueueHooks } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions, Lease, Shutdown } from "../contracts/work_queue.ts";
import type { Ending, SourcedQueue, WorkAttempt, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import { Attempts } from "../queue/attempts.ts";
import { hooksOf, takesOptions } from "../queue/hooks.ts";
import { withKey } from "../queue/known_key.ts";
import { priorityFor, withPriority } from "../queue/options.ts";

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

/** Delay, in milliseconds, of an item that could not be added again with the limiter's delay. */
const RETRY_DELAY = 1000;

/** Source of work for an in-memory queue without a `keyOf`, built-in or third-party. */
export class QueueSource<T> implements WorkSource<T> {
  readonly #queue: RateLimitingQueue<T>;
  readonly #hooks: QueueHooks<T>;
  readonly #counts: AttemptCounts<T>;

  constructor(queue: RateLimitingQueue<T>) {
    this.#queue = queue;
    this.#hooks = hooksOf(queue);
    this.#counts = attemptCountsOf(queue);
  }

  get name(): string {
    return this.#queue.name;
  }

  get clock(): Clock | undefined {
    return this.#queue.clock;
  }

  /**
   * Absent once the queue is shut down and empty, because the provider may already have been notified that the queue is
   * gone.
   */
  get metrics(): MetricsProvider | undefined {
    return this.isOver && this.length === 0 ? undefined : this.#hooks.metrics;
  }

  keyOf(lease: Lease<T>): unknown {
    return lease.item;
  }

  tryTake(): Lease<T> | undefined {
    return this.#queue.tryGet();
  }

  take({ signal }: WorkRequest): Promise<Lease<T> | Shutdown> {
    return this.#queue.get({ signal });
  }

  attemptOf({ item }: Lease<T>, key: unknown): number {
    const attempts = this.#counts.get(key, item) ?? 0;
    if (attempts > 0) this.#counts.begin?.(key, item);
    return attempts + 1;
  }

  finish(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): void {
    if (this.#keeps(attempt, ending, report)) return;
    try {
      this.#counts.delete(attempt.key);
      this.#queue.forget(attempt.lease.item);
    } catch (error) {
      report(error, attempt);
    }
  }

  /** Carries out an ending, except for forgetting the item's failures. Reports whether the queue keeps them. */
  #keeps(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): boolean {
    const { lease } = attempt;
    switch (ending.kind) { // no `default` case: a kind without a case is a type error
      case "succeeded":
        return false;
      case "failed":
        this.#requeue(attempt, ending.minDelay, this.#asItCame(lease), report);
        return true;
      case "requeue":
        this.#requeue(attempt, undefined, this.#optionsOf(lease, ending.priority), report);
        return true;
      case "handedBack":
        this.#handBack(lease);
        return true;
      case "givenUp":
        this.#tellGivenUp(attempt, ending, report);
        return false;
      case "requeueAfter":
        if (!this.#queue.shuttingDown) {
          this.#queue.addAfter(lease.item, ending.delay, this.#optionsOf(lease, ending.priority));
        }
        return false;
    }
  }

  timedOut(attempt: WorkAttempt<T>): void {
    this.#count(attempt, true);
  }

  #count({ key, number, lease: { item } }: WorkAttempt<T>, hasFailed: boolean): void {
    this.#counts.set(key, number, item, hasFailed);
  }

  pause({ key, lease: { item } }: WorkAttempt<T>, scope: "group" | "queue", ms: number): boolean {
    if (scope === "queue") {
      this.#hooks.pauseFor?.(ms);
      return this.#hooks.pauseFor !== undefined;
    }
    const groups = this.#hooks.groups?.();
    if (groups?.groupOf === undefined) return false;
    this.#queue.pauseGroup(groups.groupOf({ item, key }), ms);
    return true;
  }

  isIgnored({ key, lease }: WorkAttempt<T>): boolean | undefined {
    return this.#counts.isIgnored?.(key, lease.item);
  }

  /**
   * Returns `true` until the queue shuts down. Once the queue is shutting down, an item whose handler requested
   * `requeue` simply succeeds.
   */
  takesBack({ lease }: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    if (!this.#queue.shuttingDown) return true;
    if (reason === "requeue" || this.#hooks.takeBack === undefined) return false;
    return this.#hooks.takesBack?.(lease.item) === true;
  }

  get length(): number {
    return this.#queue.length;
  }

  get isOver(): boolean {
    if (this.#hooks.isOver !== undefined) return this.#hooks.isOver();
    const { delayed, processing, shuttingDown } = this.#queue;
    return shuttingDown && delayed === 0 && processing === 0;
  }

  get mayComeBack(): boolean {
    return this.#hooks.watch !== undefined && this.#hooks.mayComeBack?.() === true;
  }

  /** Absent for a third-party queue that doesn't tell of changes. */
  get watch(): WorkSource<T>["watch"] {
    return this.#hooks.watch;
  }

  get failing(): number | undefined {
    return this.#counts.failing;
  }

  /** Reports whether a key is still failing. If not, another pool or a call to `forget` has reset the count. */
  isFailing(key: unknown, item: T): boolean {
    return this.#counts.isFailing?.(key, item) ?? this.#counts.get(key, item) !== undefined;
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    return this.#counts.watchForgotten?.(callback) ?? (() => {});
  }

  dueInMs(item: T): number | undefined {
    const dueAt = this.#hooks.dueAt?.(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - (this.clock ?? systemClock).now(), 0);
  }

  #tellGivenUp(attempt: WorkAttempt<T>, { error, reason }: Ending & { kind: "givenUp" }, report: Report<T>): void {
    const { lease: { item }, key, number: attempts } = attempt;
    try {
      this.#hooks.givenUp?.({ item, key, attempts, error, reason });
    } catch (thrown) {
      report(thrown, attempt);
    }
  }

  /**
   * Adds an item again after the limiter's delay. Throws only if the limiter throws. Any other error is reported, and
   * the item loses at most its delay or its count.
   *
   * @param failedFor Minimum delay after a failure; `undefined` if the handler requested `requeue`.
   */
  #requeue(
    attempt: WorkAttempt<T>,
    failedFor: number | undefined,
    options: AddOptions | undefined,
    report: Report<T>,
  ): void {
    const { failed } = this.#hooks;
    if (failedFor === undefined || failed === undefined) this.#addAgain(attempt, failedFor ?? 0, options, report);
    else failed(attempt.lease.item, () => this.#addAgain(attempt, failedFor, options, report));
    try {
      this.#count(attempt, failedFor !== undefined);
    } catch (error) { // a `Map` has reached the runtime's maximum size
      report(error, attempt);
    }
  }

  #addAgain(
    attempt: WorkAttempt<T>,
    minDelay: number,
    options: AddOptions | undefined,
    report: Report<T>,
  ): void {
    const { lease } = attempt;
    try {
      this.#addRateLimited(lease.item, options, minDelay);
    } catch (error) {
      if (this.#hooks.limiterThrew?.(error) ?? true) throw error;
      report(error, attempt);
      this.#addWithoutLimiter(lease, options, Math.max(minDelay, RETRY_DELAY));
    }
  }

  /**
   * Adds an item again without calling the limiter, which has already counted the failure. If that fails as well, adds
   * the item without a delay, because retrying it too early is better than losing it.
   */
  #addWithoutLimiter(lease: Lease<T>, options: AddOptions | undefined, delay: number): void {
    try {
      if (this.#queue.shuttingDown) this.#hooks.takeBack?.(lease.item, delay, options);
      else this.#queue.addAfter(lease.item, delay, options);
    } catch {
      this.#handBack(lease);
    }
  }

  /** Adds an item again after the limiter's delay or after `minDelay` milliseconds, whichever is longer. */
  #addRateLimited(item: T, options: AddOptions | undefined, minDelay: number): void {
    const queue = this.#queue;
    if (minDelay <= 0) queue.addRateLimited(item, options);
    else if (this.#hooks.takesMinDelay || takesOptions(queue)) queue.addRateLimited(item, { ...options, minDelay });
    else if (queue.shuttingDown) this.#hooks.takeBack?.(item, minDelay, options);
    else queue.addAfter(item, minDelay, options); // bypassing the limiter is better than retrying too early
  }

  #handBack(lease: Lease<T>): void {
    const options = this.#asItCame(lease);
    if (this.#queue.shuttingDown) this.#hooks.takeBack?.(lease.item, 0, options);
    else this.#queue.add(lease.item, options);
    this.#hooks.handedBack?.(lease.item);
  }

  /** Returns the options for adding an item again, with the priority that the handler requested, if any. */
  #optionsOf(lease: Lease<T>, priority: number | undefined): AddOptions | undefined {
    return priority === undefined ? this.#asItCame(lease) : withPriority(priorityFor(this.#queue, { priority }));
  }

  /**
   * Returns the options for adding an item again with the priority of its lease. Leases of third-party queues may have
   * no priority.
   */
  #asItCame({ priority = 0 }: Partial<Lease<T>>): AddOptions | undefined {
    return priority !== 0 && takesOptions(this.#queue) ? { priority } : undefined;
  }
}

/** Source of work for an in-memory queue with a `keyOf`. */
class KeyedQueueSource<T> extends QueueSource<T> {
  readonly #queue: RateLimitingQueue<T>;
  readonly #known: KnownKey | undefined;

  constructor(queue: RateLimitingQueue<T>) {
    super(queue);
    this.#queue = queue;
    this.#known = hooksOf<T>(queue).known;
  }

  /** Returns the key of a lease's item. Leases of built-in queues store the key under which the item was added. */
  override keyOf(lease: Lease<T>): unknown {
    return this.#known !== undefined && "key" in lease ? lease.key : this.#queue.keyOf!(lease.item);
  }

  override finish(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): void {
    const finish = () => super.finish(attempt, ending, report);
    if (this.#known === undefined) finish();
    else withKey(this.#known, attempt.lease.item, attempt.key, finish);
  }
}

/** Returns a source for an in-memory queue, built-in or third-party. */
export function queueSourceOf<T>(queue: RateLimitingQueue<T>): QueueSource<T> {
  return queue.keyOf === undefined ? new QueueSource(queue) : new KeyedQueueSource(queue);
}

/** Returns the queue's own source. For an in-memory queue, returns a source that calls the queue's methods. */
export function sourceOf<T>(action: string, queue: RateLimitingQueue<T> | SourcedQueue<T>): WorkSource<T> {
  const makeSource = (queue as Partial<SourcedQueue<T>> | null | undefined)?.[SOURCE];
  if (typeof makeSource === "function") return makeSource.call(queue);
  if (hasMethods(queue, "addRateLimited", "tryGet")) return queueSourceOf(queue as RateLimitingQueue<T>);
  throw invalidArgument(action, "queue", "must be a rate limiting queue", queue);
}

/** Limiter of queues without an `attempts` hook, as far as attempts are concerned. */
const NEVER_FORGETS = { numRequeues: () => 1 };

/** Attempt counts of queues without an `attempts` hook. */
const countsOfQueues = /* @__PURE__ */ new WeakMap<object, AttemptCounts<unknown>>();

/**
 * Returns the number of attempts of each key since the key was last forgotten. All pools of the queue share these
 * counts.
 */
function attemptCountsOf<T>(queue: RateLimitingQueue<T>): AttemptCounts<T> {
  let counts = hooksOf(queue).attempts ?? countsOfQueues.get(queue);
  if (counts === undefined) countsOfQueues.set(queue, counts = new Attempts<unknown>(NEVER_FORGETS));
  return counts;
}
