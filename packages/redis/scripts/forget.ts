import { declareScript } from "./declare.ts";
import { NOTHING, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";

/** Forgets the failures of a key. */
export const forget = declareScript({
  functions: limiters,
  args: { key: TEXT },
  reply: NOTHING,
  body: /* lua */ `
limiter_forget(key)
q.stopFolding(key)
`,
});
