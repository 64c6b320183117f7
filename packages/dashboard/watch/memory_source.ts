import { type Clock, type RateLimitingQueue, systemClock, type WorkerPool } from "@workqueue/core";
import { type DelayedItem, HOOKS, type QueueHooks } from "@workqueue/core/hooks";
import { type RecordedTimes, totalsOf } from "@workqueue/core/metrics";
import { type DelayedItems, type DelayedLook, type Look, MAX_LISTED, type Source } from "./source.ts";

/** Source for an in-memory queue, with the pool that processes its items. */
export class MemorySource implements Source {
  readonly engine = "memory";
  readonly hasTexts = false;
  readonly #queue: RateLimitingQueue<unknown>;
  readonly #pool: WorkerPool<unknown> | undefined;
  readonly #times: RecordedTimes | undefined;

  constructor(
    queue: RateLimitingQueue<unknown>,
    pool: WorkerPool<unknown> | undefined,
    times: RecordedTimes | undefined,
  ) {
    this.#queue = queue;
    this.#pool = pool;
    this.#times = times;
  }

  get queueName(): string {
    return this.#queue.name;
  }

  keyOf(item: unknown): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }

  look(limit: number): Look {
    const { ready, blocked, delayed, processing, readyItems, delayedItems, processingItems } = this.#queue.snapshot({
      limit,
    });
    const { handedOut = null } = totalsOf(this.#queue);
    // Reads at most `MAX_LISTED` failing and running items, no matter how large the queue is.
    const pool = this.#pool?.snapshot({ limit: MAX_LISTED });
    const totals = this.#pool === undefined ? {} : totalsOf(this.#pool);
    const { succeeded, failed = null, givenUp = null, givenUpFor = null } = totals;
    return {
      ready,
      blocked,
      delayed,
      processing,
      failing: pool?.failingItems.length ?? null,
      totals: {
        handedOut,
        attempts: succeeded === undefined || failed === null ? null : succeeded + failed,
        failed,
        givenUp,
        givenUpFor,
      },
      oldestReadyMs: this.#times?.oldestReadyMs ?? null,
      workers: pool === undefined ? null : {
        active: pool.active,
        abandoned: pool.abandoned,
        concurrency: pool.concurrency,
        paused: pool.paused,
      },
      isPaused: pool?.paused ?? false,
      readyItems,
      delayedItems,
      failingItems: (pool?.failingItems ?? []).map(({ item, attempts, error, failedAgoMs, dueInMs = null }) => ({
        ...{ item, attempts, error, ago: failedAgoMs, dueInMs },
      })),
      runningItems: pool?.runningItems.map(({ item, attempt, runningMs }) => ({ item, attempt, for: runningMs })) ??
        processingItems.map(({ item }) => ({ item, attempt: null, for: null })),
    };
  }

  allDelayed(limit = Infinity): DelayedItems {
    const count = Math.min(this.#queue.delayed, limit);
    return { items: this.#queue.snapshot({ limit: count }).delayedItems, more: this.#queue.delayed - count };
  }

  eachDelayed(): Iterable<DelayedLook> | undefined {
    const { allDelayed } = (this.#queue as { [HOOKS]?: QueueHooks<unknown> })[HOOKS] ?? {};
    return allDelayed && withDueIn(allDelayed(), this.#queue.delayed, this.#queue.clock ?? systemClock);
  }

  findable({ delayed }: Look): number {
    return delayed;
  }

  get cannotRetry(): string | undefined {
    return this.#queue.shuttingDown ? "The queue is shutting down: delayed items run when they are due." : undefined;
  }

  retry({ item, priority, dueInMs }: DelayedLook): boolean {
    if (this.#queue.shuttingDown || !this.#queue.cancelDelayed(item)) return false;
    const options = priority === 0 ? undefined : { priority };
    try {
      this.#queue.add(item, options);
    } catch (error) { // the discipline threw: don't lose the item
      this.#queue.addAfter(item, dueInMs, options);
      throw error;
    }
    return true;
  }

  takeBack({ item }: DelayedLook): boolean {
    if (!this.#queue.cancelDelayed(item)) return false;
    this.#queue.forget(item);
    return true;
  }

  get pausing(): Source["pausing"] {
    const pool = this.#pool;
    if (pool === undefined) return "Pausing requires the queue's pool, which the dashboard was not given.";
    return {
      pause() {
        pool.pause();
        return totalsOf(pool).pauses;
      },
      resume: () => pool.resume(),
      end(pause) {
        if (totalsOf(pool).pauses === pause) pool.resume();
      },
    };
  }
}

/** Yields at most `limit` items. The limit is needed because more items may become delayed during the iteration. */
function* withDueIn(
  delayed: Iterable<DelayedItem<unknown>>,
  limit: number,
  clock: Clock,
): Generator<DelayedLook, void> {
  for (const { item, priority, dueAt } of delayed) {
    if (limit-- <= 0) return;
    yield { item, priority, dueInMs: Math.max(dueAt - clock.now(), 0) };
  }
}
