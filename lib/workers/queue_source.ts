import { type Clock, systemClock } from "../base/clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { AttemptCounts, QueueHooks } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions, Lease, Shutdown } from "../contracts/work_queue.ts";
import type { Ending, WorkAttempt, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import { priorityFor, takesOptions, withPriority } from "../queue/add_options.ts";
import { hooksOf } from "../queue/hooks.ts";
import { ChurnMap } from "../structures/churn_map.ts";

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

/** A queue in memory, be it ours or somebody else's, as a source of work. */
export class QueueSource<T> implements WorkSource<T> {
  readonly #queue: RateLimitingQueue<T>;
  readonly #hooks: QueueHooks<T>;
  readonly #counts: AttemptCounts;

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

  keyOf(item: T): unknown {
    const queue = this.#queue;
    return queue.keyOf === undefined ? item : queue.keyOf(item);
  }

  tryTake(): Lease<T> | undefined {
    return this.#queue.tryGet();
  }

  take({ signal }: WorkRequest): Promise<Lease<T> | Shutdown> {
    return this.#queue.get({ signal });
  }

  attemptOf(_lease: Lease<T>, key: unknown): number {
    return (this.#counts.get(key) ?? 0) + 1;
  }

  finish(attempt: WorkAttempt<T>, ending: Ending, report: Report<T>): void {
    const { lease } = attempt;
    switch (ending.kind) {
      case "succeeded":
      case "givenUp":
        return this.#forget(attempt, report);
      case "requeueAfter":
        this.#queue.addAfter(lease.item, ending.delay, this.#optionsOf(lease, ending.priority));
        return this.#forget(attempt, report);
      case "requeue":
        return this.#tryAgain(attempt, this.#optionsOf(lease, ending.priority), 0);
      case "failed":
        return this.#tryAgain(attempt, this.#asItCame(lease), ending.atLeast);
      case "handedBack":
        return this.#handBack(lease);
    }
  }

  /** Always, until the queue shuts down. Then one of somebody else's may take retries and nothing that is handed back. */
  takesBack({ lease }: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    if (!this.#queue.shuttingDown) return true;
    if (reason === "handedBack" && this.#hooks.takeBack === undefined) return false;
    return this.#hooks.takesBack?.(lease.item) === true;
  }

  get length(): number {
    return this.#queue.length;
  }

  get isOver(): boolean {
    const { waiting, held, shuttingDown } = this.#queue;
    return shuttingDown && waiting === 0 && held === 0;
  }

  watch(callback: () => void): () => void {
    const end = this.#hooks.watch?.(() => {
      if (this.#queue.shuttingDown) callback();
    });
    return () => end?.();
  }

  /** A key without a count was forgotten, by another pool or by a call of `forget`. */
  isFailing(key: unknown): boolean {
    return this.#counts.get(key) !== undefined;
  }

  dueIn(item: T): number | undefined {
    const dueAt = this.#hooks.dueAt?.(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - (this.clock ?? systemClock).now(), 0);
  }

  #forget(attempt: WorkAttempt<T>, report: Report<T>): void {
    try {
      if (attempt.number > 1) this.#counts.delete(attempt.key);
      this.#queue.forget(attempt.lease.item);
    } catch (error) {
      report(error, attempt);
    }
  }

  #tryAgain({ lease, key, number }: WorkAttempt<T>, options: AddOptions | undefined, atLeast: number): void {
    this.#addRateLimited(lease.item, options, atLeast);
    this.#counts.set(key, number);
  }

  /** Adds an item again that has to wait at least so many milliseconds, whatever the limiter says. */
  #addRateLimited(item: T, options: AddOptions | undefined, atLeast: number): void {
    const queue = this.#queue;
    if (atLeast <= 0) queue.addRateLimited(item, options);
    else if (this.#hooks.takesAtLeast || takesOptions(queue)) queue.addRateLimited(item, { ...options, atLeast });
    else if (queue.shuttingDown) this.#hooks.takeBack?.(item, atLeast, options);
    else queue.addAfter(item, atLeast, options); // better without the limiter than too early
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

/** The counts of queues that keep none themselves. */
const countsOfQueues = /* @__PURE__ */ new WeakMap<object, AttemptCounts>();

/** How often each key of a queue was tried since it was last forgotten. All pools of the queue count together. */
function attemptCountsOf(queue: object): AttemptCounts {
  let counts = hooksOf(queue).attempts ?? countsOfQueues.get(queue);
  if (counts === undefined) countsOfQueues.set(queue, counts = new ChurnMap<unknown, number>());
  return counts;
}
