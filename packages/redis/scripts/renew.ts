import { declareScript } from "./declare.ts";
import { DURATION, FLAG, TEXT } from "./fields.ts";

/** Renews the lease of an owner. The reply is true if the owner still had its lease. */
export const renew = declareScript({
  args: { owner: TEXT, leaseMs: DURATION },
  reply: FLAG,
  body: /* lua */ `
hear(leaseUs)
if not redis.call('ZSCORE', q.owners, owner) then return reply(0) end
redis.call('ZADD', q.owners, leaseEnd(leaseUs), owner)
if dutyOwner == owner then takeDuty(owner, leaseUs, dutyStage) end
return reply(1)
`,
});
