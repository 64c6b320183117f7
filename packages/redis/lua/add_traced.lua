q.isBusy = true
q.makeDueReady()
--#include expect_keys
if hasItems then
  --#include store_payloads
end
--#include count_new
for key, delayUs, priority, trace in rows() do
  q.keepTrace(key, trace)
  --#include add_key
end
q.wakeForReady()
return q.reply(added)
