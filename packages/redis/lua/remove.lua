for _, name in ipairs(STRUCTURES) do redis.call('UNLINK', prefix .. name) end
local moves = redis.call('HGET', q.meta, 'repartitions')
redis.call('DEL', q.meta)
redis.call('HSET', q.meta, 'format', FORMAT, 'more', 1, 'partitions', division)
if moves then redis.call('HSET', q.meta, 'repartitions', moves) end
