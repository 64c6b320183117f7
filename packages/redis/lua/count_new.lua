-- Sets `added` to the number of different keys of the rows that the queue doesn't know. All keys are looked up
-- together, because a call for each key would take longer than its add.
local added = 0
do
  local keys, isListed = {}, {}
  for key in rows() do
    if not isListed[key] then
      isListed[key] = true
      keys[#keys + 1] = key
    end
  end
  if q.order then q.order.flush() end
  local columns = { redis.call('HMGET', q.holders, unpack(keys)) }
  for _, set in ipairs({ q.ready, q.stalled, q.suspects, q.delayed, q.budget and q.blocked_retries or nil }) do
    columns[#columns + 1] = redis.call('ZMSCORE', set, unpack(keys))
  end
  for i = 1, #keys do
    local isKnown = false
    for _, column in ipairs(columns) do isKnown = isKnown or column[i] end
    if not isKnown then added = added + 1 end
  end
end
