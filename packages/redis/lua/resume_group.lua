q.makeDueReady()
if not q.hasGroups then return q.reply(0) end
redis.call('ZREM', q.paused_groups, group)
q.ordered().resume(group)
q.wakeForReady()
return q.reply(1)
