import { declareScript } from "./declare.ts";
import { FLAG } from "./fields.ts";

/** Replies whether the keys of the queue expire, because it is empty. */
export const isEnding = declareScript({
  args: {},
  reply: FLAG,
  body: /* lua */ `
q.reply() -- sets q.isEnding
return q.isEnding and 1 or 0
`,
});
