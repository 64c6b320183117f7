-- Lets the keys of an empty queue expire, unless there is another call before that. The keys of any other queue are
-- kept. Scripts after which the queue can't be empty, or that run often, set `q.isBusy`. Not a function, because few
-- calls need it.
local function count(names)
  for i, name in ipairs(names) do names[i] = prefix .. name end
  return redis.call('EXISTS', unpack(names))
end
q.isEnding = not q.isBusy and not isPaused and count(WITH_KEYS) == 0
  and redis.call('ZCOUNT', q.paused_groups, '(' .. whole(now), '+inf') == 0
if q.isEnding or stored[15] then
  local seconds = math.ceil(((tonumber(redis.call('HGET', q.meta, 'expireAfter')) or EXPIRE_AFTER) + offset) / 1000000)
  local function set(name)
    if q.isEnding then redis.call('EXPIRE', name, seconds) else redis.call('PERSIST', name) end
  end
  if not q.isEnding then redis.call('HDEL', q.meta, 'ends')
  elseif not stored[15] then redis.call('HSET', q.meta, 'ends', 1) end
  set(q.meta)
  for _, name in ipairs(STRUCTURES) do set(prefix .. name) end
  for _, name in ipairs(q.plan and OF_ORDER or {}) do set(q.orders .. q.plan_number .. ':' .. name) end
end
