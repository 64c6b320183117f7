import { declareScript } from "./declare.ts";
import { NUMBER } from "./fields.ts";

/**
 * Pauses the queue. No key is handed out to any process until the queue is resumed. The reply is the number of this
 * pause.
 */
export const pause = declareScript({
  args: {},
  reply: NUMBER,
  body: /* lua */ `
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
return q.reply(redis.call('HINCRBY', q.meta, 'pauses', 1))
`,
});
