-- Refuses a call if the queue is no longer the one that the caller knows, because the server has lost `meta`. The
-- caller then puts its definition in force, and calls again. Otherwise creates `meta` if it is missing. If the server
-- has lost only `meta`, the other keys contain some of the same data.
q.born = stored[14]
if ARGV[1] ~= '' and ARGV[1] ~= q.born then return redis.error_reply(GONE) end
if not q.born then
  q.born = whole(time)
  redis.call('HSET', q.meta, 'format', FORMAT, 'born', q.born)
  if IS_PARTITION then redis.call('HSET', q.meta, 'partitions', partitioning) end
  -- Stores a field of `meta` if any of the keys on the server exist. Returns '1' if so, and `false` otherwise.
  local function found(field, ...)
    if redis.call('EXISTS', ...) == 0 then return false end
    redis.call('HSET', q.meta, field, 1)
    return '1'
  end
  stored[8], stored[9] = found('payloads', q.items), found('folding', q.folding)
  q.ranked = found('ranked', q.priorities, q.due_priorities)
  q.hasTraces, q.hasWaits = found('traces', q.traces), found('waits', q.wait_ends)
  q.tellsAdds, q.hasFirst = found('adds', q.telling), found('first', q.retries, q.due_retries)
  for _, owners in ipairs({ q.owners, q.expired }) do
    for _, owner in ipairs(redis.call('ZRANGE', owners, 0, -1)) do
      q.hasCancels = found('cancels', q.cancelled_by .. owner) or q.hasCancels
    end
  end
  if q.hasTraces or q.hasWaits or q.tellsAdds or q.hasFirst or q.hasCancels then
    redis.call('HSET', q.meta, 'more', 1)
    stored[13] = '1'
  end
end
