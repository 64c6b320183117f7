q.makeDueReady()
q.promoteKey(key)
local state
local holder = redis.call('HGET', q.holders, key)
local flag, token, owner = q.split(holder)
if flag then
  state = 'running'
  if flag == '+' then
    redis.call('HSET', q.holders, key, '-' .. string.sub(holder, 2))
    if q.ranked then q.priorityStore().take(q.priorities, key) end
    q.takeRetry(q.retries, key)
  end
  if not q.hasCancels then
    q.useMore()
    redis.call('HSET', q.meta, 'cancels', 1)
  end
  if not q.isCancelled(key, token, owner) then -- the first reason applies
    redis.call('HSET', q.cancelled_by .. owner, key, token .. ' ' .. reason)
  end
  if q.tellsAdds then redis.call('HDEL', q.added_to .. owner, key) end
  q.tellOwner(owner)
elseif redis.call('ZSCORE', q.ready, key) then
  state = q.hasGroups and q.ordered().blocks(key) and 'blocked' or 'ready'
  if q.plan then q.ordered().takeOut(key) else redis.call('ZREM', q.ready, key) end
elseif redis.call('ZREM', q.stalled, key) + redis.call('ZREM', q.suspects, key) > 0 then
  state = 'ready'
elseif q.budget and q.retryBudget().takeOut(key) then
  state = 'blocked'
end
if state and not flag then
  if q.ranked then q.priorityStore().take(q.priorities, key) end
  q.takeRetry(q.retries, key)
end
if redis.call('ZREM', q.delayed, key) == 1 then
  state = state or 'delayed'
  if q.ranked then q.priorityStore().take(q.due_priorities, key) end
  q.stopFolding(key)
  q.takeRetry(q.due_retries, key)
end
if state then
  limiter_forget(key)
  q.endWaits(key, 'cancelled ' .. reason)
  if not flag then
    redis.call('HDEL', q.stalls, key)
    q.dropItem(key)
  end
  q.wakeForReady()
end
return q.reply(state or false)
