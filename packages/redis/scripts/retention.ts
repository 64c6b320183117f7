import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { FLAG } from "./fields.ts";

/**
 * Drops given-up keys over the limits. The reply is true if the script must run again, because there may be more keys
 * to drop.
 */
export const dropOld = declareScript({
  args: {},
  reply: FLAG,
  body: lua("drop_old"),
});
