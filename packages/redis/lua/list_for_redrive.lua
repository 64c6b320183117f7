local list = prefix .. 'redrive:' .. id
for key in rows() do
  local at = redis.call('ZSCORE', q.given_up, key)
  if at then redis.call('ZADD', list, at, key) end
end
redis.call('EXPIRE', list, 3600)
