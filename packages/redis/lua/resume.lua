local pauses = tonumber(redis.call('HGET', q.meta, 'pauses')) or 0
local isLast = not pause or pauses == pause
if ended then
  isLast = pauses <= ended
  redis.call('HSET', q.meta, 'resumed', math.max(ended, tonumber(redis.call('HGET', q.meta, 'resumed')) or 0))
end
if isLast and redis.call('HDEL', q.meta, 'paused', 'until') > 0 then
  isPaused = false
  for _ = 1, BATCH do
    if not q.wake() then break end
  end
end
return q.reply(isLast and pauses or -1)
