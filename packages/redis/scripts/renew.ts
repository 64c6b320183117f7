import { declareScript } from "./declare.ts";
import { DURATION, fields, FLAG, rows, TEXT } from "./fields.ts";

/** Renews the lease of an owner. */
export const renew = declareScript({
  args: { owner: TEXT, leaseMs: DURATION },
  reply: fields({
    /** Whether the owner still had its lease. */
    isThere: FLAG,
    /** Cancelled keys that the owner has; some of them if there are many. */
    cancelled: rows({ token: TEXT, reason: TEXT }),
  }),
  body: /* lua */ `
q.isBusy = true
q.hear(leaseUs)
local isThere = redis.call('ZSCORE', q.owners, owner) and 1 or 0
if isThere == 1 then
  redis.call('ZADD', q.owners, q.leaseEnd(leaseUs), owner)
  if dutyOwner == owner then q.takeDuty(owner, leaseUs, dutyStage) end
  local stored = q.hasCancels and redis.call('HRANDFIELD', q.cancelled_by .. owner, BATCH, 'WITHVALUES') or {}
  for i = 2, #stored, 2 do
    local n = i / 2
    cancelled.token[n], cancelled.reason[n] = string.match(stored[i], '^(%d+) (.*)$')
  end
end
`,
});
