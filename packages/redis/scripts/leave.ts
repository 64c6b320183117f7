import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { FLAG, TEXT } from "./fields.ts";

/**
 * Removes a process that wants no more work and has no work left. If the process still has keys on the server under the
 * name `owner`, hands back up to `BATCH` of these keys. The reply is true if more keys are left.
 */
export const leave = declareScript({
  args: { process: TEXT, owner: TEXT },
  reply: FLAG,
  body: lua("leave"),
});
