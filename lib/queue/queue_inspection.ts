import { systemClock } from "../base/clock.ts";
import { formatDuration, formatNumber, setInspection, titleOf } from "../base/inspection.ts";
import type { WorkQueue } from "../contracts/work_queue.ts";
import { hooksOf } from "./hooks.ts";

/** Has consoles print the queues of a class by their numbers. */
export function setQueueInspection(prototype: WorkQueue<unknown> & { waiting?: number }, type: string): void {
  setInspection(prototype, ({ name }) => titleOf(type, name), (queue) => {
    const { length, waiting, held, shuttingDown } = queue;
    const { heldBack } = queue.snapshot({ limit: 0 });
    const parts = [`${formatNumber(length)} ready`];
    if (heldBack > 0) parts.push(`${formatNumber(heldBack)} held back`);
    if (waiting !== undefined) parts.push(`${formatNumber(waiting)} waiting${nextOf(queue)}`);
    parts.push(`${formatNumber(held)} held`);
    if (shuttingDown) parts.push("shutting down");
    return parts.join(", ");
  });
}

function nextOf(queue: WorkQueue<unknown>): string {
  const dueAt = hooksOf(queue).nextDueAt?.();
  if (dueAt === undefined) return "";
  return ` (next in ${formatDuration(Math.max(dueAt - (queue.clock ?? systemClock).now(), 0))})`;
}
