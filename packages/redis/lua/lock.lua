local refusal = not stored[5] and 'it must be paused'
  or redis.call('EXISTS', q.holders, q.expired) > 0 and 'items of it are processing'
  or q.redrive_at and 'a redrive of it is running'
if not refusal then
  q.useMore()
  redis.call('HSET', q.meta, 'partitions', locked)
end
