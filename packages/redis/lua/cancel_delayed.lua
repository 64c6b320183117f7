q.makeDueReady()
local due = redis.call('ZSCORE', q.delayed, key)
if not due or tonumber(due) <= now then return q.reply(0) end
redis.call('ZREM', q.delayed, key)
if q.ranked then q.priorityStore().take(q.due_priorities, key) end
q.stopFolding(key)
q.takeRetry(q.due_retries, key)
if not q.isReady(key) and redis.call('HEXISTS', q.holders, key) == 0 then
  redis.call('HDEL', q.stalls, key)
  q.dropItem(key)
  q.endWaits(key, 'cancelled')
end
return q.reply(1)
