import type { Clock } from "../base/clock.ts";
import type { Throttle } from "../contracts/throttle.ts";
import type { WorkSource } from "../contracts/work_source.ts";
import type { FailingItem, PoolSnapshot, RunningItem } from "../contracts/workers.ts";
import type { Moment } from "../structures/burst.ts";
import type { RunningWorker } from "./attempt.ts";
import type { Failure, Reports } from "./reports.ts";

/** State of a pool: it takes items, is paused, takes no more items, or has ended along with all its handlers. */
export type PoolState = "open" | "paused" | "stopping" | "ended";

/** Parts of a pool that are shown in its snapshot and when it is printed. */
export interface ViewedPool<T> {
  readonly source: WorkSource<T>;
  readonly state: PoolState;
  /** Number of running handlers. */
  readonly active: number;
  /** Number of running handlers that have passed their timeout. */
  readonly abandoned: number;
  /** Iterates over the workers whose handlers are running. */
  readonly running: Iterable<RunningWorker<T>>;
  readonly reports: Reports<T>;
  readonly settings: { readonly concurrency: number; readonly clock: Clock; readonly throttle?: Throttle | undefined };
}

/** Returns a snapshot of a pool with at most `limit` items in each list. */
export function snapshotOf<T>(pool: ViewedPool<T>, limit: number): PoolSnapshot<T> {
  const { active, abandoned, settings, state } = pool;
  return {
    active,
    abandoned,
    concurrency: settings.concurrency,
    paused: state === "paused",
    ...(pool.source.failing !== "unknown" && { failing: pool.source.failing }),
    runningItems: listRunning(pool, limit),
    failingItems: listFailing(pool, limit),
  };
}

/** Lists the items whose attempts started first. */
function listRunning<T>(pool: ViewedPool<T>, limit: number): RunningItem<T>[] {
  const now = pool.settings.clock.now();
  const workers = [...pool.running].sort((a, b) => beganAt(a) - beganAt(b)).slice(0, limit);
  return workers.map(({ began, attempt: { lease: { item }, number, rare } }) => ({
    item,
    attempt: number,
    runningMs: began === undefined ? 0 : since(began, now),
    ...(rare?.timedOut && { abandonedMs: Math.max(now - rare.timedOut.at, 0) }),
  }));
}

/**
 * Returns the start time of an attempt, for sorting. An attempt whose handler has not awaited anything yet sorts last.
 * `Infinity` would not work, because the difference of two infinities is `NaN`.
 */
function beganAt({ began }: RunningWorker<unknown>): number {
  return began?.time ?? Number.MAX_VALUE;
}

function listFailing<T>(pool: ViewedPool<T>, limit: number): FailingItem<T>[] {
  const now = pool.settings.clock.now();
  return failuresOf(pool, limit).map(({ item, attempts, error, at }) => {
    const failing = { item, attempts, error, failedAgoMs: since(at, now) };
    const dueInMs = pool.source.dueInMs(item);
    return dueInMs === undefined ? failing : { ...failing, dueInMs };
  });
}

/** Lists the keys that are still failing, the latest failure first. */
export function failuresOf<T>({ reports, source }: ViewedPool<T>, limit: number): Failure<T>[] {
  return reports.list(limit, (key, item) => source.isFailing(key, item));
}

function since({ time }: Moment, now: number): number {
  return Math.max(now - time, 0);
}
