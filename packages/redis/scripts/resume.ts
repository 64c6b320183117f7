import { declareScript } from "./declare.ts";
import { NOTHING } from "./fields.ts";

/**
 * Resumes the queue. Wakes up to `BATCH` idle processes, because no process was woken while the queue was paused.
 */
export const resume = declareScript({
  args: {},
  reply: NOTHING,
  body: /* lua */ `
if redis.call('HDEL', q.meta, 'paused') == 1 then
  isPaused = false
  for _ = 1, BATCH do
    if not wake() then break end
  end
end
`,
});
