--#include search_given_up
--#include each_given_up
local discarded = 0
cursor = eachGivenUp(cursor, function(key, entry)
  if not isFound(key, entry) then return true end
  --#include forget_given_up
  return true
end)
