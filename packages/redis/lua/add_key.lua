-- Adds the key of a row.
if delayUs > 0 then
  --#include revive_delayed
  q.addAfter(key, delayUs, replaces, folds, priority)
else
  q.addNow(key, replaces, folds, priority)
  if q.tellsAdds then q.tellHolder(key) end
end
