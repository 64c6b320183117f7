import { type ConfigContents, ConfigError, type WorkQueueConfig } from "@workqueue/core";
import { escapePointer } from "@workqueue/core/internal";
import { isNamedThrottle, planGates } from "./gate_plan.ts";
import { planLimiter, refuseSharedBuckets } from "./limiter_plan.ts";
import { memoryOnly } from "./memory_options.ts";
import type { LiveSettings, Queue } from "./queue.ts";

/**
 * Returns a queue's settings from a config document.
 *
 * @throws {ConfigError} If queues in the document share a bucket, if the limiter can't work on Redis, or if the queue
 * has a discipline, a retry budget or a retention of given-up items.
 * @throws {RangeError} If the document has no queue with that name.
 */
export function settingsIn(action: string, document: ConfigContents, name: string): LiveSettings {
  const { limiter, discipline, retryBudget, keepGivenUp, throttle } = document.describe(name);
  const others = Object.entries({ retryBudget, keepGivenUp }).filter(([, value]) => value !== undefined);
  const problems = [
    ...(discipline === undefined ? [] : [{ path: discipline.path, message: memoryOnly("discipline") }]),
    ...others.map(([option]) => ({
      path: `/queues/${escapePointer(name)}/${option}`,
      message: memoryOnly(option),
    })),
  ];
  if (problems.length > 0) throw new ConfigError(action, problems);
  requireOwnBuckets(action, document);
  const local = document.workers(name).throttle;
  const gates = throttle === undefined ? [] : planGates(name, throttle, (part) => {
    return isNamedThrottle(part) ? document.throttle(part.name!) : part.path === throttle.path ? local : undefined;
  });
  return {
    limiter: planLimiter(action, limiter),
    throttleName: throttle ?? { path: "" },
    shared: local === undefined || gates.length === 0 ? undefined : { local, gates },
  };
}

/**
 * Refuses a document whose queues share a bucket.
 *
 * @throws {ConfigError} If queues share a bucket. The error lists every shared bucket.
 */
export function requireOwnBuckets(action: string, document: ConfigContents): void {
  refuseSharedBuckets(action, document.queueNames.map((name) => document.describe(name)));
}

/**
 * Applies each reload of the config to a queue until the queue object is shut down. Rejects a document that can't work
 * on Redis. A document without the queue leaves the queue unchanged.
 */
export function followReloads<T>(config: WorkQueueConfig, queue: Queue<T>): void {
  const stop = config.onReload((next) => {
    if (!next.queueNames.includes(queue.name)) return;
    const settings = settingsIn("reload config", next, queue.name);
    return () => queue.change(settings);
  });
  queue.onShutDown(stop);
}
