local LATE = 250000 -- µs by which a call may be late before the process loses its place

if not (resent and charged < 0) then limiters().tokens_give_back('tokens', rate, burst, -charged) end

for _, late in ipairs(redis.call('ZRANGE', q.turns, '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, BATCH)) do
  redis.call('ZREM', q.turns, late)
  redis.call('ZREM', q.takers, late)
end
local place = tonumber(redis.call('ZSCORE', q.takers, process) or now)
redis.call('ZREM', q.turns, process)
redis.call('ZREM', q.takers, process)

local granted, waitUs = 0, nil
local function take(count, ahead)
  local taken, wait = limiters().tokens_take('tokens', rate, burst, count, ahead)
  granted, waitUs = granted + taken, wait
  return taken == count
end
if wanted > 0 then
  local others = redis.call('ZCARD', q.takers)
  local ahead = redis.call('ZCOUNT', q.takers, '-inf', '(' .. whole(place))
  if others == 0 then take(wanted, 0)
  elseif take(1, ahead) then
    place = now
    if wanted > 1 then take(wanted - 1, others) end
  end
end
if granted < wanted then
  redis.call('ZADD', q.takers, whole(place), process)
  redis.call('ZADD', q.turns, whole(now + math.min(waitUs or longestUs, longestUs) + LATE), process)
end

local full = string.match(redis.call('HGET', prefix .. 'buckets', 'tokens') or '', '(%S+)$')
q.expireAfter = math.max(expireUs or EXPIRE_AFTER, (tonumber(full) or now) - now)
q.written = { q.state, q.takers, q.turns, prefix .. 'buckets' }
