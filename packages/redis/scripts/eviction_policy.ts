import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { optional, TEXT } from "./fields.ts";

/**
 * Replies with the server's `maxmemory-policy`, or with nothing if the policy is unknown.
 * Reads INFO, because managed servers forbid CONFIG.
 */
export const evictionPolicy = declareScript({
  args: {},
  reply: optional(TEXT),
  body: lua("eviction_policy"),
});
