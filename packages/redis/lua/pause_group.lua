q.makeDueReady()
if not q.hasGroups then return q.reply(0) end
redis.call('ZREMRANGEBYSCORE', q.paused_groups, '-inf', whole(now))
if durationUs > 0 then
  redis.call('ZADD', q.paused_groups, 'GT', whole(now + durationUs), group)
  q.ordered().pause(group, now + durationUs)
  q.watchDue()
end
return q.reply(1)
