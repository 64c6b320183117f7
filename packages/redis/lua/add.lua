q.isBusy = true
q.makeDueReady()
--#include expect_keys
local priority, isPlain = 0, delayUs <= 0
--#include add_new
for key in rows() do
  if not isAdded[key] then
    if q.hasTraces then q.keepTrace(key) end
    --#include add_key
  end
end
q.wakeForReady()
