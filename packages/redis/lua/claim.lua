--#include read_lock
if held and held <= number or redis.call('EXISTS', q.meta) == 0 then
  redis.call('HSET', q.meta, 'format', FORMAT, 'more', 1, 'partitions', locked)
  return 'locked'
end
return redis.call('HEXISTS', q.meta, 'partitions') == 1 and 'moved' or 'queue'
