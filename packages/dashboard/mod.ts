/**
 * A page that shows what queues do and what is stuck, and steers them.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core

export { allowLocal, allowToken } from "./access.ts";
export type {
  Bucket,
  Control,
  ControlResult,
  Counts,
  DelayedItem as ShownDelayedItem,
  ErrorBody,
  FailingItem as ShownFailingItem,
  Group,
  History,
  LimiterNode,
  QueueDetails,
  QueueRow,
  Rates,
  ReadyItem,
  RunningItem as ShownRunningItem,
  State,
  Verdict,
} from "./api.ts";
export type * from "./contract.ts";
export { createDashboard } from "./create_dashboard.ts";
// Those that the types of this package are made of, and what these are made of.
export type * from "@workqueue/core";
