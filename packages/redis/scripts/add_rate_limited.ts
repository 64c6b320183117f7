import { reviveDelayed } from "./add.ts";
import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, FLAG, NUMBER, optional, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";

/**
 * Adds a key after its limiter's delay, or after `minDelayMs` if that is longer. `payload` replaces an existing payload
 * only if `isNewest` is true. Replies with nothing on success. If the delay was computed for the wrong
 * number of failures, changes nothing and replies with the correct number.
 */
export const addRateLimited = declareScript({
  retry: "never", // a second run would count a second failure
  adds: true,
  functions: limiters,
  args: {
    key: TEXT,
    payload: optional(TEXT),
    isNewest: FLAG,
    replaces: FLAG,
    folds: FLAG,
    rules: TEXT,
    given: TEXT,
    minDelayMs: DURATION,
    priority: DECIMAL,
    trace: optional(TEXT),
  },
  reply: optional(NUMBER),
  body: /* lua */ `
q.isBusy = true
local input = limiters().input(given)
q.makeDueReady()
local delay, failures = limiters().when(cjson.decode(rules), key, input, nil, minDelayUs)
if not delay then return q.reply(failures) end
if payload then
  redis.call(isNewest and 'HSET' or 'HSETNX', q.items, key, payload)
  if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
end
${reviveDelayed}
if isNewest then q.keepTrace(key, trace) end
q.addAfter(key, math.max(math.floor(delay * 1000 + 0.5), minDelayUs), replaces, folds, priority, true)
q.wakeForReady()
return q.reply(false)
`,
});
