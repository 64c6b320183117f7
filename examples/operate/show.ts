import "@workqueue/core/inspect";
import type { RateLimitingQueue, TokenBucket, WorkerPool } from "@workqueue/core";
import { inspect } from "node:util";

/**
 * Describes the current state for someone on call: the queue, the pool, the throttle, how many of the next items belong
 * to each tenant, and the failing items.
 */
export function show(queue: RateLimitingQueue<string>, pool: WorkerPool<string>, throttle: TokenBucket): string {
  const { readyItems } = queue.snapshot({ limit: 1000 });
  const { failingItems } = pool.snapshot({ limit: 1000 });
  const byTenant = Map.groupBy(readyItems, ({ item }) => item.split("/")[0]);
  const tenants = [...byTenant].sort().map(([tenant, items]) => `${items.length} of ${tenant}`);
  const failing = failingItems.sort((a, b) => b.attempts - a.attempts).slice(0, 3).map((failure) =>
    `  ${failure.item}, attempt ${failure.attempts}: ${failure.error}, due in ${
      ((failure.dueInMs ?? 0) / 1000).toFixed(1)
    } s`
  );
  return [
    inspect(queue),
    inspect(pool),
    inspect(throttle),
    ...(tenants.length > 0 ? [`next ${readyItems.length}: ${tenants.join(", ")}`] : []),
    ...(failing.length > 0 ? ["failing, most attempts first:", ...failing] : []),
  ].join("\n") + "\n";
}
