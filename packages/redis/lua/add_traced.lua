q.isBusy = true
q.makeDueReady()
--#include expect_keys
if hasItems and not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
--#include count_new
for key, payload, delayUs, priority, trace in rows() do
  if hasItems then redis.call('HSET', q.items, key, payload) end
  q.keepTrace(key, trace)
  --#include add_key
end
q.wakeForReady()
return q.reply(added)
