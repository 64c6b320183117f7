import { formatNumber, setInspection, titleOf } from "../base/inspection.ts";
import type { WorkQueue } from "../contracts/work_queue.ts";

/**
 * Makes the queues of a class show their item counts in consoles and strings.
 *
 * @param describeDelayed Describes the delayed items. Omit this argument for queues without delays.
 */
export function setQueueInspection<Q extends WorkQueue<unknown>>(
  prototype: Q,
  type: string,
  describeDelayed?: (queue: Q) => string,
): void {
  setInspection(prototype, ({ name }) => titleOf(type, name), (queue) => {
    const { length, processing, shuttingDown } = queue;
    const { blocked } = queue.snapshot({ limit: 0 });
    const parts = [`${formatNumber(length)} ready`];
    if (blocked > 0) parts.push(`${formatNumber(blocked)} blocked`);
    if (describeDelayed !== undefined) parts.push(describeDelayed(queue));
    parts.push(`${formatNumber(processing)} processing`);
    if (shuttingDown) parts.push("shutting down");
    return parts.join(", ");
  });
}
