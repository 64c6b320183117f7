q.isBusy = true
if resent and redis.call('ZSCORE', q.waits_for .. key, process .. ' ' .. id) then return q.reply(0) end
q.makeDueReady()
q.forgetWaits()
if payload then
  redis.call('HSET', q.items, key, payload)
  if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
end
if trace or q.hasTraces then q.keepTrace(key, trace) end
local delayUs = 0
--#include add_key
q.wait(key, process, id)
q.wakeForReady()
