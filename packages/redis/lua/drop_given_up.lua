-- Drops given-up keys over the limits on their number and age, the oldest first. Sets `dropped` to the number of
-- dropped keys, at most `BATCH`.
local dropped
do
  local limits = redis.call('HMGET', q.meta, 'keep', 'keepFor')
  local excess = redis.call('ZCARD', q.given_up) - (tonumber(limits[1]) or KEPT)
  local old = excess > 0 and redis.call('ZRANGE', q.given_up, 0, math.min(excess, BATCH) - 1) or {}
  if #old == 0 and limits[2] then
    old = redis.call('ZRANGE', q.given_up, '-inf', '(' .. whole(now - limits[2]), 'BYSCORE', 'LIMIT', 0, BATCH)
  end
  dropped = #old
  if dropped > 0 then
    redis.call('ZREM', q.given_up, unpack(old))
    redis.call('HDEL', q.reasons, unpack(old))
    redis.call('HDEL', q.stalls, unpack(old))
    redis.call('HINCRBY', q.meta, 'dropped', dropped)
  end
end
