q.isBusy = true
q.makeDueReady()
--#include expect_keys
if hasItems then
  --#include store_payloads
end
--#include count_new
local isPlain = true
for delayUs, priority in rows() do isPlain = isPlain and delayUs <= 0 and priority == 0 end
--#include add_new
for key, delayUs, priority in rows() do
  if not isAdded[key] then
    if q.hasTraces then q.keepTrace(key) end
    --#include add_key
  end
end
q.wakeForReady()
return q.reply(added)
