-- Adds some of the ready keys to the order that is in force, and removes some keys of former orders. A large queue
-- needs several calls.
do
  local isDone = true
  if q.moving ~= 'done' then
    local ready = redis.call('ZRANGE', q.ready, q.moving, '+inf', 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
    for i = 1, #ready, 2 do
      local key = ready[i]
      q.ordered().move(key, tonumber(ready[i + 1]), q.priorityStore().get(q.priorities, key))
    end
    isDone = #ready < 2 * BATCH
    local last = ready[#ready]
    if isDone then q.moving = 'done' else q.moving = last == q.moving and '(' .. last or last end
  end
  --#include drop_past_order
  isDone = isDone and not past[1]
  if not isDone then
    redis.call('HSET', q.meta, 'moving', q.moving)
  else
    redis.call('HDEL', q.meta, 'moving')
    local isUsual = not stored[16]
    for _, field in ipairs(redis.call('HMGET', q.meta, unpack(RARE_FIELDS))) do isUsual = isUsual and not field end
    if isUsual then
      redis.call('HDEL', q.meta, 'more')
      stored[13] = nil -- for a later q.useMore
    end
  end
end
