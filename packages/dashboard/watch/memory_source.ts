import { type Clock, type PoolSnapshot, type RateLimitingQueue, systemClock, type WorkerPool } from "@workqueue/core";
import { type DelayedItem, inspectionOf, type QueueInspection } from "@workqueue/core/hooks";
import { hasMethods } from "@workqueue/core/internal";
import { type RecordedTimes, totalsOf, watchFailures } from "@workqueue/core/metrics";
import { BlockedGroups } from "./blocked_groups.ts";
import type { Failures, KnownFailure, ListedFailure } from "./failures.ts";
import { type DelayedItems, type DelayedLook, type Look, MAX_LISTED, type Source, workersOf } from "./source.ts";

/** Source for an in-memory queue, with the pool that processes its items. */
export class MemorySource implements Source {
  readonly engine = "memory";
  readonly hasTexts = false;
  readonly failures: Failures;
  readonly #queue: RateLimitingQueue<unknown>;
  /** View of the queue; `undefined` if the queue is from another package. */
  readonly #inspection: QueueInspection<unknown> | undefined;
  readonly #pool: WorkerPool<unknown> | undefined;
  readonly #times: RecordedTimes | undefined;
  /** Ends the watch of the pool's failures; `undefined` if the pool is missing or from another package. */
  readonly #unwatch: (() => void) | undefined;

  constructor(
    queue: RateLimitingQueue<unknown>,
    pool: WorkerPool<unknown> | undefined,
    failures: Failures,
    times: RecordedTimes | undefined,
  ) {
    this.#queue = queue;
    this.#inspection = inspectionOf(queue);
    this.#pool = pool;
    this.#times = times;
    this.failures = failures;
    if (pool === undefined) return;
    this.failures.replace(this.#failuresOf(pool.snapshot({ limit: MAX_LISTED })));
    this.#unwatch = watchFailures(pool, {
      failed: (failed) => failures.add(failed, Date.now()),
      ended: (key) => failures.delete(key),
    });
  }

  /** Returns the failing items that the pool remembers, with their last errors, the latest failure last. */
  #failuresOf({ failingItems }: PoolSnapshot): ListedFailure[] {
    const failures = failingItems.map(({ failedAgoMs: ago, ...failing }) => {
      return { ...failing, key: this.#knownBy(failing.item), ago };
    });
    return failures.filter(({ key }) => key !== undefined).reverse();
  }

  [Symbol.dispose](): void {
    this.#unwatch?.();
  }

  get queueName(): string {
    return this.#queue.name;
  }

  keyOf(item: unknown): unknown {
    return this.#queue.keyOf === undefined ? item : this.#queue.keyOf(item);
  }

  /** Returns the key of an item; `undefined` if `keyOf` throws. */
  #knownBy(item: unknown): unknown {
    try {
      return this.keyOf(item);
    } catch {
      return undefined;
    }
  }

  failureOf(item: unknown): KnownFailure | undefined {
    return this.failures.get(this.#knownBy(item));
  }

  dueInMs(item: unknown): number | undefined {
    const dueAt = this.#inspection?.dueAt(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - (this.#queue.clock ?? systemClock).now(), 0);
  }

  isFailing(item: unknown): boolean {
    try {
      return this.#inspection?.isFailing(item) ?? this.failureOf(item) !== undefined;
    } catch { // `keyOf` threw
      return false;
    }
  }

  look(limit: number): Look {
    const { ready, blocked, delayed, processing, readyItems, delayedItems, processingItems } = this.#queue.snapshot({
      limit,
    });
    const handedOut = this.#inspection?.handedOut ?? null;
    // Reads at most `MAX_LISTED` failing and running items, no matter how large the queue is.
    const pool = this.#pool?.snapshot({ limit: MAX_LISTED });
    if (pool !== undefined && this.#unwatch === undefined) this.failures.replace(this.#failuresOf(pool));
    else if (pool?.failing !== undefined && pool.failing > this.failures.size) {
      // An item that was forgotten while its handler was abandoned is failing again, although no other attempt failed.
      this.failures.addMissing(this.#failuresOf(pool));
    }
    const totals = this.#pool === undefined ? {} : totalsOf(this.#pool);
    const { succeeded, failed = null, givenUp = null, givenUpFor = null } = totals;
    const abandoned = new Map(
      pool?.runningItems.flatMap(({ item, abandonedMs }) =>
        abandonedMs === undefined ? [] : [[this.#knownBy(item), abandonedMs]]
      ),
    );
    return {
      ready,
      blocked,
      delayed,
      processing,
      failing: pool === undefined ? null : failingOf(pool),
      totals: {
        handedOut,
        attempts: succeeded === undefined || failed === null ? null : succeeded + failed,
        failed,
        givenUp,
        givenUpFor,
      },
      oldestReadyMs: this.#times?.oldestReadyMs ?? null,
      workers: workersOf(pool),
      isPaused: pool?.paused ?? false,
      resumesInMs: this.#inspection?.resumesInMs ?? 0,
      hasGroups: this.#inspection?.groups !== undefined,
      blockedRetries: this.#inspection?.blockedRetries?.retries.length,
      readyItems,
      delayedItems,
      failingItems: (pool?.failingItems ?? []).map(({ item, attempts, error, failedAgoMs, dueInMs = null }) => ({
        ...{ item, attempts, error, ago: failedAgoMs, dueInMs, abandonedFor: abandoned.get(this.#knownBy(item)) },
      })),
      runningItems: pool?.runningItems.map(({ item, attempt, runningMs, abandonedMs }) => ({
        ...{ item, attempt, for: runningMs, abandonedFor: abandonedMs },
      })) ??
        processingItems.map(({ item }) => ({ item, attempt: null, for: null })),
    };
  }

  /** If the queue is from another package, all items are read at once, which blocks the event loop. */
  delayedItems(): DelayedItems {
    const { delayed, clock = systemClock } = this.#queue;
    const all = this.#inspection?.allDelayed();
    const items = all === undefined
      ? this.#queue.snapshot({ limit: delayed }).delayedItems
      : withDueIn(all, delayed, clock);
    return { items, more: 0 };
  }

  *blockedRetries(): Generator<DelayedLook, void> {
    for (const entry of this.#inspection?.blockedRetries?.retries.keys() ?? []) {
      yield { item: entry.item, priority: entry.priority, dueInMs: 0, blocked: entry };
    }
  }

  findable({ delayed }: Look): number {
    return delayed;
  }

  get cannotRetry(): string | undefined {
    return this.#queue.shuttingDown ? "The queue is shutting down: delayed items run when they are due." : undefined;
  }

  retry({ item, priority, dueInMs, blocked }: DelayedLook): boolean {
    if (blocked !== undefined) return this.#inspection!.blockedRetries!.makeReady(blocked);
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

  get cancel(): Source["cancel"] {
    const queue = this.#queue;
    return hasMethods(queue, "cancel") ? (item) => queue.cancel(item) : undefined;
  }

  get groups(): Source["groups"] {
    const groups = this.#inspection?.groups;
    if (groups === undefined) return undefined;
    const isListed = hasMethods(groups, "groupNames", "blockOf");
    return new BlockedGroups({
      ...isListed && { groupNames: () => groups.groupNames!(), blockOf: (group) => groups.blockOf!(group) },
      pause: (group, ms) => this.#queue.pauseGroup(group, ms),
      resume: (group) => this.#queue.resumeGroup(group),
    });
  }

  get pausing(): Source["pausing"] {
    const pool = this.#pool;
    if (pool === undefined) return "Pausing requires the queue's pool, which the dashboard was not given.";
    const isLatest = (pause: number | void) => totalsOf(pool).pauses === pause;
    return {
      pause() {
        pool.pause();
        return totalsOf(pool).pauses;
      },
      resume: () => pool.resume(),
      isLatest,
      end(pause) {
        if (isLatest(pause)) pool.resume();
      },
    };
  }
}

/** Returns the number of failing items; `null` if unknown. Pools list at most `MAX_LISTED` failing items. */
function failingOf({ failing, failingItems }: PoolSnapshot): number | null {
  return failing ?? (failingItems.length < MAX_LISTED ? failingItems.length : null);
}

/** Yields at most `limit` items. The limit is needed because more items may become delayed during the iteration. */
function* withDueIn(
  delayed: Iterable<DelayedItem<unknown>>,
  limit: number,
  clock: Clock,
): Generator<DelayedLook, void> {
  const now = clock.now();
  for (const { item, priority, dueAt } of delayed) {
    if (limit-- <= 0) return;
    yield { item, priority, dueInMs: Math.max(dueAt - now, 0) };
  }
}
