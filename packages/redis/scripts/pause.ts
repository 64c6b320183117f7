import { declareScript } from "./declare.ts";
import { NOTHING } from "./fields.ts";

/** Pauses the queue. No key is handed out to any process until the queue is resumed. */
export const pause = declareScript({
  args: {},
  reply: NOTHING,
  body: /* lua */ `
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
`,
});
