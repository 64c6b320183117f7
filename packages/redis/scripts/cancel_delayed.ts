import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { FLAG, TEXT } from "./fields.ts";

/** Cancels the delay of a key. The reply is true if the key was delayed and not yet due. */
export const cancelDelayed = declareScript({
  args: { key: TEXT },
  reply: FLAG,
  body: lua("cancel_delayed"),
});
