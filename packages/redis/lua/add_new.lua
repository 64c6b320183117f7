-- Adds the new keys of several rows, if `isPlain`, with one call of each command, because a call for each key takes
-- longer. Afterwards, `isAdded` has these keys. Leaves all rows out if the queue has state that an add of one of them
-- may change.
local isAdded = {}
if isPlain and #ARGV > ONE_ROW and not (replaces or (folds and hasFolding) or behind
  or q.plan or q.ranked or q.budget or q.hasTraces) then
  local keys, hasStalled, places = {}, false, {}
  for key in rows() do keys[#keys + 1] = key end
  local held, stalls = redis.call('HMGET', q.holders, unpack(keys)), redis.call('HMGET', q.stalls, unpack(keys))
  for i = 1, #keys do hasStalled = hasStalled or stalls[i] end
  for i, key in ipairs(hasStalled and {} or keys) do
    if not held[i] and not isAdded[key] then
      isAdded[key] = true
      places[#places + 1], places[#places + 2] = q.tick(), key
    end
  end
  if #places > 0 then redis.call('ZADD', q.ready, 'NX', unpack(places)) end
end
