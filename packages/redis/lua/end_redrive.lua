-- Ends the job. `left` is the number of keys that it did not check.
redis.call('HSET', job, 'left', left)
redis.call('HDEL', q.meta, 'redrive')
redis.call('UNLINK', job .. ':' .. (redis.call('HGET', job, 'id') or ''))
q.redrive_at = false
