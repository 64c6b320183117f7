if q.moving then
  --#include move_some
end
return q.reply(redis.call('HEXISTS', q.meta, 'moving'))
