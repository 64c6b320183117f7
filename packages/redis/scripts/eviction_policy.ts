import { declareScript } from "./declare.ts";
import { optional, TEXT } from "./fields.ts";

/**
 * Replies with the server's `maxmemory-policy`, or with nothing if the policy is unknown.
 * Reads INFO, because managed servers forbid CONFIG.
 */
export const evictionPolicy = declareScript({
  args: {},
  reply: optional(TEXT),
  body: /* lua */ `
local info = redis.pcall('INFO', 'memory')
return type(info) == 'string' and string.match(info, 'maxmemory_policy:([%w-]+)') or false
`,
});
