/**
 * Ends the work on some keys, and takes others.
 *
 * ARGV: process; owner; lease in µs; "replace"; payloads; largest number of lapses; how many keys the owner holds as far as it
 * knows, without those that are done here; how many it wants; the id, rate and burst of their tokens, or nothing thrice; the
 * limiter's plan; whether it wants to know for how long keys have been ready; then, for each key that is done, six: key, token, kind, delay in µs, what the plan is given, reason; and last,
 * whether this call may have run before.
 *
 * Replies the time until there may be more, or -1; whether the owner has lost all that it holds; whether it takes nothing beside
 * what it holds; the answers to the finishes; the keys taken, their tokens, payloads and failures; the keys that were given up; and for how many µs each of those taken has been
 * ready, if that was asked.
 */
export const turn = /* lua */ `
promote()
local process, owner, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local replaces, hasItems, maxLapses = ARGV[4] == '1', ARGV[5] == '1', tonumber(ARGV[6])
local known, wanted = tonumber(ARGV[7]), tonumber(ARGV[8])
local startsId, startsRate, startsBurst = ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11])
local wantsTimes = ARGV[13] == '1'
local FIRST_FINISH = 14
local CHECKS = lease / 20 -- the time between two looks for leases that are over
hear(lease)
local resent = ARGV[#ARGV] == '1'

local plan
local failed, errors = 0, {} -- attempts, and keys with the error of each

-- Does what the end of some work asks for. Returns a number of failures if the limiter should have been given something for
-- that: nothing has happened then.
local function carryOut(kind, key, delay, given, reason)
  if kind == 'done' then return end
  if kind == 'handedBack' then return addNow(key, replaces) end
  if kind == 'retry' then
    plan = plan or cjson.decode(ARGV[12])
    local wait, failures = limiters().when(plan, key, given)
    if not wait then return failures end
    if reason ~= '' then
      failed = failed + 1
      errors[#errors + 1] = key
      errors[#errors + 1] = reason
    end
    return addAfter(key, math.max(math.floor(wait * 1000 + 0.5), delay), replaces)
  end
  limiter_forget(key)
  if kind == 'requeueAfter' then
    addAfter(key, delay, replaces)
  elseif kind == 'givenUp' then
    failed = failed + 1
    -- What was added again meanwhile, or waits, is not given up.
    local flag = split(redis.call('HGET', q.holders, key))
    if flag == '-' and not redis.call('ZSCORE', q.waiting, key) then giveUp(key, reason) end
  end
end

-- 1: it counts. 0: the lease was lost. A table: the number of failures that the limiter should have been given something for.
local function finish(key, token, kind, delay, given, reason)
  promoteKey(key)
  local holder = redis.call('HGET', q.holders, key)
  local flag, current, holdingOwner
  if holder then flag, current, holdingOwner = split(holder) end
  if current ~= token then
    -- A token that is neither held nor lost has been finished already.
    return resent and not redis.call('ZSCORE', q.lost, token) and 1 or 0
  end
  if kind ~= 'handedBack' then redis.call('HDEL', q.marks, key) end
  local failures = carryOut(kind, key, tonumber(delay), given, reason)
  if failures then return { failures } end
  if kind ~= 'succeeded' and kind ~= 'done' then flag = split(redis.call('HGET', q.holders, key)) end -- the ending may have added it
  letGo(key, holdingOwner)
  if flag == '+' then
    makeReady(key, tick())
  else
    dropItem(key)
  end
  return 1
end

local answers = {}
for i = FIRST_FINISH, #ARGV - 1, 6 do
  answers[#answers + 1] = finish(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end

if failed > 0 then redis.call('HINCRBY', q.meta, 'failed', failed) end
if #errors > 0 then limiters().keep_errors(errors) end

local lapsed = {}

-- Takes away what owners hold whose lease is over. Once this has begun, an owner has lost all of it. No need to look in each
-- turn: leases are long.
local function expire()
  if now <= grace or now - checked < CHECKS then return end

  -- The holder of a key is gone. The key goes back to where it stood, among those that are handed out alone.
  local function lapse(key)
    local flag, token = split(redis.call('HGET', q.holders, key))
    redis.call('HDEL', q.holders, key)
    redis.call('ZADD', q.lost, token, token)
    local lapses = redis.call('HINCRBY', q.marks, key, 1)
    if lapses < maxLapses then
      redis.call('ZADD', q.suspects, placeBefore(token), key)
    elseif flag == '+' then
      redis.call('HSET', q.marks, key, 1)
      redis.call('ZADD', q.suspects, tick(), key)
    else
      lapsed[#lapsed + 1] = key
      limiter_forget(key)
      giveUp(key, 'Each of its holders was lost: ' .. lapses)
      dropItem(key)
    end
  end

  for _, gone in ipairs(redis.call('ZRANGE', q.owners, '-inf', now, 'BYSCORE', 'LIMIT', 0, 10)) do
    if gone ~= owner then
      redis.call('ZREM', q.owners, gone)
      if redis.call('SCARD', q.held_by .. gone) > 0 then redis.call('ZADD', q.expired, now, gone) end
    end
  end
  checked = now
  local gone = redis.call('ZRANGE', q.expired, 0, 0)[1]
  if not gone then return end
  local keys = redis.call('SPOP', q.held_by .. gone, BATCH)
  for _, key in ipairs(keys) do lapse(key) end
  if redis.call('SCARD', q.held_by .. gone) == 0 then redis.call('ZREM', q.expired, gone) end
  if redis.call('EXISTS', q.expired) == 1 then checked = 0 end
  redis.call('ZREMRANGEBYRANK', q.lost, 0, -KEPT - 1)
  if #keys > 0 then tellDue(now) end
end

-- The suspect to take, if its turn has come, and whether anything else may not be taken. Only who holds nothing takes one. If
-- everybody holds something, one of them has the duty to take nothing more until it holds nothing.
local function findSuspect()
  local suspect = redis.call('ZRANGE', q.suspects, 0, 0, 'WITHSCORES')
  if #suspect == 0 then return nil, false end
  local first = math.min(tonumber(redis.call('ZRANGE', q.ready, 0, 0, 'WITHSCORES')[2] or math.huge), behind or math.huge)
  if first < tonumber(suspect[2]) then return nil, false end
  if redis.call('SCARD', q.held_by .. owner) == 0 then return suspect[1], true end
  local until_, onDuty = string.match(redis.call('HGET', q.meta, 'duty') or '0:', '^(%d+):(.*)$')
  if onDuty ~= owner and tonumber(until_) > now then return nil, false end
  redis.call('HSET', q.meta, 'duty', string.format('%.0f:%s', now + lease, owner))
  return nil, true
end

local pause, isLost, isAlone, isShort, keys, tokens, items, failures, times = -1, 0, 0, false, {}, {}, {}, {}, {}

local function note(delay)
  if pause < 0 or delay < pause then pause = math.max(delay, 0) end
end

local function readyCount()
  return behind and redis.call('ZCOUNT', q.ready, '-inf', behind) or redis.call('ZCARD', q.ready)
end

-- By the place where a key stands. What came back counts from its hand-out to who did not end it.
local function readyFor(place)
  local since = tonumber(place)
  return now - (since < 0 and since + 2^53 or since)
end

local function take()
  if isPaused then return {} end
  local suspect, alone = findSuspect()
  isAlone = alone and 1 or 0
  -- Where neither a backlog nor tokens bound it, there is no need to count.
  local count = suspect and 1 or alone and 0 or wanted
  if not alone and (behind or startsId ~= '') then count = math.min(wanted, readyCount()) end
  if count > 0 and startsId ~= '' then
    local available, next = count, nil
    count, next = limiters().tokens_take(startsId, startsRate, startsBurst, available)
    isShort = count < available
    if next then note(next) end
  end
  if count == 0 then return {} end
  if suspect then
    if wantsTimes then times[1] = readyFor(redis.call('ZSCORE', q.suspects, suspect)) end
    redis.call('ZREM', q.suspects, suspect)
    redis.call('HDEL', q.meta, 'duty')
    return { suspect }
  end
  local popped, taken = redis.call('ZPOPMIN', q.ready, count), {}
  for i = 1, #popped, 2 do
    taken[#taken + 1] = popped[i]
    if wantsTimes then times[#taken] = readyFor(popped[i + 1]) end
  end
  return taken
end

local function hold()
  local holders = {}
  for i, key in ipairs(keys) do
    tokens[i] = string.format('%.0f', tick())
    holders[2 * i - 1] = key
    holders[2 * i] = '-' .. tokens[i] .. ':' .. owner
  end
  redis.call('HINCRBY', q.meta, 'handedOut', #keys)
  redis.call('HSET', q.holders, unpack(holders))
  redis.call('SADD', q.held_by .. owner, unpack(keys))
  redis.call('ZADD', q.owners, now + lease, owner)
  failures = failures_of(keys)
  if hasItems then items = redis.call('HMGET', q.items, unpack(keys)) end
end

-- Who found less than wanted is told when there is more, but for what time brings: keys that are due, leases that are over.
-- While there are leases of others it is heard of as often as they are. Where the queue is paused, what is due brings nothing.
local function beIdle()
  redis.call('ZADD', q.idle, now, process)
  if redis.call('SCARD', q.held_by .. owner) == 0 then redis.call('ZREM', q.owners, owner) end
  local due = not isPaused and redis.call('ZRANGE', q.waiting, 0, 0, 'WITHSCORES')[2]
  if due then note(due - now) end
  local ends = redis.call('ZRANGE', q.owners, 0, 1, 'WITHSCORES')
  local over = redis.call('EXISTS', q.expired) == 1 and now or ends[1] ~= owner and ends[2] or ends[4]
  if over then note(math.min(math.max(over, grace, checked + CHECKS) - now, lease / 3)) end
end

if wanted > 0 then
  if (checked == 0 and redis.call('ZSCORE', q.expired, owner)) or (known > 0 and not redis.call('ZSCORE', q.owners, owner)) then
    isLost = 1
  else
    expire()
    keys = take()
    if #keys > 0 then hold() end
    if #keys < wanted and isAlone == 0 and not isShort then
      beIdle()
    elseif redis.call('ZCARD', q.idle) > 0 then
      redis.call('ZREM', q.idle, process)
    end
  end
end
if #keys == wanted or isAlone == 1 then wakeForReady() end
return reply({ pause, isLost, isAlone, answers, keys, tokens, items, failures, lapsed, times })
`;
