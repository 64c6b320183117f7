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
if q.hasWaits then q.forgetWaits() end
local CHECKS = leaseUs / 20 -- µs between two checks for expired leases
q.hear(leaseUs)

local failed, errors = 0, {} -- number of failed attempts; list of keys, each followed by its error
local retry = retriesFirst and q.beFirst() or RETRY -- kind of the retries of this call
local FEW = math.max(1, math.floor((known + wanted) / 8)) -- maximum number of keys that stalled once, per owner
local pauseUs, isLost, isAlone, isShort = nil, 0, 0, false

local function note(delay)
  if not pauseUs or delay < pauseUs then pauseUs = math.max(delay, 0) end
end

-- Functions that most turns don't use are created together, as at the end of prelude.lua.
local others = getmetatable(q)
setmetatable(q, { __index = function(_, name)
  setmetatable(q, others)
  --#include turn_seldom
  return q[name]
end })

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
  local isCancelled = q.hasCancels and q.takeCancel(key, token, holdingOwner)
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
  -- Ranks of the taken keys for their holders, in a queue with a discipline: the time when the key became ready, and
  -- the note of the order.
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

local isIdle = false
if wanted > 0 then
  if (checked == 0 and redis.call('ZSCORE', q.expired, owner)) or
    (known > 0 and not redis.call('ZSCORE', q.owners, owner)) then
    isLost = 1
  else
    if now - checked >= CHECKS then q.expire() end -- not in each turn, because leases are long
    local keys, budget = taken.key, q.budget and q.retryBudget()
    if not budget then take(wanted) end
    while budget do
      local before = #keys
      take(math.min(wanted - before, budget.firstsBefore()))
      if #keys > before then budget.begin(keys, before) end -- may make blocked retries ready
      if #keys == before or #keys == wanted or isAlone == 1 then break end
    end
    if dutyOwner == owner and isAlone == 0 then
      redis.call('HDEL', q.meta, 'duty') -- the owner takes other keys, so others may try suspects
      dutyOwner = nil
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
