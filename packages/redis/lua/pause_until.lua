q.useMore()
q.paused_until = math.max(q.paused_until, now + durationUs)
redis.call('HSET', q.meta, 'until', whole(q.paused_until))
isPaused = true
q.watchDue()
