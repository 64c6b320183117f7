q.expireAfter = math.max(expireUs or EXPIRE_AFTER, 2 * leaseUs)
q.written = { q.state, q.permits, q.leases, q.line, q.called }
local leaseEnd = now + leaseUs
leaseEnd = leaseEnd + leaseEnd % 2 -- an odd end includes a grace
local RESERVED = math.min(leaseUs / 3, 1000000) -- µs for which a permit is reserved for a process

-- If the server has lost a key of the throttle, as after an eviction, the other keys show what is left: the number of
-- permits in use, and the processes that need a lease. Processes report lost permits with their next calls.
if not stored[5] or (used > 0 and redis.call('EXISTS', q.permits, q.leases) < 2) then
  used = 0
  local all = redis.call('HRANDFIELD', q.permits, redis.call('HLEN', q.permits), 'WITHVALUES')
  for i = 1, #all, 2 do
    used = used + tonumber(string.match(all[i + 1], '^%d+'))
    redis.call('ZADD', q.leases, 'NX', whole(leaseEnd), all[i])
  end
end

-- Leases are measured from the end of a gap in which nobody called, because nobody could renew. Each process has one
-- such grace after each call.
if now - heard > leaseUs / 2 then
  local all = redis.call('ZRANGE', q.leases, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do
    local ends = tonumber(all[i + 1])
    if ends % 2 == 0 and now + leaseUs > ends then
      local grace = now + leaseUs
      redis.call('ZADD', q.leases, whole(grace + 1 - grace % 2), all[i])
    end
  end
end
heard = now

-- Removes a process, and returns its permits.
local function remove(gone)
  local count = string.match(redis.call('HGET', q.permits, gone) or '', '^%d+')
  used = math.max(used - (tonumber(count) or 0), 0)
  redis.call('HDEL', q.permits, gone)
  redis.call('ZREM', q.leases, gone)
  redis.call('ZREM', q.line, gone)
  redis.call('ZREM', q.called, gone)
end

for _, gone in ipairs(redis.call('ZRANGE', q.leases, '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, BATCH)) do
  if gone ~= process then remove(gone) end
end
redis.call('ZREMRANGEBYSCORE', q.called, '-inf', whole(now - RESERVED)) -- processes that did not come for their permits

local count, latest, granted = string.match(redis.call('HGET', q.permits, process) or '0 0 0', '(%d+) (%d+) (%d+)')
count, latest, granted = tonumber(count), tonumber(latest), tonumber(granted)

-- Serves the processes in the line, and this process in its place.
local function serve()
  local place = redis.call('ZREM', q.called, process) == 1 and 0
    or tonumber(redis.call('ZSCORE', q.line, process) or now)
  redis.call('ZREM', q.line, process)
  while true do
    local free = limit - used - redis.call('ZCARD', q.called)
    if free <= 0 then break end
    local first = redis.call('ZRANGE', q.line, 0, 0, 'WITHSCORES')
    if granted < wanted and (not first[1] or place <= tonumber(first[2])) then
      local more = first[1] and 1 or math.min(wanted - granted, free)
      granted, used, place = granted + more, used + more, now
    elseif first[1] then
      local other = first[1]
      redis.call('ZREM', q.line, other)
      -- A process without a subscription is gone.
      if redis.call('PUBLISH', q.channel .. other, '') > 0 then redis.call('ZADD', q.called, whole(now), other) end
    else
      break
    end
  end
  if granted < wanted then redis.call('ZADD', q.line, whole(place), process) end
end

if nth > latest then
  used, granted = math.max(used - count, 0) + using, 0
  serve()
  if using + wanted == 0 then
    redis.call('HDEL', q.permits, process)
    redis.call('ZREM', q.leases, process)
  else
    redis.call('HSET', q.permits, process, using + granted .. ' ' .. whole(nth) .. ' ' .. granted)
    redis.call('ZADD', q.leases, whole(leaseEnd), process)
  end
elseif nth < latest then
  granted = 0 -- a later call has replaced this one
end

local left = math.max(limit - used - redis.call('ZCARD', q.called), 0)
local waitUs
local function note(at)
  if at then waitUs = math.max(math.min(waitUs or math.huge, at - now), 1) end
end
if granted < wanted then
  local ends = redis.call('ZRANGE', q.leases, 0, 1, 'WITHSCORES')
  note(tonumber(ends[1] ~= process and ends[2] or ends[4]))
  -- If the process for which a permit is reserved makes no call, the first process in the line gets the permit when it
  -- calls.
  local called = redis.call('ZRANK', q.line, process) == 0 and redis.call('ZRANGE', q.called, 0, 0, 'WITHSCORES')[2]
  note(called and called + RESERVED)
end
