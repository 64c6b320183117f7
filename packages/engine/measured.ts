import type { MetricsProvider } from "@workqueue/core";
import type { QueueCounts } from "./contract.ts";

/** Key of the property of a queue object that gauges read. */
export const MEASURED: unique symbol = Symbol.for("workqueue.measured");

/** Members of a queue object that its gauges use. */
export interface Measured {
  /** Name of the product. */
  readonly product: string;
  /** Metrics provider of the queue, if it has one. */
  readonly metrics: MetricsProvider | undefined;
  /** Counts the items. A failure is not reported to `onQueueError`. */
  measure(): Promise<QueueCounts>;
  /** Reports an error to the user. */
  onError(error: unknown): void;
  /** Calls `callback` when the queue object is shut down. Returns an unsubscribe function. */
  onShutDown(callback: () => void): () => void;
}
