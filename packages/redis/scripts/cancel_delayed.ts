import { declareScript } from "./declare.ts";
import { FLAG, TEXT } from "./fields.ts";

/** Cancels the delay of a key. The reply is true if the key was delayed and not yet due. */
export const cancelDelayed = declareScript({
  args: { key: TEXT },
  reply: FLAG,
  body: /* lua */ `
makeDueReady()
local due = redis.call('ZSCORE', q.delayed, key)
if not due or tonumber(due) <= now then return reply(0) end
redis.call('ZREM', q.delayed, key)
if q.ranked then q.ranks().take(q.due_priorities, key) end
stopFolding(key)
if not isReady(key) and redis.call('HEXISTS', q.holders, key) == 0 then dropItem(key) end
return reply(1)
`,
});
