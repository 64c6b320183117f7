import { declareScript } from "./declare.ts";
import { NOTHING } from "./fields.ts";

/** Hands out again. Wakes the processes that want work, as none was woken while the queue was paused. */
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
