import type { MetricsProvider } from "@workqueue/core";
import type { Counts } from "./engine.ts";

/** Where a queue object has what its gauges need of it. */
export const MEASURED: unique symbol = Symbol.for("workqueue.redis.measured");

/** A queue object, as its gauges know it. */
export interface Measured {
  /** Where the measurements of this process go, if the queue was given that. */
  readonly metrics: MetricsProvider | undefined;
  /** Asks the server. Does not report a failure to `onQueueError`. */
  measure(): Promise<Counts>;
  /** Is told of what the user should know. */
  onError(error: unknown): void;
  /** Calls back when the queue object is shut down. Returns what ends that. */
  onShutDown(callback: () => void): () => void;
}
