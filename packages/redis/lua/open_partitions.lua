if redis.call('EXISTS', q.meta) == 0 then
  redis.call('HSET', q.meta, 'format', FORMAT, 'more', 1, 'partitions', own)
end
redis.call('PERSIST', q.meta)
--#include read_division
