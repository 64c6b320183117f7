import type { RateLimitingQueue, WorkerPool } from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { type Look, type LookWaiting, MAX_LISTED, type Source, type Waiting } from "./source.ts";

/** A queue in memory, with the pool that works on it. */
export class MemorySource implements Source {
  readonly engine = "memory";
  readonly hasTexts = false;
  readonly #queue: RateLimitingQueue<unknown>;
  readonly #pool: WorkerPool<unknown> | undefined;

  constructor(queue: RateLimitingQueue<unknown>, pool: WorkerPool<unknown> | undefined) {
    this.#queue = queue;
    this.#pool = pool;
  }

  get queueName(): string {
    return this.#queue.name;
  }

  keyOf(item: unknown): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }

  look(limit: number): Look {
    const { length, heldBack, waiting, held, readyItems, waitingItems, heldItems } = this.#queue.snapshot({ limit });
    const { handedOut = null, isFifo = false } = totalsOf(this.#queue);
    const pool = this.#pool?.snapshot({ limit: MAX_LISTED }); // what fails and what runs is bounded whatever is in the queue
    const { succeeded, failed = null, givenUp = null } = this.#pool === undefined ? {} : totalsOf(this.#pool);
    return {
      ready: length,
      heldBack,
      waiting,
      held,
      failing: pool?.failingItems.length ?? null,
      totals: {
        handedOut,
        attempts: succeeded === undefined || failed === null ? null : succeeded + failed,
        failed,
        givenUp,
      },
      oldestReady: null,
      isFifo,
      workers: pool === undefined ? null : {
        active: pool.active,
        abandoned: pool.abandoned,
        concurrency: pool.concurrency,
        paused: pool.paused,
      },
      isPaused: pool?.paused ?? false,
      readyItems,
      waitingItems,
      failingItems: (pool?.failingItems ?? []).map(({ item, attempts, error, agoMs, dueIn = null }) => ({
        ...{ item, attempts, error, ago: agoMs, dueIn },
      })),
      runningItems: pool?.runningItems.map(({ item, attempt, forMs }) => ({ item, attempt, for: forMs })) ??
        heldItems.map(({ item }) => ({ item, attempt: null, for: null })),
    };
  }

  allWaiting(limit = Infinity): Waiting {
    const count = Math.min(this.#queue.waiting, limit);
    return { items: this.#queue.snapshot({ limit: count }).waitingItems, more: this.#queue.waiting - count };
  }

  findable({ waiting }: Look): number {
    return waiting;
  }

  get cannotRetry(): string | undefined {
    return this.#queue.shuttingDown
      ? "The queue is shutting down: what still waits is tried when it is due."
      : undefined;
  }

  retry({ item, priority, dueIn }: LookWaiting): boolean {
    if (this.#queue.shuttingDown || !this.#queue.cancelAfter(item)) return false;
    const options = priority === 0 ? undefined : { priority };
    try {
      this.#queue.add(item, options);
    } catch (error) { // of a discipline: the item is not to be lost by that
      this.#queue.addAfter(item, dueIn, options);
      throw error;
    }
    return true;
  }

  takeBack({ item }: LookWaiting): boolean {
    if (!this.#queue.cancelAfter(item)) return false;
    this.#queue.forget(item);
    return true;
  }

  get pausing(): Source["pausing"] {
    return this.#pool ?? "It is a pool that is paused, and the dashboard was given none for this queue.";
  }
}
