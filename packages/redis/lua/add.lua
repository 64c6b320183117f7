q.isBusy = true
q.makeDueReady()
--#include expect_keys
local priority = 0
for key in rows() do
  if q.hasTraces then q.keepTrace(key) end
  --#include add_key
end
q.wakeForReady()
