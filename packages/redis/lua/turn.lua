q.isBusy = true
-- Refuses outcomes and delays that this release doesn't know, before anything is changed.
local decoded -- the decoded rules
local inputs = {} -- decoded inputs, by their text
for kind, given, maxRetries in rows() do
  if kind == 'retry' or kind == 'failed' then
    decoded = decoded or cjson.decode(rules)
    inputs[given] = inputs[given] or limiters().input(given)
  elseif not (kind == 'done' or kind == 'succeeded' or kind == 'requeueAfter' or kind == 'handedBack'
    or kind == 'givenUp') then
    error({ err = "WQFORMAT Redis doesn't know the outcome '" .. tostring(kind) .. "' in this release" })
  elseif kind == 'givenUp' and not (given == 'maxRetries' or given == 'terminal' or given == 'shutdown'
    or given == 'stalled' or given == 'limiter') then
    error({ err = "WQFORMAT Redis doesn't know the reason '" .. tostring(given) .. "' in this release" })
  elseif maxRetries then decoded = decoded or cjson.decode(rules) end
end
q.makeDueReady()
if q.moving then
  --#include move_some
end
--#include redrive_some
q.forgetWaits()
local CHECKS = leaseUs / 20 -- µs between two checks for expired leases
q.hear(leaseUs)

local failed, errors = 0, {} -- number of failed attempts; list of keys, each followed by its error
local retry = retriesFirst and q.beFirst() or RETRY -- kind of the retries of this call

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

-- Returns 1 if the finish was applied, 2 if the key was cancelled, and 0 if the lease was lost. Returns a table with
-- the number of failures if the limiter's input must be computed for that number.
local function finish(key, token, kind, delay, given, reason, wish, attempts, maxRetries)
  q.promoteKey(key)
  local holder = redis.call('HGET', q.holders, key)
  local flag, current, holdingOwner, rank
  if holder then flag, current, holdingOwner, rank = q.split(holder) end
  if current ~= token then
    if not holder and redis.call('SREM', q.held_by .. owner, key) == 1 then q.isTorn = true end -- its holder was lost
    -- If the call may have run before, a token that is neither current nor lost was already finished.
    return resent and not redis.call('ZSCORE', q.lost, token) and 1 or 0
  end
  local isCancelled = q.takeCancel(key, token, holdingOwner)
  if isCancelled then kind = 'succeeded' end
  local hasStalled = kind == 'handedBack' or redis.call('HDEL', q.stalls, key) == 1
  local place
  if kind == 'succeeded' then
    limiter_forget(key)
  elseif kind ~= 'done' then
    local priority
    priority, place = q.parseRank(rank)
    local failures = q.carryOut(kind, key, token, delay, given, reason, wish or priority, attempts, maxRetries)
    if failures then return { failures } end
    flag = q.split(redis.call('HGET', q.holders, key)) -- carryOut may have marked the key as added again
  end
  if q.hasWaits and not isCancelled and (kind == 'succeeded' or kind == 'requeueAfter' or kind == 'done') then
    q.endWaits(key, kind == 'succeeded' and reason ~= '' and reason or 'done', token, keepOutcomesUs, kind == 'done')
  end
  q.letGo(key, token, holdingOwner, rank, hasStalled)
  if flag == '+' then
    q.comeAgain(key, kind == 'handedBack' and place or q.tick(), kind == 'handedBack')
  else
    q.dropItem(key)
    if q.hasWaits and kind == 'done' and not redis.call('ZSCORE', q.delayed, key) then
      q.endWaits(key, 'cancelled') -- the retry was cancelled
    end
  end
  return isCancelled and 2 or 1
end

-- Finishes up to 1,000 keys that succeeded together, because a call for several keys is faster than a call for each.
-- Leaves out keys that were added again or are not the owner's. Returns a table that has the finished rows.
local function finishSucceeded()
  local finished, keys, tokens, places = {}, {}, {}, {}
  if q.hasGroups or q.hasCancels or q.hasWaits or q.tellsAdds or behind then return finished end
  for key, token, kind in rows() do
    if kind == 'succeeded' and #keys < 1000 then
      local n = #keys + 1
      keys[n], tokens[n], places[n] = key, token, row
    end
  end
  if #keys < 2 then return finished end
  local held, some, isListed = redis.call('HMGET', q.holders, unpack(keys)), {}, {}
  for i, key in ipairs(keys) do
    local flag, token, holdingOwner = q.split(held[i])
    if flag == '-' and token == tokens[i] and holdingOwner == owner and not isListed[key] then
      some[#some + 1] = key
      isListed[key], finished[places[i]] = true, true
    end
  end
  if #some == 0 then return finished end
  if redis.call('HDEL', q.stalls, unpack(some)) > 0 then redis.call('SREM', q.stalled_by .. owner, unpack(some)) end
  if redis.call('HDEL', prefix .. 'failures', unpack(some)) > 0 then
    for _, key in ipairs(some) do drop_with_failures(key) end
  end
  redis.call('HDEL', q.holders, unpack(some))
  redis.call('SREM', q.held_by .. owner, unpack(some))
  for _, key in ipairs(some) do q.dropItem(key) end
  return finished
end

local answers, finished = {}, finishSucceeded()
for key, token, kind, delayUs, given, reason, priority, attempts, maxRetries in rows() do
  answers[#answers + 1] = finished[row] and 1
    or finish(key, token, kind, delayUs, given, reason, priority, attempts, maxRetries)
end

if failed > 0 then redis.call('HINCRBY', q.meta, 'failed', failed) end
if #errors > 0 then limiters().keep_errors(errors) end

local FEW = math.max(1, math.floor((known + wanted) / 8)) -- maximum number of keys that stalled once, per owner

-- Returns the earliest end of another owner's lease. Graces that have not been computed yet are not included.
function q.firstEnd()
  local ends = redis.call('ZRANGE', q.owners, 0, 1, 'WITHSCORES')
  return tonumber(ends[1] ~= owner and ends[2] or ends[4])
end

-- Takes keys away from owners whose lease has expired. As soon as this begins, the owner has lost all of its keys.
-- Doesn't check in each turn, because leases are long.
function q.expire()
  if now - checked < CHECKS then return end

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
      if q.budget then q.retryBudget().exempt(key) end
      redis.call('ZADD', q.lineOf(stalls), place, key)
      if priority ~= 0 then q.priorityStore().set(q.priorities, key, priority) end
    elseif flag == '+' then
      redis.call('HSET', q.stalls, key, 2)
      redis.call('ZADD', q.suspects, q.tick(), key)
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

-- Ranks of the taken keys for their holders, in a queue with a discipline: the time when the key became ready, and the
-- note of the order.
q.places, q.notes = nil, nil

-- Returns functions that take stalled keys and suspects, which most turns don't have.
function q.stalledKeys()
  local LOOKS = 100

  -- Returns the first key of a line, with its place, whose group may have another key; nil if there is none among the
  -- first LOOKS keys.
  local function first(line)
    local keys = redis.call('ZRANGE', line, 0, q.hasGroups and LOOKS - 1 or 0, 'WITHSCORES')
    for i = 1, #keys, 2 do
      if not q.hasGroups or q.ordered().admits(keys[i]) then return keys[i], keys[i + 1] end
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

  -- Returns the suspect to take and its place, if a suspect is next in order, and whether nothing else may be taken.
  -- One owner at a time has the duty to try suspects. This owner takes no other keys. After its earlier keys are
  -- finished, it takes one suspect after another. An owner without keys takes the duty from an owner that still has
  -- other keys.
  local function findSuspect()
    local suspect, place = first(q.suspects)
    if not suspect then return nil, nil, false end
    if q.order then q.order.flush() end
    local next = tonumber(redis.call('ZRANGE', q.ready, 0, 0, 'WITHSCORES')[2] or math.huge)
    if math.min(next, behind or math.huge) < tonumber(place) then return nil, nil, false end
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

local pauseUs, isLost, isAlone, isShort = nil, 0, 0, false

local function note(delay)
  if not pauseUs or delay < pauseUs then pauseUs = math.max(delay, 0) end
end

function q.readyCount()
  if q.plan then return q.ordered().ready() end
  return behind and redis.call('ZCOUNT', q.ready, '-inf', behind) or redis.call('ZCARD', q.ready)
end

-- Returns the time that a key has been ready, computed from its place. For a returned key, this is the time since its
-- hand-out to the holder that did not finish it.
function q.readyFor(place)
  local since = tonumber(place)
  return now - (since < 0 and since + 2^53 or since)
end

-- Takes up to `wanted` more keys.
local function take(wanted)
  if isPaused then return end
  local stalledKeys, suspect, place, alone, few = nil, nil, nil, false, 0
  if redis.call('EXISTS', q.stalled, q.suspects) > 0 then
    stalledKeys = q.stalledKeys()
    if #taken.key == 0 then suspect, place, alone = stalledKeys.findSuspect() end
    few = alone and 0 or stalledKeys.fewCount()
  end
  isAlone = alone and 1 or 0
  -- The ready keys are counted only if a backlog of due keys or a bucket limits the number of keys to take.
  local count = suspect and 1 or alone and 0 or wanted
  if not alone and (behind or bucketId) then count = math.min(wanted, few + q.readyCount()) end
  if count > 0 and bucketId then
    local available, next = count
    count, next = limiters().tokens_take(bucketId, bucketRate, bucketBurst, available)
    isShort = count < available
    if next then note(next) end
  end
  if count == 0 then return end
  local keys, upTo = taken.key, #taken.key + count
  if q.plan then q.places, q.notes = q.places or {}, q.notes or {} end
  if suspect then
    stalledKeys.takeFrom(q.suspects, suspect, place, keys)
  elseif q.plan then
    if few > 0 then stalledKeys.takeFew(#keys + math.min(few, count), keys) end
    local before = #keys
    local more, places, notes = q.ordered().take(upTo - before)
    if #more > 0 then redis.call('ZREM', q.ready, unpack(more)) end
    for i, key in ipairs(more) do
      local n = before + i
      keys[n], q.places[n], q.notes[n] = key, places[i], notes and notes[i]
      if wantsTimes then taken.readyForUs[n] = q.readyFor(places[i]) end
    end
    if bucketId and #keys < upTo then
      limiters().tokens_give_back(bucketId, bucketRate, bucketBurst, upTo - #keys)
    end
  else
    local popped = few > 0 and stalledKeys.popMerged(few, count) or redis.call('ZPOPMIN', q.ready, count)
    for i = 1, #popped, 2 do
      keys[#keys + 1] = popped[i]
      if wantsTimes then taken.readyForUs[#keys] = q.readyFor(popped[i + 1]) end
    end
  end
end

function q.hold()
  local keys, tokens, holders = taken.key, taken.token, {}
  if q.ranked then
    if q.priority_functions then q.priority_functions.save() end
    taken.priority = redis.call('HMGET', q.priorities, unpack(keys))
    redis.call('HDEL', q.priorities, unpack(keys))
  end
  for i, key in ipairs(keys) do
    tokens[i] = whole(q.tick())
    local rank = ''
    if q.ranked then taken.priority[i] = taken.priority[i] or '0' end
    if q.ranked or q.plan then
      rank = '@' .. (taken.priority[i] or '0') .. ',' .. (q.plan and q.places[i] or '') .. ',' ..
        (q.plan and q.notes[i] or '')
    end
    holders[2 * i - 1] = key
    holders[2 * i] = '-' .. tokens[i] .. rank .. ':' .. owner
  end
  redis.call('HINCRBY', q.meta, 'handedOut', #keys)
  redis.call('HSET', q.holders, unpack(holders))
  redis.call('SADD', q.held_by .. owner, unpack(keys))
  redis.call('ZADD', q.owners, q.leaseEnd(leaseUs), owner)
  if tellsAdds then q.beTold(owner) end
  if q.hasWaits then
    for i, key in ipairs(keys) do taken.isAwaited[i] = q.beginWaits(key) end
  end
  taken.failures = failures_of(keys)
  if q.hasTraces then taken.trace = redis.call('HMGET', q.traces, unpack(keys)) end
  -- A process without keyOf must see that a payload exists. Otherwise, it would use the key as the item.
  if hasItems or hasPayloads then taken.payload = redis.call('HMGET', q.items, unpack(keys)) end
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

local isIdle = false
if wanted > 0 then
  if (checked == 0 and redis.call('ZSCORE', q.expired, owner)) or
    (known > 0 and not redis.call('ZSCORE', q.owners, owner)) then
    isLost = 1
  else
    q.expire()
    local keys, budget = taken.key, q.budget and q.retryBudget()
    if not budget then take(wanted) end
    while budget do
      local before = #keys
      take(math.min(wanted - before, budget.firstsBefore()))
      if #keys > before then budget.begin(keys, before) end -- may make blocked retries ready
      if #keys == before or #keys == wanted or isAlone == 1 then break end
    end
    if #taken.key > 0 then q.hold() end
    isIdle = #taken.key < wanted and isAlone == 0 and not isShort
  end
end
if q.plan and not q.moving and (q.isTorn or q.order and q.order.isTorn or isIdle and q.ordered().lacksKeys()) then
  --#include replace_torn_order
  note(0)
end
if isIdle then
  q.beIdle()
elseif redis.call('EXISTS', q.idle) == 1 then
  if q.stopIdling(process) then q.watchDue() end
  if #taken.key == wanted or isAlone == 1 then q.wakeForReady() end
end
local isPaused = isPaused and 1 or 0
