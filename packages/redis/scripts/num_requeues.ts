import { declareScript } from "./declare.ts";
import { NUMBER, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";

/**
 * Replies with the number of failures of a key since its failures were last forgotten, or with 0 if the limiter doesn't
 * count.
 */
export const numRequeues = declareScript({
  functions: limiters,
  args: { key: TEXT, rules: TEXT },
  reply: NUMBER,
  body: /* lua */ `
return q.reply(limiters().requeues(cjson.decode(rules), key))
`,
});
