import { hasMethods } from "../base/arguments.ts";
import { SOURCE } from "../base/brands.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../contracts/work_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import { Pool } from "./pool.ts";
import { QueueSource } from "./queue_source.ts";
import { settingsOf } from "./settings.ts";

const ACTION = "run workers";

/** Does what `runWorkers` does, and returns a pool whose settings can be changed. */
export function startPool<T>(
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<T>,
): Pool<T> {
  if (!hasSource(queue) && !hasMethods(queue, "addRateLimited", "tryGet")) {
    throw invalidArgument(ACTION, "queue", "must be a rate limiting queue", queue);
  }
  if (typeof handler !== "function") throw invalidArgument(ACTION, "handler", "must be a function", handler);
  const settings = settingsOf(ACTION, options);
  return new Pool(hasSource(queue) ? queue[SOURCE]() : new QueueSource(queue), handler, settings);
}

function hasSource<T>(queue: RateLimitingQueue<T> | SourcedQueue<T>): queue is SourcedQueue<T> {
  return typeof (queue as Partial<SourcedQueue<T>> | null | undefined)?.[SOURCE] === "function";
}
