/**
 * Ends the work on some keys, and takes others.
 *
 * ARGV: process; owner; lease in µs; "replace"; payloads; largest number of lapses; how many keys the owner holds as far as it
 * knows, without those that are done here; how many it wants; the id, rate and burst of their tokens, or nothing thrice; the
 * limiter's plan; then, for each key that is done, six: key, token, kind, delay in µs, what the plan is given, reason; and last,
 * whether this call may have run before.
 *
 * Replies the time until there may be more, or -1; whether the owner has lost all that it holds; whether it takes nothing beside
 * what it holds; the answers to the finishes; the keys taken, their tokens, payloads and failures; the keys that were given up.
 */
export const turn = /* lua */ `
promote()
local process, owner, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local replaces, hasItems, maxLapses = ARGV[4] == '1', ARGV[5] == '1', tonumber(ARGV[6])
local known, wanted = tonumber(ARGV[7]), tonumber(ARGV[8])
local startsId, startsRate, startsBurst = ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11])
local FIRST_FINISH = 13
hear(lease)
local resent = ARGV[#ARGV] == '1'

local endings = {}

endings.done = function() end

endings.succeeded = limiter_forget

endings.requeueAfter = function(key, delay)
  limiter_forget(key)
  addAfter(key, delay, replaces)
end

local plan

-- If the limiter was given something for another number of failures, nothing has happened.
endings.retry = function(key, atLeast, given)
  plan = plan or cjson.decode(ARGV[12])
  local delay, failures = limiter_when(plan, key, given)
  if not delay then return failures end
  addAfter(key, math.max(math.floor(delay * 1000 + 0.5), atLeast), replaces)
end

endings.handedBack = function(key)
  addNow(key, replaces)
end

-- What was added again meanwhile, or waits, is not given up.
endings.givenUp = function(key, _, _, reason)
  limiter_forget(key)
  local flag = split(call('HGET', HOLDERS, key))
  if flag == '-' and not call('ZSCORE', WAITING, key) then giveUp(key, reason) end
end

-- 1: it counts. 0: the lease was lost. A table: the number of failures that the limiter should have been given something for.
local function finish(key, token, kind, delay, given, reason)
  promoteKey(key)
  local holder = call('HGET', HOLDERS, key)
  local flag, current, holdingOwner
  if holder then flag, current, holdingOwner = split(holder) end
  if current ~= token then
    -- A token that is neither held nor lost has been finished already.
    return resent and not call('ZSCORE', LOST, token) and 1 or 0
  end
  if kind ~= 'handedBack' then call('HDEL', MARKS, key) end
  local failures = endings[kind](key, tonumber(delay), given, reason)
  if failures then return { failures } end
  if kind ~= 'succeeded' and kind ~= 'done' then flag = split(call('HGET', HOLDERS, key)) end -- the ending may have added it
  letGo(key, holdingOwner)
  if flag == '+' then
    makeReady(key, tick())
  elseif hasItems then
    dropItem(key)
  end
  return 1
end

local answers = {}
for i = FIRST_FINISH, #ARGV - 1, 6 do
  answers[#answers + 1] = finish(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end

local lapsed = {}

-- The holder of a key is gone. The key goes back to where it stood, among those that are handed out alone.
local function lapse(key)
  local flag, token = split(call('HGET', HOLDERS, key))
  call('HDEL', HOLDERS, key)
  call('ZADD', LOST, token, token)
  local lapses = call('HINCRBY', MARKS, key, 1)
  if lapses < maxLapses then
    call('ZADD', SUSPECTS, placeBefore(token), key)
  elseif flag == '+' then
    call('HSET', MARKS, key, 1)
    call('ZADD', SUSPECTS, tick(), key)
  else
    lapsed[#lapsed + 1] = key
    limiter_forget(key)
    giveUp(key, 'Each of its holders was lost: ' .. lapses)
    if hasItems then dropItem(key) end
  end
end

-- Takes away what owners hold whose lease is over. Once this has begun, an owner has lost all of it.
local function expire()
  for _, gone in ipairs(call('ZRANGE', OWNERS, '-inf', now, 'BYSCORE', 'LIMIT', 0, 10)) do
    if gone ~= owner then
      call('ZREM', OWNERS, gone)
      if call('SCARD', HELD_BY .. gone) > 0 then call('ZADD', EXPIRED, now, gone) end
    end
  end
  local gone = call('ZRANGE', EXPIRED, 0, 0)[1]
  if not gone then return end
  local keys = call('SPOP', HELD_BY .. gone, BATCH)
  for _, key in ipairs(keys) do lapse(key) end
  if call('SCARD', HELD_BY .. gone) == 0 then call('ZREM', EXPIRED, gone) end
  call('ZREMRANGEBYRANK', LOST, 0, -KEPT - 1)
  if #keys > 0 then tellDue(now) end
end

-- The suspect to take, if its turn has come, and whether anything else may not be taken. Only who holds nothing takes one. If
-- everybody holds something, one of them has the duty to take nothing more until it holds nothing.
local function findSuspect()
  local suspect = call('ZRANGE', SUSPECTS, 0, 0, 'WITHSCORES')
  if #suspect == 0 then return nil, false end
  local first = math.min(tonumber(call('ZRANGE', READY, 0, 0, 'WITHSCORES')[2] or math.huge), behind or math.huge)
  if first < tonumber(suspect[2]) then return nil, false end
  if call('SCARD', HELD_BY .. owner) == 0 then return suspect[1], true end
  local until_, onDuty = string.match(call('HGET', META, 'duty') or '0:', '^(%d+):(.*)$')
  if onDuty ~= owner and tonumber(until_) > now then return nil, false end
  call('HSET', META, 'duty', string.format('%.0f:%s', now + lease, owner))
  return nil, true
end

local pause, isLost, isAlone, isShort, keys, tokens, items, failures = -1, 0, 0, false, {}, {}, {}, {}

local function note(delay)
  if pause < 0 or delay < pause then pause = math.max(delay, 0) end
end

local function readyCount()
  return behind and call('ZCOUNT', READY, '-inf', behind) or call('ZCARD', READY)
end

local function take()
  local suspect, alone = findSuspect()
  isAlone = alone and 1 or 0
  -- Where neither a backlog nor tokens bound it, there is no need to count.
  local count = suspect and 1 or alone and 0 or wanted
  if not alone and (behind or startsId ~= '') then count = math.min(wanted, readyCount()) end
  if count > 0 and startsId ~= '' then
    local available, next = count, nil
    count, next = tokens_take(startsId, startsRate, startsBurst, available)
    isShort = count < available
    if next then note(next) end
  end
  if count == 0 then return {} end
  if suspect then
    call('ZREM', SUSPECTS, suspect)
    call('HDEL', META, 'duty')
    return { suspect }
  end
  local popped, taken = call('ZPOPMIN', READY, count), {}
  for i = 1, #popped, 2 do taken[#taken + 1] = popped[i] end
  return taken
end

local function hold()
  local holders = {}
  for i, key in ipairs(keys) do
    tokens[i] = string.format('%.0f', tick())
    holders[2 * i - 1] = key
    holders[2 * i] = '-' .. tokens[i] .. ':' .. owner
  end
  call('HSET', HOLDERS, unpack(holders))
  call('SADD', HELD_BY .. owner, unpack(keys))
  call('ZADD', OWNERS, now + lease, owner)
  failures = failures_of(keys)
  if hasItems then items = call('HMGET', ITEMS, unpack(keys)) end
end

-- Who found less than wanted is told when there is more, but for what time brings: keys that are due, leases that are over.
-- While there are leases of others it is heard of as often as they are.
local function beIdle()
  call('ZADD', IDLE, now, process)
  if call('SCARD', HELD_BY .. owner) == 0 then call('ZREM', OWNERS, owner) end
  local due = call('ZRANGE', WAITING, 0, 0, 'WITHSCORES')[2]
  if due then note(due - now) end
  local ends = call('ZRANGE', OWNERS, 0, 1, 'WITHSCORES')
  local over = call('EXISTS', EXPIRED) == 1 and now or ends[1] ~= owner and ends[2] or ends[4]
  if over then note(math.min(math.max(over, grace) - now, lease / 3)) end
end

if wanted > 0 then
  if call('ZSCORE', EXPIRED, owner) or (known > 0 and not call('ZSCORE', OWNERS, owner)) then
    isLost = 1
  else
    if now > grace then expire() end
    keys = take()
    if #keys > 0 then hold() end
    if #keys == wanted or isAlone == 1 or isShort then call('ZREM', IDLE, process) else beIdle() end
  end
end
if #keys == wanted or isAlone == 1 then wakeForReady() end
return reply({ pause, isLost, isAlone, answers, keys, tokens, items, failures, lapsed })
`;
