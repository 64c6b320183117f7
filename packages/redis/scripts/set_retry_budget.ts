import type { RetryBudgetOptions } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { DECIMAL, NOTHING } from "./fields.ts";

/** Puts a retry budget in force. If it suffices for a blocked retry, an idle process is woken. */
export const setRetryBudget = declareScript({
  args: { ratio: DECIMAL, minRate: DECIMAL } satisfies Record<keyof RetryBudgetOptions, unknown>,
  reply: NOTHING,
  body: /* lua */ `
if not q.budget then
  q.useMore()
  q.budget = struct.pack('>dddddddd', 0, 0, 0, 0, 0, math.huge, -math.huge, 0)
end
q.makeDueReady()
q.retryBudget().change(ratio, minRate)
q.wakeForReady()
q.watchDue()
`,
});
