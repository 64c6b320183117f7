q.isBusy = true
q.makeDueReady()
--#include expect_keys
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
local priority, isPlain, payloads = 0, delayUs <= 0, {}
for key, payload in rows() do payloads[#payloads + 1], payloads[#payloads + 2] = key, payload end
redis.call('HSET', q.items, unpack(payloads))
--#include add_new
for key in rows() do
  if not isAdded[key] then
    if q.hasTraces then q.keepTrace(key) end
    --#include add_key
  end
end
q.wakeForReady()
