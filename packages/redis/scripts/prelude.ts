/** The time of the server: seconds and microseconds. */
export const SERVER_TIME = "redis.call('TIME')";

/**
 * What all scripts begin with: the names of a queue's keys, its time, and what becomes of a key of the queue when it is added,
 * waits, is due or is done.
 *
 * A key of the queue ("key") is at one of: ready, waiting, held; in `keep` mode it may wait beside the others.
 */
export const prelude = (time: string): string => /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
-- The keys of the server. They are in one table as each function that uses a local costs time in each call.
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready',       -- zset: key, by the tick at which it became ready
  suspects = prefix .. 'suspects', -- the same, of keys whose holder was lost; they are handed out alone
  waiting = prefix .. 'waiting',   -- zset: key, by when it is due
  holders = prefix .. 'holders',   -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',     -- for each owner, the set of keys that it holds
  owners = prefix .. 'owners',     -- zset: owner, by the end of its lease
  expired = prefix .. 'expired',   -- the same, of owners whose keys are being taken away
  items = prefix .. 'items',       -- hash: key to payload, where an item is not its own key
  marks = prefix .. 'marks',       -- hash: key to the number of its lapses, with an x in front if it is given up
  given_up = prefix .. 'givenup',  -- zset: key, by when it was given up
  reasons = prefix .. 'reasons',   -- hash: key to error and payload of what is given up
  lost = prefix .. 'lost',         -- zset: tokens that were taken away from their owners
  idle = prefix .. 'idle',         -- zset: processes that want work
  channel = prefix .. 'wake:',     -- for each process, where it is told that there may be some
}

local BATCH = 200           -- so many keys are moved in one call, for a script holds everybody up
local KEPT = 10000          -- so many are remembered of what is given up, and of lost tokens
local FOREVER = 2^53 - 1    -- larger numbers are not exact

local FORMAT = '1'
local clock = ${time}
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.meta, 'format', 'last', 'heard', 'grace', 'checked', 'paused')
if stored[1] ~= FORMAT then
  if stored[1] then
    return redis.error_reply('WQFORMAT the queue is stored in format ' .. stored[1] .. ' and not ' .. FORMAT)
  end
  redis.call('HSET', q.meta, 'format', FORMAT)
end

-- The time of the queue: whole microseconds that grow with each look, so that what came first is smaller.
local now = math.max((tonumber(stored[2]) or 0) + 1, time)
local last = now
local function tick()
  last = last + 1
  return last
end

-- When anybody who may hold something was heard of, by the server's clock, and until when no lease is over.
local heard, grace = tonumber(stored[3]) or 0, tonumber(stored[4]) or 0
-- When it was last looked for leases that are over; 0 if not all is taken away that was found then.
local checked = tonumber(stored[5]) or 0
-- Whether nothing is handed out. Nobody is woken then: the resume tells all.
local isPaused = stored[6]

-- Ends a script: what it replies, once the time is kept.
local function reply(value)
  local number = '%.0f'
  redis.call('HSET', q.meta, 'last', number:format(last), 'heard', number:format(heard), 'checked', number:format(checked))
  return value
end

-- Called by those who may hold something, which they do three times in a lease. If half of one has passed without any, the
-- server was away, or its clock has jumped. Nobody could renew, so no lease is over before another has passed.
local function hear(lease)
  if math.abs(time - heard) > lease / 2 then
    grace = now + lease
    redis.call('HSET', q.meta, 'grace', string.format('%.0f', grace))
  end
  heard = time
end

-- The flag, token and owner of a key that is held. The flag is "+" if the key was added again while it is held, and "-" if not.
local function split(holder)
  return string.match(holder, '^(.)(%d+):(.*)$')
end

-- Tells one process that wants work. Those that are gone have no subscription.
local function wake()
  local owner = redis.call('ZPOPMIN', q.idle)[1]
  while owner do
    if redis.call('PUBLISH', q.channel .. owner, '') > 0 then return end
    owner = redis.call('ZPOPMIN', q.idle)[1]
  end
end

local function wakeForReady()
  if isPaused then return end
  if redis.call('ZCARD', q.idle) > 0 and redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.suspects) > 0 then wake() end
end

-- Tells all processes that want work, which have to look again then.
local function tellDue(due)
  if isPaused then return end
  local delay = string.format('%.0f', due - now)
  for _, owner in ipairs(redis.call('ZRANGE', q.idle, 0, -1)) do
    if redis.call('PUBLISH', q.channel .. owner, delay) == 0 then redis.call('ZREM', q.idle, owner) end
  end
end

-- What is given up is so no longer. If it has lost holders, it stays a suspect.
local function revive(key, mark)
  redis.call('ZREM', q.given_up, key)
  redis.call('HDEL', q.reasons, key)
  if mark == 'x0' then
    redis.call('HDEL', q.marks, key)
    return false
  end
  redis.call('HSET', q.marks, key, 1)
  return '1'
end

-- Puts a key that is not held into its line. One that stands there keeps its place.
local function makeReady(key, place)
  local mark = redis.call('HGET', q.marks, key)
  if mark and string.sub(mark, 1, 1) == 'x' then mark = revive(key, mark) end
  redis.call('ZADD', mark and q.suspects or q.ready, 'NX', place, key)
end

local function isReady(key)
  return redis.call('ZSCORE', q.ready, key) or redis.call('ZSCORE', q.suspects, key)
end

-- A key is due, or is added now: it comes at its place, or once it is done.
local function come(key, place, holder)
  if not holder then
    makeReady(key, place)
  elseif string.sub(holder, 1, 1) == '-' then
    redis.call('HSET', q.holders, key, '+' .. string.sub(holder, 2))
  end
end

-- When the first key is due that was not made ready although it is due. What is ready behind that is not handed out.
local behind

-- Makes ready what is due, in the place that it would have if that had been done in time.
local function promote()
  local due = redis.call('ZRANGE', q.waiting, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due == 0 then return end
  local keys = {}
  for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
  redis.call('ZREMRANGEBYRANK', q.waiting, 0, #keys - 1)
  local held = redis.call('HMGET', q.holders, unpack(keys))
  for i, key in ipairs(keys) do come(key, due[2 * i], held[i]) end
  local next = #keys == BATCH and redis.call('ZRANGE', q.waiting, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  behind = next and tonumber(next)
end

-- The same for one key, before anything is done with it.
local function promoteKey(key)
  local due = behind and redis.call('ZSCORE', q.waiting, key)
  if not due or tonumber(due) > now then return end
  redis.call('ZREM', q.waiting, key)
  come(key, due, redis.call('HGET', q.holders, key))
end

-- The first moment from due on for which nothing waits. Many may be added for the same moment: it is looked for by halves, and
-- what this script knows to be taken is skipped.
local takenFrom, takenTo = 0, -1
local function firstFree(due)
  local from = due
  if due >= takenFrom and due <= takenTo then from, due = takenFrom, takenTo + 1 end
  local function areTaken(count)
    return redis.call('ZCOUNT', q.waiting, due, due + count - 1) >= count
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

-- Waits until it is due, or until it was already if that is earlier. No two are due at the same time: their names would
-- decide which is first.
local function wait(key, due)
  due = math.min(due, FOREVER)
  local current = redis.call('ZSCORE', q.waiting, key)
  if current and tonumber(current) <= due then return end
  if due < FOREVER then due = math.min(firstFree(due), FOREVER) end
  redis.call('ZADD', q.waiting, due, key)
  if redis.call('ZCARD', q.idle) > 0 and redis.call('ZRANGE', q.waiting, 0, 0)[1] == key then tellDue(due) end
end

-- Adds a key now: to its line, or to what its holder has to do again. With "replaces" it waits no longer.
local function addNow(key, replaces)
  promoteKey(key)
  come(key, tick(), redis.call('HGET', q.holders, key))
  if replaces then redis.call('ZREM', q.waiting, key) end
end

-- Adds a key once a number of microseconds has passed. What is coming anyway comes no later for that.
local function addAfter(key, delay, replaces)
  promoteKey(key)
  if delay > 0 and replaces then
    local holder = redis.call('HGET', q.holders, key)
    if isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return addNow(key, replaces) end
  wait(key, tick() + delay)
end

-- Drops the payload of a key that is neither ready nor held, unless it waits.
local function dropItem(key)
  if redis.call('EXISTS', q.items) == 1 and not redis.call('ZSCORE', q.waiting, key) then redis.call('HDEL', q.items, key) end
end

-- Where a key stood that was taken, by its token: before all that was not.
local function placeBefore(token)
  return token - 2^53
end

-- A holder has ended its work on a key, or has lost it.
local function letGo(key, owner)
  redis.call('HDEL', q.holders, key)
  redis.call('SREM', q.held_by .. owner, key)
end

local function giveUp(key, reason)
  redis.call('HINCRBY', q.meta, 'givenUp', 1)
  redis.call('HSET', q.marks, key, 'x' .. (redis.call('HGET', q.marks, key) or '0'))
  redis.call('ZADD', q.given_up, now, key)
  redis.call('HSET', q.reasons, key, cjson.encode({ reason, redis.call('HGET', q.items, key) or cjson.null }))
  if redis.call('ZCARD', q.given_up) > KEPT then
    local oldest = redis.call('ZPOPMIN', q.given_up)[1]
    redis.call('HDEL', q.reasons, oldest)
    redis.call('HDEL', q.marks, oldest)
  end
end
`;
