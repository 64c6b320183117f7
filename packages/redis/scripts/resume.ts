import { declareScript } from "./declare.ts";
import { NUMBER, optional } from "./fields.ts";

/**
 * Resumes the queue. If `pause` is the number of a pause, resumes the queue only if that was the last pause. Wakes up
 * to `BATCH` idle processes, because no process was woken while the queue was paused. The reply is the number of the
 * last pause, or -1 if the queue was not resumed.
 *
 * With `ended`, resumes another partition in the same way: `ended` was the reply of the call to the first partition.
 */
export const resume = declareScript({
  args: { pause: optional(NUMBER), ended: optional(NUMBER) },
  reply: NUMBER,
  body: /* lua */ `
local pauses = tonumber(redis.call('HGET', q.meta, 'pauses')) or 0
local isLast = not pause or pauses == pause
if ended then
  isLast = pauses <= ended
  redis.call('HSET', q.meta, 'resumed', math.max(ended, tonumber(redis.call('HGET', q.meta, 'resumed')) or 0))
end
if isLast and redis.call('HDEL', q.meta, 'paused', 'until') > 0 then
  isPaused = false
  for _ = 1, BATCH do
    if not q.wake() then break end
  end
end
return q.reply(isLast and pauses or -1)
`,
});
