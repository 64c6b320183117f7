import { declareScript } from "./declare.ts";
import { optional, TEXT } from "./fields.ts";

/**
 * Replies by which policy the server deletes keys when its memory is full, or nothing if it doesn't say. Managed
 * servers forbid CONFIG.
 */
export const evictionPolicy = declareScript({
  args: {},
  reply: optional(TEXT),
  body: /* lua */ `
local info = redis.pcall('INFO', 'memory')
return type(info) == 'string' and string.match(info, 'maxmemory_policy:([%w-]+)') or false
`,
});
