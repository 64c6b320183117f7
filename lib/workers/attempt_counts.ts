import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import { hooksOf } from "../queue/hooks.ts";
import { ChurnMap } from "../structures/churn_map.ts";

/** The counts of queues that keep none themselves. */
const countsOfQueues = /* @__PURE__ */ new WeakMap<object, AttemptCounts>();

/** How often each key of a queue was tried since it was last forgotten. All pools of the queue count together. */
export function attemptCountsOf(queue: object): AttemptCounts {
  let counts = hooksOf(queue).attempts ?? countsOfQueues.get(queue);
  if (counts === undefined) countsOfQueues.set(queue, counts = new ChurnMap<unknown, number>());
  return counts;
}
