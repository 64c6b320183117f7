-- Adds a key again, after a delay, because its attempt failed. With "folds", the retry replaces later adds, and also an
-- add during the attempt: the key is no longer marked as added again.
function q.addFailed(key, delay, priority)
  local holder = folds and redis.call('HGET', q.holders, key)
  if holder and string.sub(holder, 1, 1) == '+' then
    redis.call('HSET', q.holders, key, '-' .. string.sub(holder, 2))
    q.takeRetry(q.retries, key)
    if q.ranked then priority = math.max(priority, q.priorityStore().take(q.priorities, key)) end
  end
  if not folds or delay <= 0 then return q.addAfter(key, delay, replaces, folds, priority, retry) end
  q.delayUntil(key, q.tick() + delay, priority, retry)
  if not hasFolding then
    redis.call('HSET', q.meta, 'folding', 1)
    hasFolding = true
  end
  redis.call('SADD', q.folding, key)
end

-- Stores a key as given up, and forgets its failures. `uncounted` is the number of attempts that the limiter has not
-- counted, and `attempts` that of all attempts, if it is known. Returns the number of all attempts.
function q.giveUp(key, reason, why, uncounted, attempts)
  local failures = failures_of({ key })[1]
  attempts = attempts or uncounted + failures
  local first = failures > 0 and redis.call('HGET', prefix .. 'failingsince', key) -- failures may have expired
  limiter_forget(key)
  q.endWaits(key, 'givenUp ' .. why .. ' ' .. reason)
  local at = whole(q.tick())
  redis.call('HINCRBY', q.meta, 'givenUp', 1)
  redis.call('HINCRBY', q.meta, 'givenUp:' .. why, 1)
  redis.call('HSET', q.stalls, key, 'x' .. (redis.call('HGET', q.stalls, key) or '0'))
  redis.call('ZADD', q.given_up, at, key)
  redis.call('HSET', q.reasons, key, cjson.encode({
    reason, redis.call('HGET', q.items, key) or cjson.null, why, attempts, first or at,
    q.hasGroups and q.ordered().groupOf(key) or nil
  }))
  --#include drop_given_up
  return attempts
end

-- Applies an outcome to a key. If the limiter's input was computed for a wrong number of failures, or the key has
-- retries left, changes nothing and returns the correct number of failures.
function q.carryOut(kind, key, token, delay, given, reason, priority, attempts, maxRetries)
  if kind == 'handedBack' then return q.addNow(key, replaces, folds, priority) end
  if kind == 'retry' or kind == 'failed' then
    local wait, failures = limiters().when(decoded, key, inputs[given], tonumber(token), delay)
    if not wait then return failures end
    if reason ~= '' then
      failed = failed + 1
      errors[#errors + 1] = key
      errors[#errors + 1] = reason
    end
    wait = math.max(math.floor(wait * 1000 + 0.5), delay)
    if kind == 'failed' then return q.addFailed(key, wait, priority) end
    return q.addAfter(key, wait, replaces, folds, priority, retry)
  end
  if kind == 'givenUp' then
    if maxRetries then
      local failures = limiters().if_retries_left(decoded, key, tonumber(token), maxRetries)
      if failures then return failures end
    end
    failed = failed + 1
    -- A key that was added again during processing, or that is delayed, is not given up.
    local flag = q.split(redis.call('HGET', q.holders, key))
    if flag == '-' and not redis.call('ZSCORE', q.delayed, key) then
      q.giveUp(key, reason, given, 1, attempts)
      return
    end
  end
  limiter_forget(key)
  if kind == 'requeueAfter' then q.addAfter(key, delay, replaces, folds, priority) end
end

-- Returns the earliest end of another owner's lease. Graces that have not been computed yet are not included.
function q.firstEnd()
  local ends = redis.call('ZRANGE', q.owners, 0, 1, 'WITHSCORES')
  return tonumber(ends[1] ~= owner and ends[2] or ends[4])
end

-- Takes keys away from owners whose lease has expired. As soon as this begins, the owner has lost all of its keys.
function q.expire()
  -- Handles a key whose holder was lost. The key returns to its earlier place. From the third stall on, the key was
  -- processed alone, so the key itself caused the stall.
  local function stall(key)
    local flag, token, holder, rank = q.split(redis.call('HGET', q.holders, key))
    if not flag then
      q.isTorn = true -- its holder was lost
      return
    end
    redis.call('HDEL', q.holders, key)
    if q.hasGroups and rank ~= '' then q.endTurn(key, token, rank) end
    redis.call('ZADD', q.lost, token, token)
    if q.takeCancel(key, token, holder) then return q.endCancelled(key, flag) end
    local stalls = redis.call('HINCRBY', q.stalls, key, 1)
    if stalls < math.max(maxStalls, 3) then
      local place, priority = q.placeBefore(token), 0
      if rank ~= '' or q.ranked then place, priority = q.placeOf(key, flag, token, rank) end
      q.exempt(key)
      redis.call('ZADD', q.lineOf(stalls), place, key)
      if priority ~= 0 then q.priorityStore().set(q.priorities, key, priority) end
    elseif flag == '+' then
      q.exempt(key)
      redis.call('HSET', q.stalls, key, 2)
      redis.call('ZADD', q.suspects, q.tick(), key)
    elseif redis.call('ZSCORE', q.delayed, key) then
      redis.call('HSET', q.stalls, key, 2) -- it is a suspect once it is due
    else
      local n = #givenUp.key + 1
      givenUp.key[n] = key
      givenUp.payload[n] = redis.call('HGET', q.items, key) or ''
      givenUp.attempts[n] = q.giveUp(key, 'Each of its holders was lost: ' .. stalls, 'stalled', stalls)
      q.dropItem(key)
    end
  end

  local over = redis.call('ZRANGE', q.owners, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  for i = 1, #over, 2 do
    local gone = over[i]
    local ends = q.graceEnd(tonumber(over[i + 1]), leaseUs)
    if gone == owner then
      -- The caller is alive.
    elseif ends > now then
      redis.call('ZADD', q.owners, ends, gone)
    else
      redis.call('ZREM', q.owners, gone)
      if q.tellsAdds then
        redis.call('SREM', q.telling, gone)
        redis.call('DEL', q.added_to .. gone)
      end
      if redis.call('SCARD', q.held_by .. gone) > 0 then redis.call('ZADD', q.expired, now, gone) end
      if gone == dutyOwner then
        redis.call('HDEL', q.meta, 'duty')
        dutyOwner = nil
      end
    end
  end
  checked = math.min(now, (q.firstEnd() or math.huge) - CHECKS)
  local gone = redis.call('ZRANGE', q.expired, 0, 0)[1]
  if not gone then return end
  local keys = redis.call('SPOP', q.held_by .. gone, BATCH)
  for _, key in ipairs(keys) do stall(key) end
  redis.call('DEL', q.stalled_by .. gone)
  if redis.call('SCARD', q.held_by .. gone) == 0 then redis.call('ZREM', q.expired, gone) end
  if redis.call('EXISTS', q.expired) == 1 then checked = 0 end
  redis.call('ZREMRANGEBYRANK', q.lost, 0, -KEPT - 1)
  -- Wakes several processes, because each process takes only a few of these keys.
  for _ = 1, isPaused and 0 or math.ceil(#keys / FEW) do
    if not q.wake() then break end
  end
end

-- Returns the µs until another owner's duty to try suspects ends, or nil if no other owner has the duty.
function q.dutyLeft()
  local left = dutyOwner and dutyOwner ~= owner and dutyEnd - now or 0
  return left > 0 and left or nil
end

-- Returns functions that take stalled keys and suspects, which most turns don't have.
function q.stalledKeys()
  local PAGE, LOOKS = 100, 1000

  -- Returns the first key of a line, with its place, whose group may have another key; nil if there is none among the
  -- first LOOKS keys.
  local function first(line)
    if not q.hasGroups then return unpack(redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')) end
    for from = 0, LOOKS - 1, PAGE do
      local keys = redis.call('ZRANGE', line, from, from + PAGE - 1, 'WITHSCORES')
      for i = 1, #keys, 2 do
        if q.ordered().admits(keys[i]) then return keys[i], keys[i + 1] end
      end
      if #keys < 2 * PAGE then return end
    end
  end

  local function takeFrom(line, key, place, keys)
    local n = #keys + 1
    keys[n] = key
    if q.plan then q.places[n] = place end
    if q.hasGroups then q.notes[n] = q.ordered().admit(key) end
    if wantsTimes then taken.readyForUs[n] = q.readyFor(place) end
    redis.call('ZREM', line, key)
  end

  -- Returns the suspect to take and its place, if a suspect is next in order, and whether nothing else may be taken. In
  -- a queue with a discipline, suspects go first, because they were handed out before.
  -- One owner at a time has the duty to try suspects. This owner takes no other keys. After its earlier keys are
  -- finished, it takes one suspect after another. An owner without keys takes the duty from an owner that still has
  -- other keys.
  local function findSuspect()
    local suspect, place = first(q.suspects)
    if not suspect then return nil, nil, false end
    if not q.plan then
      local next = tonumber(redis.call('ZRANGE', q.ready, 0, 0, 'WITHSCORES')[2] or math.huge)
      if math.min(next, behind or math.huge) < tonumber(place) then return nil, nil, false end
    end
    local holdsNothing = not isBusyElsewhere and redis.call('SCARD', q.held_by .. owner) == 0
    if q.dutyLeft() and (dutyStage == '!' or not holdsNothing) then return nil, nil, false end
    dutyOwner, dutyStage = owner, holdsNothing and '!' or ':'
    q.takeDuty(owner, leaseUs, dutyStage)
    return holdsNothing and suspect or nil, place, true
  end

  -- Returns the number of stalled keys that this owner may take.
  local function fewCount()
    return math.max(0, math.min(FEW - redis.call('SCARD', q.stalled_by .. owner), redis.call('ZCARD', q.stalled)))
  end

  -- Takes stalled keys, until `few` keys are taken. In a queue with a discipline, they go first, because they were
  -- handed out before.
  local function takeFew(few, keys)
    while #keys < few do
      local key, place = first(q.stalled)
      if not key then return end
      takeFrom(q.stalled, key, place, keys)
      redis.call('SADD', q.stalled_by .. owner, key)
    end
  end

  -- Pops up to `count` keys from two lines, in the order of their places: at most `few` stalled keys, and ready
  -- keys.
  local function popMerged(few, count)
    local stalled = redis.call('ZRANGE', q.stalled, 0, math.min(few, count) - 1, 'WITHSCORES')
    local ready = redis.call('ZRANGE', q.ready, 0, count - 1, 'WITHSCORES')
    local popped, i, j = {}, 1, 1
    while #popped < 2 * count and (stalled[i] or ready[j]) do
      if not ready[j] or (stalled[i] and tonumber(stalled[i + 1]) < tonumber(ready[j + 1])) then
        popped[#popped + 1], popped[#popped + 2] = stalled[i], stalled[i + 1]
        redis.call('SADD', q.stalled_by .. owner, stalled[i])
        i = i + 2
      else
        popped[#popped + 1], popped[#popped + 2] = ready[j], ready[j + 1]
        j = j + 2
      end
    end
    if i > 1 then redis.call('ZREMRANGEBYRANK', q.stalled, 0, (i - 3) / 2) end
    if j > 1 then redis.call('ZREMRANGEBYRANK', q.ready, 0, (j - 3) / 2) end
    return popped
  end

  return {
    takeFrom = takeFrom, findSuspect = findSuspect, fewCount = fewCount, takeFew = takeFew, popMerged = popMerged,
  }
end

function q.readyCount()
  if q.plan then return q.ordered().ready() end
  return behind and redis.call('ZCOUNT', q.ready, '-inf', behind) or redis.call('ZCARD', q.ready)
end

-- Records that a process is idle because it got fewer keys than it wanted. A message notifies the process of new work.
-- The process itself checks for changes that come with time: for expired leases, and for due keys if it is one of the
-- two processes that check for them. While other owners have keys, an idle process calls as often as they renew.
function q.beIdle()
  q.isBusy = redis.call('ZADD', q.idle, 'NX', now, process) == 1 -- an idle process looks whether the queue is empty
  if redis.call('SCARD', q.held_by .. owner) == 0 then
    redis.call('ZREM', q.owners, owner)
    if q.tellsAdds then redis.call('SREM', q.telling, owner) end
  end
  redis.call('HDEL', q.looks, process) -- this call has stopped the process's timer
  -- Two idle processes call three times per lease duration, so that leases of current and later owners end on time. If
  -- leases last 15 s or more, every idle process calls often enough, because it calls at least every 5 s.
  if leaseUs < 15000000 and redis.call('ZRANK', q.idle, process) < 2 then note(leaseUs / 3) end
  local look = q.watchDue(process)
  if look then note(look - now) end
  local first = q.firstEnd()
  local over = redis.call('EXISTS', q.expired) == 1 and now or first and q.graceEnd(first, leaseUs)
  if over then note(math.min(math.max(over, checked + CHECKS) - now, leaseUs / 3)) end
  local duty = q.dutyLeft()
  if duty and redis.call('EXISTS', q.suspects) == 1 then note(duty) end
end
