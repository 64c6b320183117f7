if number then
  local known = redis.call('HMGET', q.meta, 'pauses', 'resumed')
  if number <= (tonumber(known[2]) or 0) then return q.reply(number) end
  redis.call('HSET', q.meta, 'pauses', math.max(number, tonumber(known[1]) or 0))
else
  number = redis.call('HINCRBY', q.meta, 'pauses', 1)
end
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
isPaused = true
return q.reply(number)
