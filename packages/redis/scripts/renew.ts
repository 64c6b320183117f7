import { declareScript } from "./declare.ts";
import { DURATION, FLAG, TEXT } from "./fields.ts";

/** Renews the lease of an owner. The reply is true if the owner still had its lease. */
export const renew = declareScript({
  args: { owner: TEXT, leaseMs: DURATION },
  reply: FLAG,
  body: /* lua */ `
q.isBusy = true
q.hear(leaseUs)
if not redis.call('ZSCORE', q.owners, owner) then return q.reply(0) end
redis.call('ZADD', q.owners, q.leaseEnd(leaseUs), owner)
if dutyOwner == owner then q.takeDuty(owner, leaseUs, dutyStage) end
return q.reply(1)
`,
});
