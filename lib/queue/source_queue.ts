import { setBrand, SOURCE } from "../base/brands.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { Ending, HeldNews, RetryLimits, WorkAttempt, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import { LimitedQueue } from "./limited_queue.ts";
import type { RecordLease } from "./record_lease.ts";

/** Attempt at an item of an in-memory queue. */
interface SourceAttempt<T> extends WorkAttempt<T> {
  readonly lease: RecordLease<T>;
}

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

type RetryEnding = Ending & { readonly kind: "failed" | "requeue" };

/** Layer 3 that pools take their work from. Any number of pools may share the queue. */
export class SourceQueue<T> extends LimitedQueue<T> implements WorkSource<T> {
  /** Callbacks of the pools. */
  readonly #holders = new Set<(news: HeldNews) => void>();

  constructor(limiter: RateLimiter<T>, options: RateLimitingQueueOptions<T>) {
    super(limiter, options);
    setBrand(this, SOURCE, () => this);
  }

  /**
   * Absent once the queue is shut down and empty, because the provider may already have been notified that the queue is
   * gone.
   */
  get metrics(): MetricsProvider | undefined {
    return this.isShutDown && this.size === 0 ? undefined : this.provider;
  }

  tryTake(): RecordLease<T> | undefined {
    return this.hasFree() ? this.handOut() : undefined;
  }

  take({ signal }: WorkRequest): Promise<RecordLease<T> | Shutdown> {
    return this.getNext(signal);
  }

  finish(attempt: SourceAttempt<T>, ending: Ending, report: Report<T>): void {
    const { lease } = attempt;
    this.noteEnding(lease, ending);
    switch (ending.kind) { // no `default` case: a kind without a case is a type error
      case "succeeded":
      case "cancelled":
        break;
      case "failed":
      case "requeue":
        return this.#retry(attempt, ending, report);
      case "handedBack":
        return this.handBack(lease);
      case "givenUp":
        try {
          this.keep(lease, attempt.number, ending);
        } catch (error) {
          report(error, attempt);
        }
        break;
      case "requeueAfter":
        this.requeueAfter(lease, ending.delay, ending.priority ?? lease.priority);
    }
    try {
      this.forgetKey(lease.key, lease.item, lease);
    } catch (error) {
      report(error, attempt);
    }
  }

  #retry(attempt: SourceAttempt<T>, ending: RetryEnding, report: Report<T>): void {
    const { lease } = attempt;
    const hasFailed = ending.kind === "failed";
    const minDelay = hasFailed ? ending.minDelay : 0;
    const priority = hasFailed ? undefined : ending.priority;
    this.retry(lease, minDelay, priority, hasFailed, (error) => report(error, attempt));
  }

  timedOut({ lease }: SourceAttempt<T>): void {
    this.beginFailing(lease);
  }

  mayRetry({ lease }: SourceAttempt<T>, { maxRetries }: RetryLimits): boolean {
    return this.hasRetriesLeft(lease, maxRetries);
  }

  pause({ lease: { key, item } }: SourceAttempt<T>, scope: "group" | "queue", ms: number): boolean {
    if (scope === "queue") {
      this.pauseFor(ms);
      return true;
    }
    const { groups } = this;
    if (groups?.groupOf === undefined) return false;
    this.pauseGroup(groups.groupOf({ item, key }), ms);
    return true;
  }

  /**
   * Returns `true` until the queue shuts down. Once the queue is shutting down, an item whose handler requested
   * `requeue` simply succeeds.
   */
  takesBack({ lease }: SourceAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    if (!this.ignoresAdds) return true;
    return reason !== "requeue" && this.takesRetry(lease.recordIn(this.records));
  }

  get failing(): number {
    return this.failures.failing;
  }

  watchHeld(callback: (news: HeldNews) => void, tellsAdds: boolean): () => void {
    this.#holders.add(callback);
    if (tellsAdds) this.onAgain = (key) => this.tellHolder({ key, kind: "addedAgain" });
    return () => void this.#holders.delete(callback);
  }

  protected override tellHolder(news: HeldNews): void {
    for (const tell of this.#holders) tell(news);
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    return this.failures.watch(callback);
  }

  dueInMs(item: T): number | undefined {
    const dueAt = this.dueAt(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - this.time.now(), 0);
  }

  // The following members are for queues outside this process.

  get isRemote(): false {
    return false;
  }

  get isPaused(): false {
    return false;
  }

  giveBackUnused(): void {}

  takesPermits(): false {
    return false;
  }

  sharedThrottle(): undefined {}

  watchGivenUp(): () => void {
    return () => {};
  }
}
