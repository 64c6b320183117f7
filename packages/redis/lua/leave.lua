if q.stopIdling(process) then q.watchDue() end
if dutyOwner == owner then redis.call('HDEL', q.meta, 'duty') end
local keys = redis.call('SRANDMEMBER', q.held_by .. owner, BATCH)
for _, key in ipairs(keys) do
  q.putBack(key, redis.call('HGET', q.holders, key))
  redis.call('SREM', q.held_by .. owner, key)
end
q.wakeForReady()
if redis.call('EXISTS', q.held_by .. owner) == 1 then return q.reply(1) end
redis.call('ZREM', q.owners, owner)
if q.tellsAdds then redis.call('SREM', q.telling, owner) end
return q.reply(0)
