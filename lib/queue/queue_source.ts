import { type Clock, systemClock } from "../base/clock.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type { Ending, RetryLimits, WorkAttempt, WorkRequest, WorkSource } from "../contracts/work_source.ts";
import type { LimitedQueue } from "./limited_queue.ts";
import type { RecordLease } from "./record_lease.ts";

/** Attempt at an item of an in-memory queue. */
interface SourceAttempt<T> extends WorkAttempt<T> {
  readonly lease: RecordLease<T>;
}

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

/** Source of work for an in-memory queue. Works on the records of leases. */
export class QueueSource<T> implements WorkSource<T> {
  readonly #queue: LimitedQueue<T>;

  constructor(queue: LimitedQueue<T>) {
    this.#queue = queue;
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
    return this.isOver && this.length === 0 ? undefined : this.#queue.provider;
  }

  keyOf(lease: RecordLease<T>): unknown {
    return lease.key;
  }

  tryTake(): RecordLease<T> | undefined {
    return this.#queue.tryGet();
  }

  take({ signal }: WorkRequest): Promise<RecordLease<T> | Shutdown> {
    return this.#queue.get({ signal });
  }

  attemptOf(lease: RecordLease<T>): number {
    return this.#queue.attemptOf(lease);
  }

  finish(attempt: SourceAttempt<T>, ending: Ending, report: Report<T>): void {
    const { lease } = attempt;
    switch (ending.kind) { // no `default` case: a kind without a case is a type error
      case "succeeded":
        break;
      case "failed":
        return this.#retry(attempt, ending.minDelay, lease.priority, true, report);
      case "requeue":
        return this.#retry(attempt, 0, ending.priority ?? lease.priority, false, report);
      case "handedBack":
        return this.#queue.handBack(lease);
      case "givenUp":
        try {
          this.#queue.keep(lease, attempt.number, ending);
        } catch (error) {
          report(error, attempt);
        }
        break;
      case "requeueAfter":
        this.#queue.requeueAfter(lease, ending.delay, ending.priority ?? lease.priority);
    }
    try {
      this.#queue.forgetLeased(lease);
    } catch (error) {
      report(error, attempt);
    }
  }

  #retry(
    attempt: SourceAttempt<T>,
    minDelay: number,
    priority: number,
    hasFailed: boolean,
    report: Report<T>,
  ): void {
    this.#queue.retry(attempt.lease, minDelay, priority, hasFailed, (error) => report(error, attempt));
  }

  timedOut({ lease }: SourceAttempt<T>): void {
    this.#queue.beginFailing(lease);
  }

  pause({ key, lease: { item } }: SourceAttempt<T>, scope: "group" | "queue", ms: number): boolean {
    const queue = this.#queue;
    if (scope === "queue") {
      queue.pauseFor(ms);
      return true;
    }
    const { groups } = queue;
    if (groups?.groupOf === undefined) return false;
    queue.pauseGroup(groups.groupOf({ item, key }), ms);
    return true;
  }

  mayRetry({ lease }: SourceAttempt<T>, { maxRetries }: RetryLimits): boolean {
    return this.#queue.mayRetry(lease, maxRetries);
  }

  /**
   * Returns `true` until the queue shuts down. Once the queue is shutting down, an item whose handler requested
   * `requeue` simply succeeds.
   */
  takesBack({ lease }: SourceAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    const queue = this.#queue;
    if (!queue.shuttingDown) return true;
    return reason !== "requeue" && queue.takesLeaseBack(lease);
  }

  get length(): number {
    return this.#queue.length;
  }

  get isOver(): boolean {
    return this.#queue.isOver;
  }

  get mayComeBack(): boolean {
    return this.#queue.mayComeBack;
  }

  watch(callback: () => void): () => void {
    return this.#queue.watch(callback);
  }

  get failing(): number {
    return this.#queue.failures.failing;
  }

  isFailing(key: unknown): boolean {
    return this.#queue.isFailing(key);
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    return this.#queue.failures.watch(callback);
  }

  dueInMs(item: T): number | undefined {
    const dueAt = this.#queue.dueAt(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - (this.clock ?? systemClock).now(), 0);
  }
}
