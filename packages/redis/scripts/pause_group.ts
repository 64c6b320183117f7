import { declareScript } from "./declare.ts";
import { DURATION, FLAG, TEXT } from "./fields.ts";

/**
 * Blocks the keys of a group for a while. The reply is false if the queue has no groups. A duration of 0 or less
 * changes nothing.
 */
export const pauseGroup = declareScript({
  args: { group: TEXT, durationMs: DURATION },
  reply: FLAG,
  body: /* lua */ `
q.makeDueReady()
if not q.hasGroups then return q.reply(0) end
redis.call('ZREMRANGEBYSCORE', q.paused_groups, '-inf', whole(now))
if durationUs > 0 then
  redis.call('ZADD', q.paused_groups, 'GT', whole(now + durationUs), group)
  q.ordered().pause(group, now + durationUs)
  q.watchDue()
end
return q.reply(1)
`,
});

/** Ends the pause of a group. The reply is false if the queue has no groups. */
export const resumeGroup = declareScript({
  args: { group: TEXT },
  reply: FLAG,
  body: /* lua */ `
q.makeDueReady()
if not q.hasGroups then return q.reply(0) end
redis.call('ZREM', q.paused_groups, group)
q.ordered().resume(group)
q.wakeForReady()
return q.reply(1)
`,
});
