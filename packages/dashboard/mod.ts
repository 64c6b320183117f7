/**
 * Dashboard for work queues: shows their state, explains why a queue is stuck, and controls it.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export { allowLocal, allowToken } from "./access.ts";
export type {
  Act,
  Audit,
  BlockedGroup,
  BlockedGroupList,
  Bucket,
  Control,
  ControlResult,
  Counts,
  DelayedItem as ShownDelayedItem,
  ErrorBody,
  ErrorGroup,
  FailingItem as ShownFailingItem,
  GivenUpErrorGroup,
  GivenUpList,
  GivenUpRow,
  Group,
  History,
  Latency,
  LimiterNode,
  Percentiles,
  QueueDetails,
  QueueRow,
  Rates,
  ReadyItem,
  RedriveState,
  RunningItem as ShownRunningItem,
  State,
  ThrottleNode,
  ThrottleRow,
  Verdict,
} from "./api.ts";
export type * from "./contract.ts";
export { createDashboard } from "./create_dashboard.ts";
// The types of this package refer to types of the core, directly or indirectly.
export type * from "@workqueue/core";
export type { QueueCounts, QueueTotals, RemoteBlockedGroup, RemoteQueueSnapshot } from "@workqueue/core/hooks";
