/** Places of queues that processes share, for suites that every such engine runs. */

import type { MetricsProvider, WorkQueueConfig } from "@workqueue/core";
import type { RemoteQueue, RemoteQueueMetricsOptions, RemoteQueueOptions } from "@workqueue/engine";

/** Server or file of a test, in which it opens queues. */
export interface RemotePlace {
  /** Name of the engine in messages. */
  readonly product: "Redis" | "SQLite";
  /** Opens a queue, as another process does. */
  open<T = string, R = unknown>(options: RemoteQueueOptions<T> & { readonly name: string }): RemoteQueue<T, R>;
  /** Opens a queue of a config document. */
  openFrom(config: WorkQueueConfig, name: string): RemoteQueue;
  /** Makes ready items as old as if they had been added earlier, by a number of milliseconds. */
  makeOlder(name: string, items: readonly string[], ms: number): Promise<void>;
  /** Measures the whole queue. */
  measure<T>(queue: RemoteQueue<T>, metrics?: MetricsProvider, options?: RemoteQueueMetricsOptions): Disposable;
}

/** Registers a test that has its own place. */
export type RemoteTest = (name: string, run: (place: RemotePlace) => Promise<void>) => void;
