import type { ConfigContents } from "@workqueue/core";
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
 * @throws {ConfigError} If queues in the document share a bucket, or if the limiter or the discipline can't work in a
 * queue that processes share.
 * @throws {RangeError} If the document has no queue with that name.
 */
export function settingsIn(action: string, document: ConfigContents, name: string): LiveSettings {
  refuseSharedBuckets(action, document.queueNames.map((name) => document.describe(name)));
  const { limiter, throttle, keepGivenUp, retryBudget } = document.describe(name);
  disciplineIn(action, document, name);
  const local = document.workers(name).throttle;
  const gates = throttle === undefined ? [] : planGates(name, throttle, (part) => {
    return isNamedThrottle(part) ? document.throttle(part.name!) : part.path === throttle.path ? local : undefined;
  });
  return {
    limiter: planLimiter(action, limiter),
    throttleName: throttle ?? { path: "" },
    shared: local === undefined || gates.length === 0 ? undefined : { local, gates },
    keepGivenUp,
    retryBudget,
  };
}

/**
 * Returns the plan of a queue's discipline in a document; `undefined` if it has none.
 *
 * @throws {ConfigError} If the discipline can't work in a queue that processes share.
 */
export function disciplineIn(action: string, document: ConfigContents, name: string): DisciplinePlan | undefined {
  const { discipline } = document.describe(name);
  return discipline && planDiscipline(action, discipline);
}
