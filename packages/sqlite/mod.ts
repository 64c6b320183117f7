/**
 * Work queue in a file: the same queue and handlers as in memory, for the processes of one machine.
 *
 * @module
 */

import "./core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export * from "./contract.ts";
export { createSqliteQueue } from "./create_queue.ts";
export { SqliteConnectionError } from "./database/errors.ts";
export type { SqliteConnection, SqliteStatement } from "./database/statements.ts";
export { sqliteQueueMetrics, type SqliteQueueMetricsOptions } from "./queue_metrics.ts";
export { sqliteQueueNames } from "./queue_names.ts";
export { type SqliteQueues, sqliteQueues } from "./queues.ts";
// Types used by the public types of this package, directly or indirectly.
export type * from "@workqueue/core";
export type {
  QueueCounts,
  QueueTotals,
  RemoteAddAllOptions,
  RemoteAddAllResult,
  RemoteAddAndWaitOptions,
  RemoteAddOptions,
  RemoteBlockedGroup,
  RemoteLease,
  RemoteQueue,
  RemoteQueueMetricsOptions,
  RemoteQueueOptions,
  RemoteQueueSnapshot,
} from "@workqueue/engine";
