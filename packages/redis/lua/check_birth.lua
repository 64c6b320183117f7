-- Refuses a call if the queue is no longer the one that the caller knows, because the server has lost `meta`. The
-- caller then puts its definition in force, and calls again. Otherwise creates `meta` if it is missing. If the server
-- has lost only `meta`, the other keys contain some of the same data.
q.born = stored[14]
if ARGV[1] ~= '' and ARGV[1] ~= q.born then return redis.error_reply(GONE) end
if not q.born then
  q.born = whole(time)
  redis.call('HSET', q.meta, 'format', FORMAT, 'born', q.born)
  if IS_PARTITION then redis.call('HSET', q.meta, 'partitions', partitioning) end
  local function has(...)
    return redis.call('EXISTS', ...) > 0 and '1' or false
  end
  stored[8], stored[9], q.ranked = has(q.items), has(q.folding), has(q.priorities, q.due_priorities)
  q.hasTraces, q.hasWaits, q.tellsAdds = has(q.traces), has(q.wait_ends), has(q.telling)
  q.hasFirst = has(q.retries, q.due_retries)
  if stored[8] then redis.call('HSET', q.meta, 'payloads', 1) end
  if stored[9] then redis.call('HSET', q.meta, 'folding', 1) end
  if q.ranked then redis.call('HSET', q.meta, 'ranked', 1) end
  if q.hasTraces then redis.call('HSET', q.meta, 'traces', 1, 'more', 1) end
  if q.hasWaits then redis.call('HSET', q.meta, 'waits', 1, 'more', 1) end
  if q.tellsAdds then redis.call('HSET', q.meta, 'adds', 1, 'more', 1) end
  if q.hasFirst then redis.call('HSET', q.meta, 'first', 1, 'more', 1) end
end
