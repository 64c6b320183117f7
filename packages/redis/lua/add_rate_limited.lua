q.isBusy = true
local input = limiters().input(given)
q.makeDueReady()
local delay, failures = limiters().when(cjson.decode(rules), key, input, nil, minDelayUs)
if not delay then return q.reply(failures) end
if payload then
  redis.call(isNewest and 'HSET' or 'HSETNX', q.items, key, payload)
  if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
end
--#include revive_delayed
if isNewest then q.keepTrace(key, trace) end
q.addAfter(key, math.max(math.floor(delay * 1000 + 0.5), minDelayUs), replaces, folds, priority,
  retriesFirst and q.beFirst() or RETRY)
if q.hasWaits then
  local _, token = q.split(redis.call('HGET', q.holders, key))
  if token then q.negateWaits(key, '0', token) end
end
q.wakeForReady()
return q.reply(false)
