import { type ConfigContents, ConfigError } from "@workqueue/core";
import { escapePointer } from "@workqueue/core/internal";
import {
  type DisciplinePlan,
  isNamedThrottle,
  type LiveSettings,
  planDiscipline,
  planGates,
  planLimiter,
  refuseSharedBuckets,
} from "@workqueue/engine";

/**
 * Returns a queue's settings from a config document.
 *
 * @throws {ConfigError} If queues in the document share a bucket, if the limiter or the discipline can't work on Redis,
 * or if the throttle of a queue with partitions is a limiter's bucket.
 * @throws {RangeError} If the document has no queue with that name.
 */
export function settingsIn(action: string, document: ConfigContents, name: string, partitions = 1): LiveSettings {
  requireOwnBuckets(action, document);
  const { limiter, throttle, keepGivenUp, retryBudget } = document.describe(name);
  if (partitions > 1 && throttle?.path.startsWith("/limiters/")) {
    const message = "a queue with partitions needs a bucket of its own, as a limiter's bucket is divided among them";
    throw new ConfigError(action, [{ path: `/queues/${escapePointer(name)}/throttle`, message }]);
  }
  disciplineIn(action, document, name);
  const local = document.workers(name).throttle;
  const gates = throttle === undefined ? [] : planGates(name, throttle, (part) => {
    return isNamedThrottle(part) ? document.throttle(part.name!) : part.path === throttle.path ? local : undefined;
  });
  return {
    limiter: planLimiter(action, limiter, undefined, partitions),
    throttleName: throttle ?? { path: "" },
    shared: local === undefined || gates.length === 0 ? undefined : { local, gates },
    keepGivenUp,
    retryBudget,
  };
}

/**
 * Returns the plan of a queue's discipline in a document; `undefined` if it has none.
 *
 * @throws {ConfigError} If the discipline can't work on Redis.
 */
export function disciplineIn(action: string, document: ConfigContents, name: string): DisciplinePlan | undefined {
  const { discipline } = document.describe(name);
  return discipline && planDiscipline(action, discipline);
}

/**
 * Refuses a document whose queues share a bucket.
 *
 * @throws {ConfigError} If queues share a bucket. The error lists every shared bucket.
 */
export function requireOwnBuckets(action: string, document: ConfigContents): void {
  refuseSharedBuckets(action, document.queueNames.map((name) => document.describe(name)));
}
