local exists = redis.call('EXISTS', q.meta)
local found = redis.call('HMGET', q.meta, 'partitions', 'repartition', 'repartitions', 'order')
local division, moving = found[1], found[2]
