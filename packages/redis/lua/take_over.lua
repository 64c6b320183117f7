local new = prefix .. 'new:'
for _, name in ipairs(STRUCTURES) do
  redis.call('UNLINK', prefix .. name)
  if redis.call('EXISTS', new .. name) == 1 then redis.call('RENAME', new .. name, prefix .. name) end
end
local given = cjson.decode(settings)
local newLast = tonumber(redis.call('HGET', new .. 'meta', 'last')) or 0
local move = redis.call('HMGET', q.meta, 'repartition', 'repartitions')
redis.call('RENAME', new .. 'meta', q.meta)
redis.call('HSET', q.meta, 'partitions', locked)
if move[1] then redis.call('HSET', q.meta, 'repartition', move[1], 'repartitions', move[2]) end
for _, name in ipairs({ 'paused', 'pauses', 'keep', 'keepFor' }) do
  if given[name] then redis.call('HSET', q.meta, name, given[name]) end
end
for name, count in pairs(given.counts) do redis.call('HSET', q.meta, name, count) end
for group, until_ in pairs(given.pausedGroups) do redis.call('ZADD', q.paused_groups, until_, group) end
last = math.max(last, newLast)
