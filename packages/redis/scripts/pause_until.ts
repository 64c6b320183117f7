import { declareScript } from "./declare.ts";
import { DURATION, NOTHING } from "./fields.ts";

/** Pauses the queue for a while. A pause that ends later stays in force. */
export const pauseUntil = declareScript({
  args: { durationMs: DURATION },
  reply: NOTHING,
  body: /* lua */ `
q.useMore()
q.paused_until = math.max(q.paused_until, now + durationUs)
redis.call('HSET', q.meta, 'until', whole(q.paused_until))
isPaused = true
q.watchDue()
`,
});
