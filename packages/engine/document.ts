import { type ConfigContents, ConfigError, type WorkQueueConfig } from "@workqueue/core";
import { escapePointer } from "@workqueue/core/internal";
import { memoryOnly } from "./memory_options.ts";
import type { LiveRemoteQueue, LiveSettings } from "./remote_queue.ts";

/**
 * Refuses a queue of a document that has what only in-memory queues have.
 *
 * @param product The name of the product, for messages.
 * @throws {ConfigError} If the queue has a retry budget.
 * @throws {RangeError} If the document has no queue with that name.
 */
export function refuseMemoryParts(product: string, action: string, document: ConfigContents, name: string): void {
  if (document.describe(name).retryBudget === undefined) return;
  const option = "retryBudget";
  const path = `/queues/${escapePointer(name)}/${option}`;
  throw new ConfigError(action, [{ path, message: memoryOnly(product, option) }]);
}

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
