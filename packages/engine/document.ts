import type { ConfigContents, WorkQueueConfig } from "@workqueue/core";
import type { LiveRemoteQueue, LiveSettings } from "./remote_queue.ts";

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
