--#include search_given_up
--#include each_given_up
local total = redis.call('ZCARD', q.given_up)
local checked
cursor, checked = eachGivenUp(cursor, function(key, entry, at)
  local n = #entries.key + 1
  if n > limit then return false end
  if not isFound(key, entry) then return true end
  entries.key[n], entries.at[n] = key, at
  entries.payload[n] = entry[2] ~= cjson.null and entry[2] or false
  entries.error[n] = entry[1]
  entries.reason[n] = entry[3]
  entries.attempts[n] = entry[4]
  entries.firstFailedAgoUs[n] = now - entry[5]
  entries.group[n] = entry[6] or false
  entries.givenUpAgoUs[n] = now - at
  return true
end)
