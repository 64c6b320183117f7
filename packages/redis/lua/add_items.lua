q.isBusy = true
q.makeDueReady()
--#include expect_keys
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
local priority = 0
for key, payload in rows() do
  redis.call('HSET', q.items, key, payload)
  if q.hasTraces then q.keepTrace(key) end
  --#include add_key
end
q.wakeForReady()
