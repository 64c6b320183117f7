import { declareScript } from "./declare.ts";
import { NUMBER, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";

/**
 * Replies with the number of failures that the limiter has counted for a key since the key's failures were last
 * forgotten.
 */
export const numRequeues = declareScript({
  functions: limiters,
  args: { key: TEXT, plan: TEXT },
  reply: NUMBER,
  body: /* lua */ `
return q.reply(limiters().requeues(limiters().read(plan), key))
`,
});
