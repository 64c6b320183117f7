/**
 * Shared parts of the queues that many processes share, for packages such as `@workqueue/redis`. Programs use those
 * packages, and not this one.
 *
 * **Unstable**: this package may change in any release. A package that needs it must require exactly its own version.
 *
 * An engine stores the items, and decides which process gets which item: see {@linkcode Engine}.
 * {@linkcode createRemoteQueue} makes a {@linkcode RemoteQueue} of it, which has the leases, pools, metrics and
 * messages of this process.
 *
 * @module
 */

import "./core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export * from "./contract.ts";
export { type CopyOptions, copyQueue, type CopyResult } from "./copy.ts";
export type * from "./delay_nodes.ts";
export {
  type DisciplinePlan,
  type FairPlan,
  LINE_TRAITS,
  type LineKind,
  type LinePlan,
  type LineTraits,
  type OrderKind,
  type OrderPlan,
  planDiscipline,
} from "./discipline_plan.ts";
export { disciplineIn, followReloads, requireOwnBuckets, settingsIn } from "./document.ts";
export type * from "./engine.ts";
export { retentionOf } from "./given_up.ts";
export { type Interpreter, planDisciplineFor } from "./interpreter.ts";
export { type BucketPlan, planBucket, planLimiter, type PlanSettings } from "./limiter_plan.ts";
export { processOf } from "./leases.ts";
export { refuseMemoryOptions } from "./memory_options.ts";
export {
  ADDS_WHILE_DELAYED,
  AN_INTERVAL,
  budgetOf,
  COMMON_OPTIONS,
  type DocumentOption,
  forgetAfterOf,
  intervalsOf,
  OWN_OPTIONS,
  requireInterval,
  resultsOf,
  retriesFirstOf,
  type RulesOf,
} from "./options.ts";
export { measureRemoteQueue, type RemoteQueueMetricsOptions } from "./queue_metrics.ts";
export type { PlannedPart } from "./planned_part.ts";
export {
  createRemoteQueue,
  type LiveRemoteQueue,
  type LiveSettings,
  type RemoteQueueParts,
  type SharedThrottlePlan,
} from "./remote_queue.ts";
export type { ThrottleName } from "./source.ts";
export type * from "./throttle_store.ts";
export { entryOf, unknownKind } from "./unknown_kind.ts";
export { WAIT_FOR } from "./waits.ts";
// Types used by the public types of this package, directly or indirectly.
export type * from "@workqueue/core";
