local found = redis.call('HMGET', q.meta, 'partitions', 'repartition')
if found[1] == own and not found[2] then redis.call('EXPIRE', q.meta, math.ceil(expireUs / 1000000)) end
