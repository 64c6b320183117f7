import { hasMethods } from "../base/arguments.ts";
import { SOURCE } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import { steadyClock } from "../base/steady_clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { AttemptCounts, QueueHooks } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions, Lease, Shutdown } from "../contracts/work_queue.ts";
import type { Ending, SourcedQueue, WorkAttempt, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import { hooksOf, takesOptions } from "../queue/hooks.ts";
import { withKey } from "../queue/known_key.ts";
import { priorityFor, withPriority } from "../queue/options.ts";
import { ChurnMap } from "../structures/churn_map.ts";

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

/** Delay of an item that could not be added after the delay of its limiter, in milliseconds. */
const TRY_AGAIN = 1000;

/** A queue in memory, be it ours or somebody else's, as a source of work. */
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

  /** None once the queue is over: it may be gone from them. */
  get metrics(): MetricsProvider | undefined {
    return this.isOver && this.length === 0 ? undefined : this.#hooks.metrics;
  }

  /** A lease of our own queues keeps the key under which its item was added. */
  keyOf(lease: Lease<T>): unknown {
    const queue = this.#queue;
    if (queue.keyOf === undefined) return lease.item;
    return this.#hooks.known !== undefined && Object.hasOwn(lease, "key") ? lease.key : queue.keyOf(lease.item);
  }

  tryTake(): Lease<T> | undefined {
    return this.#queue.tryGet();
  }

  take({ signal }: WorkRequest): Promise<Lease<T> | Shutdown> {
    return this.#queue.get({ signal });
  }

  attemptOf({ item }: Lease<T>, key: unknown): number {
    return (this.#counts.get(key, item) ?? 0) + 1;
  }

  finish(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): void {
    const { known } = this.#hooks;
    if (known === undefined) this.#finish(attempt, ending, report);
    else withKey(known, attempt.lease.item, attempt.key, () => this.#finish(attempt, ending, report));
  }

  #finish(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): void {
    const { lease } = attempt;
    switch (ending.kind) {
      case "succeeded":
        return this.#forget(attempt, report);
      case "givenUp":
        this.#tellGivenUp(attempt, ending, report);
        return this.#forget(attempt, report);
      case "requeueAfter":
        if (!this.#queue.shuttingDown) {
          this.#queue.addAfter(lease.item, ending.delay, this.#optionsOf(lease, ending.priority));
        }
        return this.#forget(attempt, report);
      case "requeue":
        return this.#tryAgain(attempt, this.#optionsOf(lease, ending.priority), 0, report);
      case "failed":
        return this.#tryAgain(attempt, this.#asItCame(lease), ending.minDelay, report);
      case "handedBack":
        return this.#handBack(lease);
    }
  }

  /**
   * Always, until the queue shuts down. From then on a `requeue` is plain success, and one of somebody else's may take
   * retries and nothing that is handed back.
   */
  takesBack({ lease }: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    if (!this.#queue.shuttingDown) return true;
    if (reason === "requeue") return false;
    if (reason === "handedBack" && this.#hooks.takeBack === undefined) return false;
    return this.#hooks.takesBack?.(lease.item) === true;
  }

  get length(): number {
    return this.#queue.length;
  }

  get isOver(): boolean {
    const { delayed, processing, shuttingDown } = this.#queue;
    return shuttingDown && delayed === 0 && processing === 0;
  }

  get mayComeBack(): boolean {
    return this.#hooks.watch !== undefined && this.#hooks.mayComeBack?.() === true;
  }

  watch(callback: () => void): () => void {
    const end = this.#hooks.watch?.(() => {
      if (this.#queue.shuttingDown) callback();
    });
    return () => end?.();
  }

  /** A key without a count was forgotten, by another pool or by a call of `forget`. */
  isFailing(key: unknown, item: T): boolean {
    return this.#counts.get(key, item) !== undefined;
  }

  dueInMs(item: T): number | undefined {
    const dueAt = this.#hooks.dueAt?.(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - steadyClock(this.clock).now(), 0);
  }

  #tellGivenUp(attempt: WorkAttempt<T>, { error, reason }: Ending & { kind: "givenUp" }, report: Report<T>): void {
    const { lease: { item }, key, number: attempts } = attempt;
    try {
      this.#hooks.givenUp?.({ item, key, attempts, error, reason });
    } catch (thrown) {
      report(thrown, attempt);
    }
  }

  #forget(attempt: WorkAttempt<T>, report: Report<T>): void {
    try {
      this.#counts.delete(attempt.key);
      this.#queue.forget(attempt.lease.item);
    } catch (error) {
      report(error, attempt);
    }
  }

  /**
   * Throws only if the limiter does. What else fails costs the item its delay or its count at most, and is reported.
   */
  #tryAgain(attempt: WorkAttempt<T>, options: AddOptions | undefined, minDelay: number, report: Report<T>): void {
    const { lease, key, number } = attempt;
    try {
      this.#addRateLimited(lease.item, options, minDelay);
    } catch (error) {
      if (this.#hooks.limiterThrew?.(error) ?? true) throw error;
      report(error, attempt);
      this.#addWithoutLimiter(lease, options, Math.max(minDelay, TRY_AGAIN));
    }
    try {
      this.#counts.set(key, number, lease.item);
    } catch (error) { // of the runtime, whose maps hold so many keys and no more
      report(error, attempt);
    }
  }

  /** Adds an item again that the limiter has counted already. Better too early than never. */
  #addWithoutLimiter(lease: Lease<T>, options: AddOptions | undefined, delay: number): void {
    try {
      if (this.#queue.shuttingDown) this.#hooks.takeBack?.(lease.item, delay, options);
      else this.#queue.addAfter(lease.item, delay, options);
    } catch {
      this.#handBack(lease);
    }
  }

  /** Adds an item again that has to wait at least so many milliseconds, whatever the limiter says. */
  #addRateLimited(item: T, options: AddOptions | undefined, minDelay: number): void {
    const queue = this.#queue;
    if (minDelay <= 0) queue.addRateLimited(item, options);
    else if (this.#hooks.takesMinDelay || takesOptions(queue)) queue.addRateLimited(item, { ...options, minDelay });
    else if (queue.shuttingDown) this.#hooks.takeBack?.(item, minDelay, options);
    else queue.addAfter(item, minDelay, options); // better without the limiter than too early
  }

  #handBack(lease: Lease<T>): void {
    const options = this.#asItCame(lease);
    if (this.#queue.shuttingDown) this.#hooks.takeBack?.(lease.item, 0, options);
    else this.#queue.add(lease.item, options);
  }

  /** The options of an add for which a handler asked, perhaps with a priority of its own. */
  #optionsOf(lease: Lease<T>, priority: number | undefined): AddOptions | undefined {
    return priority === undefined ? this.#asItCame(lease) : withPriority(priorityFor(this.#queue, { priority }));
  }

  /** The priority that an item was handed out with. Leases of somebody else's may have none. */
  #asItCame({ priority = 0 }: Partial<Lease<T>>): AddOptions | undefined {
    return priority !== 0 && takesOptions(this.#queue) ? { priority } : undefined;
  }
}

/** Returns the source that the queue brings along, or one that takes items by the methods of a queue in memory. */
export function sourceOf<T>(action: string, queue: RateLimitingQueue<T> | SourcedQueue<T>): WorkSource<T> {
  const makeSource = (queue as Partial<SourcedQueue<T>> | null | undefined)?.[SOURCE];
  if (typeof makeSource === "function") return makeSource.call(queue);
  if (hasMethods(queue, "addRateLimited", "tryGet")) return new QueueSource(queue as RateLimitingQueue<T>);
  throw invalidArgument(action, "queue", "must be a rate limiting queue", queue);
}

/** The counts of queues that keep none themselves. */
const countsOfQueues = /* @__PURE__ */ new WeakMap<object, AttemptCounts<unknown>>();

/** How often each key of a queue was tried since it was last forgotten. All pools of the queue count together. */
function attemptCountsOf<T>(queue: RateLimitingQueue<T>): AttemptCounts<T> {
  let counts = hooksOf(queue).attempts ?? countsOfQueues.get(queue);
  if (counts === undefined) countsOfQueues.set(queue, counts = new ChurnMap<unknown, number>());
  return counts;
}
