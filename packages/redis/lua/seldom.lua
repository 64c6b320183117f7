-- Returns the end of an owner's lease, including its grace. After each renewal, an owner has one grace, for the first
-- gap.
function q.graceEnd(ends, lease)
  if ends % 2 == 1 then return ends end
  local gap = redis.call('ZRANGE', q.gaps, '(' .. whole(ends - lease), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
  local grace = gap and gap + lease or 0
  return grace > ends and grace + 1 - grace % 2 or ends
end

-- Makes an owner the only one that may take suspects (keys that stalled more than once), for the duration of a lease.
function q.takeDuty(owner, lease, stage)
  redis.call('HSET', q.meta, 'duty', whole(now + lease) .. stage .. owner)
end

-- Returns the first score from `due` on that no member of a sorted set has. Uses a binary search, because many keys
-- may be added with the same deadline. Skips scores that this script knows to be taken.
local takenIn, takenFrom, takenTo
function q.firstFree(set, due)
  local from = due
  if set == takenIn and due >= takenFrom and due <= takenTo then from, due = takenFrom, takenTo + 1 end
  local function areTaken(count)
    return redis.call('ZCOUNT', set, due, due + count - 1) >= count
  end
  local taken, count = 0, 1
  while areTaken(count) do taken, count = count, count * 2 end
  while count - taken > 1 do
    local middle = math.floor((taken + count) / 2)
    if areTaken(middle) then taken = middle else count = middle end
  end
  takenIn, takenFrom, takenTo = set, from, due + taken
  return takenTo
end

--#include order

--#include retry_budget

-- Returns the place for a key that was handed out with `token` and is returned. The place is before all keys that
-- were never handed out.
function q.placeBefore(token)
  return token - 2^53
end

-- Returns the place for a key that becomes ready at `place`, by its kind of retry.
function q.placeOfRetry(place, retry)
  return retry == FIRST and tonumber(place) >= 0 and q.placeBefore(place) or place
end

-- Notes that scripts must read the rarer fields of `meta`.
function q.useMore()
  if stored[13] then return end
  redis.call('HSET', q.meta, 'more', 1)
  stored[13] = '1'
end

-- Functions for priorities, which most queues don't have. They are created on first use, because creating them in each
-- call would take time.
function q.priorityStore()
  if q.priority_functions then return q.priority_functions end
  -- The functions have the hash as an argument: `priorities` or `due_priorities`. A key that is not in the hash has
  -- the priority 0. Changes are kept in Lua until `save`.
  local changes = {} -- by hash: priorities by key
  local function get(hash, key)
    if not q.ranked then return 0 end
    return changes[hash] and changes[hash][key] or tonumber(redis.call('HGET', hash, key)) or 0
  end

  -- Notes that a key has a priority.
  local function beRanked()
    if q.ranked then return end
    redis.call('HSET', q.meta, 'ranked', 1)
    q.ranked = true
  end

  local function set(hash, key, priority)
    if priority == 0 and not q.ranked then return end
    beRanked()
    if not changes[hash] then changes[hash] = {} end
    changes[hash][key] = priority
  end

  local function raise(hash, key, priority)
    if priority > get(hash, key) then set(hash, key, priority) end
  end

  local function take(hash, key)
    local priority = get(hash, key)
    if priority ~= 0 then set(hash, key, 0) end
    return priority
  end

  local function save()
    for hash, priorities in pairs(changes) do
      local given, zero = {}, {}
      for key, priority in pairs(priorities) do
        if priority == 0 then
          zero[#zero + 1] = key
        else
          given[#given + 1] = key
          given[#given + 1] = priority
        end
      end
      for first = 1, #given, 1000 do redis.call('HSET', hash, unpack(given, first, math.min(first + 999, #given))) end
      for first = 1, #zero, 1000 do redis.call('HDEL', hash, unpack(zero, first, math.min(first + 999, #zero))) end
    end
    changes = {}
  end

  q.priority_functions = { beRanked = beRanked, get = get, set = set, raise = raise, take = take, save = save }
  return q.priority_functions
end

-- Returns the parts of the rank of a key that is processing: its priority, the time when it became ready (nil without
-- a discipline), and the note of the order (nil if there is none).
function q.parseRank(rank)
  if rank == '' then return 0 end
  local priority, place, note = string.match(rank, '^@([^,]*),([^,]*),(.*)$')
  return tonumber(priority), tonumber(place), note ~= '' and note or nil
end

-- Tells the order of groups that the work on a key has ended.
function q.endTurn(key, token, rank)
  local _, _, note = q.parseRank(rank)
  if note then q.ordered().done(key, tonumber(token), note) end
end

-- Returns the place and the priority of a key that is handed back: its earlier ones, or the priority of a later add
-- if that is higher.
function q.placeOf(key, flag, token, rank)
  local priority, place = q.parseRank(rank)
  if flag == '+' then priority = math.max(priority, q.priorityStore().take(q.priorities, key)) end
  return place or q.placeBefore(token), priority
end

-- Records that a process no longer wants work. Returns whether the process wanted work before.
function q.stopIdling(process)
  if redis.call('ZREM', q.idle, process) == 0 then return false end
  redis.call('HDEL', q.looks, process)
  return true
end

-- Plans the checks for the next due key, or the next step of a redrive. The two processes that have been idle longest
-- check. The second process checks 50 ms later, in case the first process is gone. If `caller` is one of the two,
-- returns the time of its check. Notifies another process if it must check earlier than planned.
function q.watchDue(caller)
  local due = not isPaused and redis.call('ZRANGE', q.delayed, 0, 0, 'WITHSCORES')[2]
  if q.paused_until > now and not stored[5] then due = q.paused_until end
  local change = q.isChanging and not isPaused and q.ordered().nextChange()
  if change and (not due or change < tonumber(due)) then due = change end
  local opens = q.budget and not isPaused and q.retryBudget().opensAt()
  if opens and (not due or opens < tonumber(due)) then due = opens end
  if q.redrive_at and (not due or q.redrive_at < tonumber(due)) then due = q.redrive_at end
  if not due then return nil end
  local look
  local rank = 0
  while rank < 2 do
    local process = redis.call('ZRANGE', q.idle, rank, rank)[1]
    if not process then break end
    local at = due + rank * SECOND_LOOK
    local known = process ~= caller and tonumber(redis.call('HGET', q.looks, process))
    local isGone = false
    if not known or known > at or known < now - SECOND_LOOK then
      if process == caller then look = at
      else isGone = redis.call('PUBLISH', q.channel .. process, whole(math.max(at - now, 1))) == 0 end
      if isGone then q.stopIdling(process) else redis.call('HSET', q.looks, process, whole(at)) end
    end
    if not isGone then rank = rank + 1 end
  end
  return look
end

-- Wakes the process that became idle last. The processes that became idle first stay idle, because they check for due
-- keys. Skips processes without a subscription, because they are gone. Returns whether a process was woken.
function q.wake()
  while true do
    local process = redis.call('ZPOPMAX', q.idle)[1]
    if not process then return false end
    redis.call('HDEL', q.looks, process)
    if redis.call('PUBLISH', q.channel .. process, '') > 0 then return true end
  end
end

-- Removes a key from the given-up keys. A key that has stalled becomes a suspect.
function q.revive(key, stalls)
  redis.call('ZREM', q.given_up, key)
  redis.call('HDEL', q.reasons, key)
  if stalls == 'x0' then
    redis.call('HDEL', q.stalls, key)
    return false
  end
  redis.call('HSET', q.stalls, key, 2)
  return '2'
end

-- Returns the line for a key that has stalled this many times: stalled or suspects.
function q.lineOf(stalls)
  return tonumber(stalls) == 1 and q.stalled or q.suspects
end

function q.isReady(key)
  if q.order then q.order.flush() end
  return redis.call('ZSCORE', q.ready, key) or redis.call('ZSCORE', q.stalled, key) or
    redis.call('ZSCORE', q.suspects, key) or (q.budget and redis.call('ZSCORE', q.blocked_retries, key))
end

-- Notes that retries of this process go before other ready keys. Returns the kind of its retries.
function q.beFirst()
  if not q.hasFirst then
    q.useMore()
    redis.call('HSET', q.meta, 'first', 1)
    q.hasFirst = '1'
  end
  return FIRST
end

-- Removes the kind of retry of a key from a hash, and returns it; nil if the key is no retry.
function q.takeRetry(hash, key)
  if not (q.budget or q.hasFirst) then return nil end
  local kind = q.hasFirst and tonumber(redis.call('HGET', hash, key)) or RETRY
  return redis.call('HDEL', hash, key) == 1 and kind or nil
end

-- Notes that a key which comes back is neither a retry nor a first attempt, because its work ended too early.
function q.exempt(key)
  if q.budget then redis.call('HSET', q.retries, key, RETRY) else q.takeRetry(q.retries, key) end
end

-- Ends the folding of adds into the retries of keys.
function q.stopFolding(...)
  if hasFolding then redis.call('SREM', q.folding, ...) end
end

-- Delays a key until `due`. A key that is already delayed keeps the earlier deadline and has the higher of the two
-- priorities. No two keys get the same deadline, because the server would sort them by name. Whether the key is a retry
-- is decided by the call with the earlier deadline.
function q.delayUntil(key, due, priority, retry)
  due = math.min(due, FOREVER)
  local current = redis.call('ZSCORE', q.delayed, key)
  if priority ~= 0 or q.ranked then
    local change = current and q.priorityStore().raise or q.priorityStore().set
    change(q.due_priorities, key, priority)
  end
  if current and tonumber(current) <= due then return end
  if q.budget or q.hasFirst then
    if retry then redis.call('HSET', q.due_retries, key, retry) else redis.call('HDEL', q.due_retries, key) end
  end
  if due < FOREVER then due = math.min(q.firstFree(q.delayed, due), FOREVER) end
  redis.call('ZADD', q.delayed, due, key)
  if redis.call('EXISTS', q.idle) == 1 and redis.call('ZRANGE', q.delayed, 0, 0)[1] == key then q.watchDue() end
end

-- Adds a key after a delay in microseconds. With "replaces", a key that is ready or marked as added again is not
-- delayed. `retry` is the kind of retry if the delay is that of the limiter.
function q.addAfter(key, delay, replaces, folds, priority, retry)
  q.promoteKey(key)
  if delay > 0 and replaces then
    local holder = redis.call('HGET', q.holders, key)
    if q.isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return q.addNow(key, replaces, folds, priority, retry) end
  q.delayUntil(key, q.tick() + delay, priority, retry)
end

-- Stores the traceparent of the newest add of a key. An add without one removes that of an earlier add.
function q.keepTrace(key, trace)
  if trace then
    if not q.hasTraces then
      q.useMore()
      redis.call('HSET', q.meta, 'traces', 1)
      q.hasTraces = true
    end
    redis.call('HSET', q.traces, key, trace)
  elseif q.hasTraces then
    redis.call('HDEL', q.traces, key)
  end
end

-- Notes that an owner wants to be told of adds of its keys. Returns whether that is new.
function q.beTold(owner)
  if not q.tellsAdds then
    q.useMore()
    redis.call('HSET', q.meta, 'adds', 1)
    q.tellsAdds = '1'
  end
  return redis.call('SADD', q.telling, owner) == 1
end

-- Tells the holder of a key that was added while it is processing, if the holder wants to know and was not told.
function q.tellHolder(key)
  local _, token, owner = q.split(redis.call('HGET', q.holders, key))
  if not token or redis.call('SISMEMBER', q.telling, owner) == 0 then return end
  if redis.call('HSET', q.added_to .. owner, key, token) == 1 then q.tellOwner(owner) end
end

-- Tells the process of an owner to renew its leases, because something has happened to a key.
function q.tellOwner(owner)
  redis.call('PUBLISH', q.channel .. (string.match(owner, '^(.*)%.') or owner), RENEW)
end

-- Notes that a process waits for a key, from now on.
function q.wait(key, process, id)
  if not q.hasWaits then
    q.useMore()
    redis.call('HSET', q.meta, 'waits', 1)
  end
  local wait = process .. ' ' .. id
  redis.call('ZADD', q.waits_for .. key, q.tick(), wait)
  redis.call('ZADD', q.wait_ends, now + WAIT_FOR, 'wait ' .. wait .. ' ' .. key)
end

-- Removes a wait. Returns whether there was one.
function q.removeWait(key, wait)
  redis.call('ZREM', q.wait_ends, 'wait ' .. wait .. ' ' .. key)
  return redis.call('ZREM', q.waits_for .. key, wait) == 1
end

-- Negates the times of waits in a range. While a key is processing, waits with negative times go on if the hand-out is
-- only done, because the key was added as a retry during the hand-out.
function q.negateWaits(key, from, to)
  local waits = redis.call('ZRANGE', q.waits_for .. key, from, to, 'BYSCORE', 'WITHSCORES')
  for i = 1, #waits, 2 do redis.call('ZADD', q.waits_for .. key, -waits[i + 1], waits[i]) end
end

-- Called when an awaited key may be handed out. Returns 1 if the key is awaited, and 0 otherwise.
function q.beginWaits(key)
  local first = redis.call('ZRANGE', q.waits_for .. key, 0, 0, 'WITHSCORES')[2]
  if first and tonumber(first) < 0 then q.negateWaits(key, '-inf', '(0') end
  return first and 1 or 0
end

-- Ends the waits for a key, and tells their processes. With `token`, only waits that are older than this hand-out end.
-- `keepFor` is the time in µs for which the outcome is kept. With `isDone`, waits with negative times go on.
function q.endWaits(key, outcome, token, keepFor, isDone)
  if not q.hasWaits then return end
  local from, to = isDone and '0' or '-inf', token and '(' .. token or '+inf'
  local waits = redis.call('ZRANGE', q.waits_for .. key, from, to, 'BYSCORE')
  if #waits == 0 then return end
  redis.call('ZREMRANGEBYSCORE', q.waits_for .. key, from, to)
  local processes = {}
  for _, wait in ipairs(waits) do
    redis.call('ZREM', q.wait_ends, 'wait ' .. wait .. ' ' .. key)
    local process, id = string.match(wait, '^(.*) (%d+)$')
    processes[process] = processes[process] and processes[process] .. ',' .. id or id
  end
  keepFor = keepFor or WAIT_FOR
  for process, ids in pairs(processes) do
    local outcomes, seconds = q.outcomes_of .. process, math.ceil(keepFor / 1000000)
    redis.call('HSET', outcomes, ids, outcome)
    -- No call may come that would forget the outcomes. Redis 6.2 doesn't know the options of EXPIRE.
    if redis.call('TTL', outcomes) < seconds then redis.call('EXPIRE', outcomes, seconds) end
    redis.call('ZADD', q.wait_ends, now + keepFor, 'outcome ' .. process .. ' ' .. ids)
    redis.call('PUBLISH', q.channel .. process, '')
  end
end

-- Forgets waits whose processes are gone, and outcomes that were kept for long enough. Afterwards, `q.hasWaits` is
-- whether there are others.
function q.forgetWaits()
  if not q.hasWaits then return end
  local over = redis.call('ZRANGE', q.wait_ends, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, each in ipairs(over) do
    local process, ids = string.match(each, '^outcome (.*) (%S+)$')
    if process then
      redis.call('HDEL', q.outcomes_of .. process, ids)
    else
      local wait, key = string.match(each, '^wait (%S+ %d+) (.*)$')
      redis.call('ZREM', q.waits_for .. key, wait)
    end
    redis.call('ZREM', q.wait_ends, each)
  end
  q.hasWaits = redis.call('EXISTS', q.wait_ends) == 1
end

-- Returns whether the work on a key was cancelled since the key was handed out. A process of an earlier release may
-- have left what is stored about an earlier hand-out.
function q.isCancelled(key, token, owner)
  local mark = q.hasCancels and redis.call('HGET', q.cancelled_by .. owner, key)
  return mark and string.match(mark, '^%d+') == token
end

-- Returns whether the work on a key was cancelled since the key was handed out, and forgets that.
function q.takeCancel(key, token, owner)
  if not q.hasCancels then return false end
  local isCancelled = q.isCancelled(key, token, owner)
  redis.call('HDEL', q.cancelled_by .. owner, key)
  return isCancelled
end

-- Makes a key ready that was added again, and whose work has ended.
function q.comeAgain(key, place, isHandedBack)
  local priority = q.ranked and q.priorityStore().take(q.priorities, key) or 0
  if q.budget then q.retryBudget().comeBack(key, place, priority, isHandedBack)
  else q.makeReady(key, q.placeOfRetry(place, q.takeRetry(q.retries, key)), priority) end
end

-- Ends the hand-out of a cancelled key whose work was not done. Only an add after the cancel makes the key ready.
function q.endCancelled(key, flag)
  redis.call('HDEL', q.stalls, key)
  if flag == '+' then q.comeAgain(key, q.tick()) else q.dropItem(key) end
end

-- Hands back a key that was not worked on. The key returns to its earlier place, before all keys that were never handed
-- out. A key that was cancelled does not return, unless it was added after that.
function q.putBack(key, holder)
  local flag, token, owner, rank = q.split(holder)
  if not flag then return end
  q.letGo(key, token, owner, rank, true)
  if q.takeCancel(key, token, owner) then return q.endCancelled(key, flag) end
  q.exempt(key)
  if rank == '' and not q.ranked then q.makeReady(key, q.placeBefore(token), 0)
  else q.makeReady(key, q.placeOf(key, flag, token, rank)) end
end
