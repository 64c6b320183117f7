import { formatDuration, formatNumber } from "../base/inspection.ts";
import { steadyClock } from "../base/steady_clock.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import { hooksOf } from "./hooks.ts";

/** Describes how many items are delayed, and when the next one is due. */
export function describeDelayed(queue: DelayingQueue<unknown>): string {
  const dueAt = hooksOf(queue).nextDueAt?.();
  const next = dueAt === undefined
    ? ""
    : ` (next in ${formatDuration(Math.max(dueAt - steadyClock(queue.clock).now(), 0))})`;
  return `${formatNumber(queue.delayed)} delayed${next}`;
}
