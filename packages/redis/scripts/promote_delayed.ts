import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { FLAG, TEXT } from "./fields.ts";

/**
 * Makes a delayed key ready. A key that is processing becomes ready after its work ends. The reply is true if the key
 * was delayed and not yet due.
 */
export const promoteDelayed = declareScript({
  args: { key: TEXT },
  reply: FLAG,
  body: lua("promote_delayed"),
});
