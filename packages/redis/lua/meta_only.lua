-- Beginning of scripts that use only `meta`.
local prefix = string.sub(KEYS[1], 1, -5)
local q = { meta = KEYS[1] }
local format = redis.call('HGET', q.meta, 'format')
if format and format ~= FORMAT then
  --#include refuse_other_queue
end
function q.reply(value)
  return value
end
