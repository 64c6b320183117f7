import { declareScript } from "./declare.ts";
import { NOTHING } from "./fields.ts";

/** Hands nothing out from now on, to nobody. */
export const pause = declareScript({
  args: {},
  reply: NOTHING,
  body: /* lua */ `
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
`,
});
