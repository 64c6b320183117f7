q.isBusy = true
for key, payload, error, attempts, reason, group, firstFailedAgoUs, givenUpAgoUs in rows() do
  if not (q.isReady(key) or redis.call('ZSCORE', q.delayed, key) or redis.call('ZSCORE', q.given_up, key)
    or redis.call('HEXISTS', q.holders, key) == 1) then
    local at = q.firstFree(q.given_up, now - givenUpAgoUs)
    local first = whole(math.min(now - firstFailedAgoUs, at))
    redis.call('ZADD', q.given_up, whole(at), key)
    redis.call('HSET', q.stalls, key, 'x0')
    redis.call('HSET', q.reasons, key, cjson.encode({ error, payload or cjson.null, reason, attempts, first, group }))
  end
end
--#include drop_given_up
