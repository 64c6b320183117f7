-- Defines `readGivenUp(key)` and `isFound(key, entry)`, which reports whether the key or the error contains the text
-- `search`. Ignores the case of ASCII letters only, because Lua knows no others.
--
-- An entry in `reasons` is a JSON array: error, payload (or null), reason, number of attempts, time of the first
-- failure as text, and, in a queue with groups, the group.
search = string.lower(search)
local function readGivenUp(key)
  local stored = redis.call('HGET', q.reasons, key)
  return stored and cjson.decode(stored) or { '', cjson.null, 'terminal' }
end
local function isFound(key, entry)
  return search == '' or string.find(string.lower(key), search, 1, true) ~= nil or
    string.find(string.lower(entry[1]), search, 1, true) ~= nil
end
