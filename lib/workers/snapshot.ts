import { type Clock, systemClock } from "../base/clock.ts";
import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { FailingItem, RunningItem } from "../contracts/workers.ts";
import { hooksOf } from "../queue/hooks.ts";
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
  queue: RateLimitingQueue<T>,
  counts: AttemptCounts,
  clock: Clock,
  limit: number,
): FailingItem<T>[] {
  const now = clock.now();
  // A key without a count was forgotten, by another pool or by a call of `forget`.
  return failures.list(limit, (key) => counts.get(key) !== undefined).map(({ item, attempts, error, at }) => {
    const failing = { item, attempts, error, agoMs: since(at, now) };
    const dueIn = timeUntilDue(queue, item);
    return dueIn === undefined ? failing : { ...failing, dueIn };
  });
}

/** In how many milliseconds an item is due that waits, if the queue can tell. */
function timeUntilDue<T>(queue: RateLimitingQueue<T>, item: T): number | undefined {
  const dueAt = hooksOf<T>(queue).dueAt?.(item);
  return dueAt === undefined ? undefined : Math.max(dueAt - (queue.clock ?? systemClock).now(), 0);
}

function since({ time }: Moment, now: number): number {
  return Math.max(now - time, 0);
}
