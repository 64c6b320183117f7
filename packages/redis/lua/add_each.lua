q.isBusy = true
q.makeDueReady()
--#include expect_keys
if hasItems and not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
--#include count_new
local isPlain, payloads = true, {}
for key, payload, delayUs, priority in rows() do
  isPlain = isPlain and delayUs <= 0 and priority == 0
  payloads[#payloads + 1], payloads[#payloads + 2] = key, payload
end
if hasItems then redis.call('HSET', q.items, unpack(payloads)) end
--#include add_new
for key, delayUs, priority in rows() do
  if not isAdded[key] then
    if q.hasTraces then q.keepTrace(key) end
    --#include add_key
  end
end
q.wakeForReady()
return q.reply(added)
