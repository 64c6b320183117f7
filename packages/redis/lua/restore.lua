q.isBusy = true
q.makeDueReady()
for key, payload, trace, stalls, readyAtUs, isFirst, priority, retry, dueAtUs, duePriority, dueRetry, isFolding,
  failures, error, failingForUs, forgottenInUs, earlyForUs in rows() do
  if not (q.isReady(key) or redis.call('ZSCORE', q.delayed, key) or redis.call('ZSCORE', q.given_up, key)
    or redis.call('HEXISTS', q.holders, key) == 1) then
    if payload then
      redis.call('HSET', q.meta, 'payloads', 1)
      redis.call('HSET', q.items, key, payload)
    end
    q.keepTrace(key, trace)
    if stalls > 0 then redis.call('HSET', q.stalls, key, whole(stalls)) end
    if failures > 0 then
      local entry = whole(failures)
      if forgottenInUs or earlyForUs then
        entry = entry .. ' ' .. (forgottenInUs and whole(now + forgottenInUs) or '-')
      end
      if earlyForUs then entry = entry .. ' @' .. whole(now + earlyForUs) end
      redis.call('HSET', prefix .. 'failures', key, entry)
      redis.call('ZADD', prefix .. 'failing', -failures, key)
      redis.call('HSET', prefix .. 'failingsince', key, whole(now - failingForUs))
      if error ~= '' then redis.call('HSET', prefix .. 'errors', key, error) end
    end
    if retry == FIRST or dueRetry == FIRST then q.beFirst() end
    if dueAtUs then
      q.delayUntil(key, dueAtUs, duePriority, dueRetry > 0 and dueRetry)
      if isFolding then
        redis.call('SADD', q.folding, key)
        redis.call('HSET', q.meta, 'folding', 1)
      end
    end
    if readyAtUs then
      local place = readyAtUs <= now and readyAtUs or q.tick()
      q.come(key, isFirst and q.placeBefore(place) or place, false, priority, retry > 0 and retry)
    end
  end
end
q.wakeForReady()
