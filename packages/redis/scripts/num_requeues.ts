import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { NUMBER, TEXT } from "./fields.ts";

/**
 * Replies with the number of failures of a key since its failures were last forgotten, or with 0 if the limiter doesn't
 * count.
 */
export const numRequeues = declareScript({
  functions: lua("limiters"),
  args: { key: TEXT, rules: TEXT },
  reply: NUMBER,
  body: lua("num_requeues"),
});
