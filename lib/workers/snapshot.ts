import type { Clock } from "../base/clock.ts";
import type { WorkSource } from "../contracts/work_source.ts";
import type { FailingItem, RunningItem } from "../contracts/workers.ts";
import type { Moment } from "./burst_time.ts";
import type { Failures } from "./failures.ts";
import type { Running } from "./running.ts";

export function listRunning<T>(running: Running<T>, clock: Clock, limit: number): RunningItem<T>[] {
  const now = clock.now();
  return running.oldest(limit).map(({ item, number, began }) => ({
    item,
    attempt: number,
    forMs: began === undefined ? 0 : since(began, now),
  }));
}

export function listFailing<T>(
  failures: Failures<T>,
  source: WorkSource<T>,
  clock: Clock,
  limit: number,
): FailingItem<T>[] {
  const now = clock.now();
  return failures.list(limit, (key) => source.isFailing?.(key) ?? true).map(({ item, attempts, error, at }) => {
    const failing = { item, attempts, error, agoMs: since(at, now) };
    const dueIn = source.dueIn?.(item);
    return dueIn === undefined ? failing : { ...failing, dueIn };
  });
}

function since({ time }: Moment, now: number): number {
  return Math.max(now - time, 0);
}
