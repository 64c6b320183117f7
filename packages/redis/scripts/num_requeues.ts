import { declareScript } from "./declare.ts";
import { NUMBER, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";

/** Replies how often the limiter has counted a key since it was forgotten. */
export const numRequeues = declareScript({
  functions: limiters,
  args: { key: TEXT, plan: TEXT },
  reply: NUMBER,
  body: /* lua */ `
return reply(limiters().requeues(cjson.decode(plan), key))
`,
});
