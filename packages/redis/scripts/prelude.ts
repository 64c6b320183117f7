/** The time of the server: seconds and microseconds. */
export const SERVER_TIME = "redis.call('TIME')";

/**
 * The Lua that all scripts begin with: the names of a queue's keys on the server, its time, and what happens to a key
 * of the queue that is added, delayed, due or done.
 *
 * A key of the queue ("key") is ready, delayed or processing: then a process holds it. In `keep` mode it may be delayed
 * in addition.
 */
export const prelude = (time: string): string => /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
-- The keys of the server. They are in one table as each function that uses a local costs time in each call.
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready',         -- zset: key, by the tick at which it became ready
  stalled = prefix .. 'stalled',     -- the same, of keys that stalled once; an owner holds few of them at a time
  suspects = prefix .. 'suspects',   -- the same, of keys that stalled more than once; they are handed out alone
  delayed = prefix .. 'delayed',     -- zset: key, by when it is due
  holders = prefix .. 'holders',     -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',       -- for each owner, the set of keys that it holds
  stalled_by = prefix .. 'stalled:', -- for each owner, the set of those that stalled once
  owners = prefix .. 'owners',       -- zset: owner, by the end of its lease; an odd end includes the owner's grace
  gaps = prefix .. 'gaps',           -- zset: ends of the times in which no owner was heard of
  expired = prefix .. 'expired',     -- zset: owner whose keys are being taken away, by since when
  items = prefix .. 'items',         -- hash: key to payload, where an item is not its own key
  stalls = prefix .. 'stalls',       -- hash: key to the number of its stalls, with an x in front if it is given up
  given_up = prefix .. 'givenup',    -- zset: key, by when it was given up
  reasons = prefix .. 'reasons',     -- hash: key to error, payload and reason of what is given up
  lost = prefix .. 'lost',           -- zset: tokens that were taken away from their owners
  idle = prefix .. 'idle',           -- zset: processes that want work, by since when
  looks = prefix .. 'looks',         -- hash: process to when it will look for a due key, where it was told to
  channel = prefix .. 'wake:',       -- for each process, where it is told that there may be some
}

local BATCH = 200           -- so many keys are moved in one call, for a script holds everybody up
local KEPT = 10000          -- so many are remembered of what is given up, and of lost tokens
local FOREVER = 2^53 - 1    -- larger numbers are not exact
local STEP_BACK = 100000    -- a server's clock that goes back by more µs was set back
local SECOND_LOOK = 50000   -- µs after a key is due until a second process looks

local function whole(number)
  return string.format('%.0f', number)
end

-- The version of the stored data. Data of another version is left alone.
local FORMAT = '3'
local clock = ${time}
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.meta, 'format', 'last', 'heard', 'checked', 'paused', 'offset', 'duty', 'payloads')
if stored[1] ~= FORMAT then
  if stored[1] then
    local advice = (tonumber(stored[1]) or 0) > tonumber(FORMAT) and 'Use the release that stored it'
      or 'Let the processes of the older release finish its items, then delete its keys (' ..
        prefix .. '*), or use another name'
    return redis.error_reply('WQFORMAT Cannot use queue ' .. string.match(prefix, '{(.*)}') ..
      ': the server has it in format '
      .. stored[1] .. ', and this release uses format ' .. FORMAT .. '. ' .. advice)
  end
  redis.call('HSET', q.meta, 'format', FORMAT)
end

-- The time of the queue: whole microseconds that grow with each look, so that what came first is smaller. If the
-- server's clock was set back, or another server has taken over, an offset grows by the difference, and time goes on at
-- the server's pace.
local last, offset = tonumber(stored[2]) or 0, tonumber(stored[6]) or 0
if last - time - offset > STEP_BACK then
  offset = last - time
  redis.call('HSET', q.meta, 'offset', whole(offset))
end
local now = math.max(last + 1, time + offset)
last = now
local function tick()
  last = last + 1
  return last
end

-- When any owner was heard of last.
local heard = tonumber(stored[3]) or 0
-- When it was last looked for leases that are over; 0 if not all is taken away that was found then.
local checked = tonumber(stored[4]) or 0
-- Whether nothing is handed out. Nobody is woken then: the resume tells all.
local isPaused = stored[5]
-- The owner that tries suspects, until when it has that duty unless it is heard of, and "!" once it holds nothing else.
local dutyEnd, dutyStage, dutyOwner = string.match(stored[7] or '', '^(%d+)([:!])(.*)$')
-- Whether items were ever added with payloads.
local hasPayloads = stored[8]

-- Ends a script: what it replies, once the time is kept.
local function reply(value)
  redis.call('HSET', q.meta, 'last', whole(last), 'heard', whole(heard), 'checked', whole(checked))
  return value
end

-- Notes that an owner was heard of, which happens three times in a lease. After a gap of more than half a lease, the
-- server was away, or its clock has jumped, or no process was there. Owners could not renew in it, so each has one
-- lease from its end.
local function hear(lease)
  if now - heard > lease / 2 then
    local first = redis.call('ZRANGE', q.owners, 0, 0, 'WITHSCORES')[2]
    if first then
      redis.call('ZREMRANGEBYSCORE', q.gaps, '-inf', whole(first - lease)) -- each owner has renewed since
      redis.call('ZADD', q.gaps, now, whole(now))
    else
      redis.call('DEL', q.gaps)
    end
  end
  heard = now
end

-- The end of a lease that begins now.
local function leaseEnd(lease)
  local ends = now + lease
  return ends + ends % 2
end

-- The end of an owner's lease and grace. It has one grace since its last renewal, after the first gap.
local function graceEnd(ends, lease)
  if ends % 2 == 1 then return ends end
  local gap = redis.call('ZRANGE', q.gaps, '(' .. whole(ends - lease), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
  local grace = gap and gap + lease or 0
  return grace > ends and grace + 1 - grace % 2 or ends
end

-- Gives an owner the duty to try suspects for the time of a lease.
local function takeDuty(owner, lease, stage)
  redis.call('HSET', q.meta, 'duty', whole(now + lease) .. stage .. owner)
end

-- The flag, token and owner of a key that is held. The flag is "+" if the key was added again while it is held, and "-"
-- if not.
local function split(holder)
  return string.match(holder, '^(.)(%d+):(.*)$')
end

-- Forgets that a process wants work. Returns whether it did.
local function stopIdling(process)
  if redis.call('ZREM', q.idle, process) == 0 then return false end
  redis.call('HDEL', q.looks, process)
  return true
end

-- Two processes, those that have wanted work for longest, look when the next key is due: the second one 50 ms later, in
-- case the first is gone. Returns when \`caller\` has to look, if it is one of them. Others are told if they have to
-- look earlier than they know.
local function watchDue(caller)
  local due = not isPaused and redis.call('ZRANGE', q.delayed, 0, 0, 'WITHSCORES')[2]
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
      if isGone then stopIdling(process) else redis.call('HSET', q.looks, process, whole(at)) end
    end
    if not isGone then rank = rank + 1 end
  end
  return look
end

-- Wakes the process that came last of those that want work, so that those that watch what is due go on. A process that
-- is gone has no subscription. Returns whether there was one.
local function wake()
  while true do
    local process = redis.call('ZPOPMAX', q.idle)[1]
    if not process then return false end
    redis.call('HDEL', q.looks, process)
    if redis.call('PUBLISH', q.channel .. process, '') > 0 then return true end
  end
end

local function wakeForReady()
  if isPaused or redis.call('EXISTS', q.idle) == 0 then return end
  if redis.call('EXISTS', q.ready, q.stalled, q.suspects) > 0 then wake() end
end

-- Moves a given-up key back. One that has stalled is a suspect.
local function revive(key, stalls)
  redis.call('ZREM', q.given_up, key)
  redis.call('HDEL', q.reasons, key)
  if stalls == 'x0' then
    redis.call('HDEL', q.stalls, key)
    return false
  end
  redis.call('HSET', q.stalls, key, 2)
  return '2'
end

-- The line of a key with that number of stalls, if any.
local function lineOf(stalls)
  if not stalls then return q.ready end
  return tonumber(stalls) == 1 and q.stalled or q.suspects
end

-- Puts a key that is not held into its line. One that stands there keeps its place.
local function makeReady(key, place)
  local stalls = redis.call('HGET', q.stalls, key)
  if stalls and string.sub(stalls, 1, 1) == 'x' then stalls = revive(key, stalls) end
  redis.call('ZADD', lineOf(stalls), 'NX', place, key)
end

local function isReady(key)
  return redis.call('ZSCORE', q.ready, key) or redis.call('ZSCORE', q.stalled, key) or
    redis.call('ZSCORE', q.suspects, key)
end

-- A key is due, or is added now: it comes at its place, or once it is done.
local function come(key, place, holder)
  if not holder then
    makeReady(key, place)
  elseif string.sub(holder, 1, 1) == '-' then
    redis.call('HSET', q.holders, key, '+' .. string.sub(holder, 2))
  end
end

-- When the first key was due that is not ready yet, of more due keys than a call moves. Keys that became ready later
-- are not handed out.
local behind

-- Makes due keys ready, in the places that they would have if that had been done in time.
local function makeDueReady()
  local due = redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due == 0 then return end
  local keys = {}
  for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
  redis.call('ZREMRANGEBYRANK', q.delayed, 0, #keys - 1)
  local held = redis.call('HMGET', q.holders, unpack(keys))
  for i, key in ipairs(keys) do come(key, due[2 * i], held[i]) end
  local next = #keys == BATCH and
    redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  behind = next and tonumber(next)
end

-- The same for one key, before anything is done with it.
local function promoteKey(key)
  local due = behind and redis.call('ZSCORE', q.delayed, key)
  if not due or tonumber(due) > now then return end
  redis.call('ZREM', q.delayed, key)
  come(key, due, redis.call('HGET', q.holders, key))
end

-- The first moment from due on that is no key's deadline. Many may be added for the same moment: it is looked for by
-- halves, and moments that this script knows to be taken are skipped.
local takenFrom, takenTo = 0, -1
local function firstFree(due)
  local from = due
  if due >= takenFrom and due <= takenTo then from, due = takenFrom, takenTo + 1 end
  local function areTaken(count)
    return redis.call('ZCOUNT', q.delayed, due, due + count - 1) >= count
  end
  local taken, count = 0, 1
  while areTaken(count) do taken, count = count, count * 2 end
  while count - taken > 1 do
    local middle = math.floor((taken + count) / 2)
    if areTaken(middle) then taken = middle else count = middle end
  end
  takenFrom, takenTo = from, due + taken
  return takenTo
end

-- Delays a key until it is due; one that is delayed already keeps the earlier deadline. No two keys are due at the same
-- time: their names would decide which is first.
local function delayUntil(key, due)
  due = math.min(due, FOREVER)
  local current = redis.call('ZSCORE', q.delayed, key)
  if current and tonumber(current) <= due then return end
  if due < FOREVER then due = math.min(firstFree(due), FOREVER) end
  redis.call('ZADD', q.delayed, due, key)
  if redis.call('EXISTS', q.idle) == 1 and redis.call('ZRANGE', q.delayed, 0, 0)[1] == key then watchDue() end
end

-- Adds a key now: to its line, or to what its holder has to do again. With "replaces" it is not delayed any more.
local function addNow(key, replaces)
  promoteKey(key)
  come(key, tick(), redis.call('HGET', q.holders, key))
  if replaces then redis.call('ZREM', q.delayed, key) end
end

-- Adds a key after a number of microseconds. A key that is coming anyway comes no later for that.
local function addAfter(key, delay, replaces)
  promoteKey(key)
  if delay > 0 and replaces then
    local holder = redis.call('HGET', q.holders, key)
    if isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return addNow(key, replaces) end
  delayUntil(key, tick() + delay)
end

-- Drops the payload of a key that is neither ready nor processing, unless it is delayed.
local function dropItem(key)
  if redis.call('EXISTS', q.items) == 1 and not redis.call('ZSCORE', q.delayed, key) then
    redis.call('HDEL', q.items, key)
  end
end

-- Where a key stood that was taken, by its token: before all that was not.
local function placeBefore(token)
  return token - 2^53
end

-- A holder has ended its work on a key, or has lost it. \`hasStalled\` says whether the key had stalled when it was
-- handed out.
local function letGo(key, owner, hasStalled)
  redis.call('HDEL', q.holders, key)
  redis.call('SREM', q.held_by .. owner, key)
  if hasStalled then redis.call('SREM', q.stalled_by .. owner, key) end
end

-- Gives back a key whose work was not begun, to where it stood: it was taken before all that is ready.
local function putBack(key, token, owner)
  letGo(key, owner, true)
  makeReady(key, placeBefore(token))
end

local function giveUp(key, reason, why)
  redis.call('HINCRBY', q.meta, 'givenUp', 1)
  redis.call('HINCRBY', q.meta, 'givenUp:' .. why, 1)
  redis.call('HSET', q.stalls, key, 'x' .. (redis.call('HGET', q.stalls, key) or '0'))
  redis.call('ZADD', q.given_up, now, key)
  redis.call('HSET', q.reasons, key, cjson.encode({ reason, redis.call('HGET', q.items, key) or cjson.null, why }))
  if redis.call('ZCARD', q.given_up) > KEPT then
    local oldest = redis.call('ZPOPMIN', q.given_up)[1]
    redis.call('HDEL', q.reasons, oldest)
    redis.call('HDEL', q.stalls, oldest)
  end
end
`;
