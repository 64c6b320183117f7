import { type ConfigContents, ConfigError, type WorkQueueConfig } from "@workqueue/core";
import { escapePointer } from "@workqueue/core/internal";
import type { DisciplinePlan } from "./discipline_plan.ts";
import { isNamedThrottle, planGates } from "./gate_plan.ts";
import { type Interpreter, planDisciplineFor } from "./interpreter.ts";
import { planLimiter } from "./limiter_plan.ts";
import { refuseSharedBuckets } from "./limiter_plan.ts";
import type { LiveRemoteQueue, LiveSettings } from "./remote_queue.ts";

/**
 * Applies each reload of the config to a queue until the queue object is shut down. A document without the queue leaves
 * the queue unchanged.
 *
 * @param settingsIn Returns the queue's settings in a document. If it throws, the document is rejected.
 */
export function followReloads<T>(
  config: WorkQueueConfig,
  queue: LiveRemoteQueue<T>,
  settingsIn: (action: string, document: ConfigContents, name: string) => LiveSettings,
): void {
  const stop = config.onReload((next) => {
    if (!next.queueNames.includes(queue.name)) return;
    const settings = settingsIn("reload config", next, queue.name);
    return () => queue.change(settings);
  });
  queue.onShutDown(stop);
}

/**
 * Returns a queue's settings from a config document, for an engine.
 *
 * @throws {ConfigError} If queues in the document share a bucket, if the limiter or the discipline can't work
 * outside the process, or if the throttle of a queue with partitions is a limiter's bucket.
 * @throws {RangeError} If the document has no queue with that name.
 */
export function settingsIn(
  action: string,
  document: ConfigContents,
  name: string,
  engine: Interpreter,
  partitions = 1,
): LiveSettings {
  requireOwnBuckets(action, document);
  const { limiter, throttle, keepGivenUp, retryBudget, forgetAfter } = document.describe(name);
  if (partitions > 1 && throttle?.path.startsWith("/limiters/")) {
    const message = "a queue with partitions needs a bucket of its own, as a limiter's bucket is divided among them";
    throw new ConfigError(action, [{ path: `/queues/${escapePointer(name)}/throttle`, message }]);
  }
  disciplineIn(action, document, name, engine);
  const local = document.workers(name).throttle;
  const gates = throttle === undefined ? [] : planGates(name, throttle, (part) => {
    return isNamedThrottle(part) ? document.throttle(part.name!) : part.path === throttle.path ? local : undefined;
  });
  return {
    limiter: planLimiter(action, limiter, { partitions, forgetAfter }),
    throttleName: throttle ?? { path: "" },
    shared: local === undefined || gates.length === 0 ? undefined : { local, gates },
    keepGivenUp,
    retryBudget,
  };
}

/**
 * Returns the plan of a queue's discipline in a document; `undefined` if the queue has no discipline there.
 *
 * @throws {ConfigError} If the discipline can't work outside the process.
 */
export function disciplineIn(
  action: string,
  document: ConfigContents,
  name: string,
  engine: Interpreter,
): DisciplinePlan | undefined {
  const { discipline } = document.describe(name);
  return discipline && planDisciplineFor(engine, action, discipline);
}

/**
 * Refuses a document whose queues share a bucket.
 *
 * @throws {ConfigError} If queues share a bucket. The error lists every shared bucket.
 */
export function requireOwnBuckets(action: string, document: ConfigContents): void {
  refuseSharedBuckets(action, document.queueNames.map((name) => document.describe(name)));
}
