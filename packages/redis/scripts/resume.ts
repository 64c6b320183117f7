import { declareScript } from "./declare.ts";
import { NOTHING, NUMBER, optional } from "./fields.ts";

/**
 * Resumes the queue. If `pause` is the number of a pause, resumes the queue only if that was the last pause. Wakes up
 * to `BATCH` idle processes, because no process was woken while the queue was paused.
 */
export const resume = declareScript({
  args: { pause: optional(NUMBER) },
  reply: NOTHING,
  body: /* lua */ `
local isLast = not pause or tonumber(redis.call('HGET', q.meta, 'pauses')) == pause
if isLast and redis.call('HDEL', q.meta, 'paused', 'until') > 0 then
  isPaused = false
  for _ = 1, BATCH do
    if not q.wake() then break end
  end
end
`,
});
