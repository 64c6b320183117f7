local due = redis.call('ZSCORE', q.delayed, key)
if not due or tonumber(due) <= now then return q.reply(0) end
redis.call('ZREM', q.delayed, key)
q.stopFolding(key)
q.takeRetry(q.due_retries, key)
local priority = q.ranked and q.priorityStore().take(q.due_priorities, key) or 0
q.come(key, q.tick(), redis.call('HGET', q.holders, key), priority)
q.wakeForReady()
return q.reply(1)
