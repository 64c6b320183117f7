import type { Clock } from "../base/clock.ts";
import type { Throttle } from "../contracts/throttle.ts";
import type { WorkSource } from "../contracts/work_source.ts";
import type { FailingItem, PoolSnapshot, RunningItem } from "../contracts/workers.ts";
import type { Moment } from "../structures/burst_time.ts";
import type { Failure, Failures } from "./failures.ts";
import type { Running } from "./running.ts";
import type { Slots } from "./slots.ts";

/** State of a pool: it takes items, is paused, takes no more items, or has ended along with all its handlers. */
export type PoolState = "open" | "paused" | "stopping" | "ended";

/** Parts of a pool that are shown in its snapshot and when it is printed. */
export interface ViewedPool<T> {
  readonly source: WorkSource<T>;
  readonly state: PoolState;
  /** Number of running handlers. */
  readonly active: number;
  readonly slots: Slots;
  readonly running: Running<T>;
  readonly failures: Failures<T>;
  readonly settings: { readonly concurrency: number; readonly clock: Clock; readonly throttle?: Throttle | undefined };
}

/** Returns a snapshot of a pool with at most `limit` items in each list. */
export function snapshotOf<T>(pool: ViewedPool<T>, limit: number): PoolSnapshot<T> {
  const { active, slots, settings, state } = pool;
  return {
    active,
    abandoned: slots.abandoned,
    concurrency: settings.concurrency,
    paused: state === "paused",
    ...(pool.source.failing !== undefined && { failing: pool.source.failing }),
    runningItems: listRunning(pool, limit),
    failingItems: listFailing(pool, limit),
  };
}

function listRunning<T>({ running, settings }: ViewedPool<T>, limit: number): RunningItem<T>[] {
  const now = settings.clock.now();
  return running.oldest(limit).map(({ item, number, began, timedOut }) => ({
    item,
    attempt: number,
    runningMs: began === undefined ? 0 : since(began, now),
    ...(timedOut && { abandonedMs: Math.max(now - timedOut.at, 0) }),
  }));
}

function listFailing<T>(pool: ViewedPool<T>, limit: number): FailingItem<T>[] {
  const now = pool.settings.clock.now();
  return failuresOf(pool, limit).map(({ item, attempts, error, at }) => {
    const failing = { item, attempts, error, failedAgoMs: since(at, now) };
    const dueInMs = pool.source.dueInMs?.(item);
    return dueInMs === undefined ? failing : { ...failing, dueInMs };
  });
}

/** Lists the keys that are still failing, the latest failure first. */
export function failuresOf<T>({ failures, source }: ViewedPool<T>, limit: number): Failure<T>[] {
  return failures.list(limit, (key, item) => source.isFailing?.(key, item) ?? true);
}

function since({ time }: Moment, now: number): number {
  return Math.max(now - time, 0);
}
