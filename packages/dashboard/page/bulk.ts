/** Questions before acts on many items. */

import type { QueueDetails } from "../api.ts";
import type { Question } from "./steering.ts";

export type BulkAct = "retry" | "take-back";

const VERBS: Readonly<Record<BulkAct, string>> = { retry: "Retry", "take-back": "Take back" };

const EFFECTS: Readonly<Record<BulkAct, string>> = {
  retry: "Retries become ready now, and start when workers and the throttle allow. Failures stay counted.",
  "take-back": "Items that are taken back run only if they are added again. This cannot be undone.",
};

/**
 * Returns the question before an act on all items of a selection. `which` names the selected items, such as `failing
 * items`.
 */
export function bulkQuestion(queue: QueueDetails, act: BulkAct, which: string, body: object): Question {
  const verb = VERBS[act];
  return {
    title: `${verb} ${which}${act === "retry" ? " now" : ""}?`,
    text: EFFECTS[act],
    action: verb,
    path: `api/queues/${encodeURIComponent(queue.name)}/${act}`,
    body,
    isCounted: true,
  };
}

/** Reports whether the queue supports an act. */
export function canDo(queue: QueueDetails, act: BulkAct): boolean {
  return queue.can.includes(act === "retry" ? "retry" : "takeBack");
}
