import { requireObject } from "../lib/base/arguments.ts";
import { pick, withoutAbsent } from "../lib/base/objects.ts";
import type { Handler } from "../lib/contracts/handler.ts";
import type { RateLimitingQueue } from "../lib/contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../lib/contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
import type { PoolChanges } from "../lib/workers/settings.ts";
import { startPool } from "../lib/workers/pool.ts";
import { optionsFor } from "./queue_options.ts";
import type { WorkQueueConfig } from "./work_queue_config.ts";

/** Runs workers with the options that the config specifies for a queue. The pool follows reloads as long as it runs. */
export function runFollowing<T>(
  config: Pick<WorkQueueConfig, "workers" | "onReload">,
  name: string,
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<T>,
): WorkerPool<T> {
  let settings = config.workers(name);
  requireObject("run workers", options);
  const given = withoutAbsent(options);
  const pool = startPool(queue, handler, { ...settings, ...given } as WorkerOptions<T>);
  const end = config.onReload((next) => {
    if (!next.queueNames.includes(name)) return undefined; // the pool continues unchanged
    const wanted = next.workers(name);
    const live: (keyof PoolChanges)[] = optionsFor("pool", "now");
    const changed = live.filter((option) => given[option] === undefined && settings[option] !== wanted[option]);
    return () => {
      settings = wanted;
      pool.change(pick(wanted, changed));
    };
  });
  pool.finished.then(end, end);
  return pool;
}
