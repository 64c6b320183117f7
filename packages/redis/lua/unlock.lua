--#include read_lock
if held and held <= number then
  if division then redis.call('HSET', q.meta, 'partitions', division)
  else redis.call('HDEL', q.meta, 'partitions') end
end
