local current = redis.call('HGET', q.meta, 'repartition') or nil
if current == moving then return 1 end -- the call was repeated because its reply was lost
local moves = tonumber(redis.call('HGET', q.meta, 'repartitions')) or 0
if current ~= before or (moves ~= number - 1 and not (before and moves == number)) then return 0 end
redis.call('HSET', q.meta, 'format', FORMAT, 'more', 1, 'repartitions', number)
if moving then redis.call('HSET', q.meta, 'repartition', moving) else redis.call('HDEL', q.meta, 'repartition') end
if division == '[1]' then redis.call('HDEL', q.meta, 'partitions')
elseif division then redis.call('HSET', q.meta, 'partitions', division) end
return 1
