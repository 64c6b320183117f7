/** Action on one running or delayed item: `cancel`. */

import { formatNumber, inspect } from "@workqueue/core/internal";
import type { ControlResult } from "../api.ts";
import { Refusal } from "../http/answers.ts";
import type { WatchedQueue } from "../watch/watched_queue.ts";
import { readBody } from "./bodies.ts";

/** Cancels an item: takes it out of the queue, or aborts its attempt, in whichever process has it. */
export async function cancel(queue: WatchedQueue, body: string): Promise<ControlResult> {
  const { key } = readBody("cancel", body, ["key"]);
  if (queue.source.cancel === undefined) throw new Refusal(422, NO_CANCEL);
  const [item, ...others] = await queue.itemsWith(key!);
  if (others.length > 0) throw new Refusal(422, ambiguous(others.length + 1));
  const from = item === undefined ? undefined : await queue.cancel(item.item);
  return { message: `${inspect(key)} ${resultOf(from)}.`, done: from === undefined ? 0 : 1 };
}

export const NO_CANCEL = "The queue has no method 'cancel'.";

function resultOf(from: string | undefined): string {
  if (from === undefined) return "is neither running nor delayed: nothing was done";
  if (from === "running") return "is cancelled: its handler's signal is aborted, and it is not retried";
  return "is cancelled, and will not run unless added again";
}

/** Returns the error message for a request whose key matches several items. */
function ambiguous(number: number): string {
  return `Nothing was done: ${formatNumber(number)} items have this text. Use 'keyText' to tell them apart.`;
}
