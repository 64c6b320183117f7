/** The time of the server: seconds and microseconds. */
export const SERVER_TIME = "call('TIME')";

/**
 * What all scripts begin with: the names of a queue's keys, its time, and what becomes of a key of the queue when it is added,
 * waits, is due or is done.
 *
 * A key of the queue ("key") is at one of: ready, waiting, held; in `keep` mode it may wait beside the others.
 */
export const prelude = (time: string): string => /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
local call = redis.call

local META = KEYS[1]
local READY = prefix .. 'ready'         -- zset: key, by the tick at which it became ready
local SUSPECTS = prefix .. 'suspects'   -- the same, of keys whose holder was lost; they are handed out alone
local WAITING = prefix .. 'waiting'     -- zset: key, by when it is due
local HOLDERS = prefix .. 'holders'     -- hash: key to flag, token and owner
local HELD_BY = prefix .. 'held:'       -- for each owner, the set of keys that it holds
local OWNERS = prefix .. 'owners'       -- zset: owner, by the end of its lease
local EXPIRED = prefix .. 'expired'     -- the same, of owners whose keys are being taken away
local ITEMS = prefix .. 'items'         -- hash: key to payload, where an item is not its own key
local MARKS = prefix .. 'marks'         -- hash: key to the number of its lapses, with an x in front if it is given up
local GIVEN_UP = prefix .. 'givenup'    -- zset: key, by when it was given up
local REASONS = prefix .. 'reasons'     -- hash: key to error and payload of what is given up
local LOST = prefix .. 'lost'           -- zset: tokens that were taken away from their owners
local IDLE = prefix .. 'idle'           -- zset: processes that want work
local CHANNEL = prefix .. 'wake:'       -- for each process, where it is told that there may be some

local BATCH = 200           -- so many keys are moved in one call, for a script holds everybody up
local KEPT = 10000          -- so many are remembered of what is given up, and of lost tokens
local FOREVER = 2^53 - 1    -- larger numbers are not exact

local FORMAT = '1'
local clock = ${time}
local time = clock[1] * 1000000 + clock[2]
local stored = call('HMGET', META, 'format', 'last', 'heard', 'grace')
if stored[1] ~= FORMAT then
  if stored[1] then
    return redis.error_reply('WQFORMAT the queue is stored in format ' .. stored[1] .. ' and not ' .. FORMAT)
  end
  call('HSET', META, 'format', FORMAT)
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

-- Ends a script: what it replies, once the time is kept.
local function reply(value)
  call('HSET', META, 'last', string.format('%.0f', last), 'heard', string.format('%.0f', heard))
  return value
end

-- Called by those who may hold something, which they do three times in a lease. If half of one has passed without any, the
-- server was away, or its clock has jumped. Nobody could renew, so no lease is over before another has passed.
local function hear(lease)
  if math.abs(time - heard) > lease / 2 then
    grace = now + lease
    call('HSET', META, 'grace', string.format('%.0f', grace))
  end
  heard = time
end

-- The flag, token and owner of a key that is held. The flag is "+" if the key was added again while it is held, and "-" if not.
local function split(holder)
  return string.match(holder, '^(.)(%d+):(.*)$')
end

-- Tells one process that wants work. Those that are gone have no subscription.
local function wake()
  local owner = call('ZPOPMIN', IDLE)[1]
  while owner do
    if call('PUBLISH', CHANNEL .. owner, '') > 0 then return end
    owner = call('ZPOPMIN', IDLE)[1]
  end
end

local function wakeForReady()
  if call('ZCARD', IDLE) > 0 and call('ZCARD', READY) + call('ZCARD', SUSPECTS) > 0 then wake() end
end

-- Tells all processes that want work, which have to look again then.
local function tellDue(due)
  local delay = string.format('%.0f', due - now)
  for _, owner in ipairs(call('ZRANGE', IDLE, 0, -1)) do
    if call('PUBLISH', CHANNEL .. owner, delay) == 0 then call('ZREM', IDLE, owner) end
  end
end

-- What is given up is so no longer. If it has lost holders, it stays a suspect.
local function revive(key, mark)
  call('ZREM', GIVEN_UP, key)
  call('HDEL', REASONS, key)
  if mark == 'x0' then
    call('HDEL', MARKS, key)
    return false
  end
  call('HSET', MARKS, key, 1)
  return '1'
end

-- Puts a key that is not held into its line. One that stands there keeps its place.
local function makeReady(key, place)
  local mark = call('HGET', MARKS, key)
  if mark and string.sub(mark, 1, 1) == 'x' then mark = revive(key, mark) end
  call('ZADD', mark and SUSPECTS or READY, 'NX', place, key)
end

local function isReady(key)
  return call('ZSCORE', READY, key) or call('ZSCORE', SUSPECTS, key)
end

-- A key is due, or is added now: it comes at its place, or once it is done.
local function come(key, place, holder)
  if not holder then
    makeReady(key, place)
  elseif string.sub(holder, 1, 1) == '-' then
    call('HSET', HOLDERS, key, '+' .. string.sub(holder, 2))
  end
end

-- When the first key is due that was not made ready although it is due. What is ready behind that is not handed out.
local behind

-- Makes ready what is due, in the place that it would have if that had been done in time.
local function promote()
  local due = call('ZRANGE', WAITING, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due == 0 then return end
  local keys = {}
  for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
  call('ZREMRANGEBYRANK', WAITING, 0, #keys - 1)
  local held = call('HMGET', HOLDERS, unpack(keys))
  for i, key in ipairs(keys) do come(key, due[2 * i], held[i]) end
  local next = #keys == BATCH and call('ZRANGE', WAITING, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  behind = next and tonumber(next)
end

-- The same for one key, before anything is done with it.
local function promoteKey(key)
  local due = behind and call('ZSCORE', WAITING, key)
  if not due or tonumber(due) > now then return end
  call('ZREM', WAITING, key)
  come(key, due, call('HGET', HOLDERS, key))
end

-- The first moment from due on for which nothing waits. Many may be added for the same moment: it is looked for by halves, and
-- what this script knows to be taken is skipped.
local takenFrom, takenTo = 0, -1
local function firstFree(due)
  local from = due
  if due >= takenFrom and due <= takenTo then from, due = takenFrom, takenTo + 1 end
  local function areTaken(count)
    return call('ZCOUNT', WAITING, due, due + count - 1) >= count
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
  local current = call('ZSCORE', WAITING, key)
  if current and tonumber(current) <= due then return end
  if due < FOREVER then due = math.min(firstFree(due), FOREVER) end
  call('ZADD', WAITING, due, key)
  if call('ZCARD', IDLE) > 0 and call('ZRANGE', WAITING, 0, 0)[1] == key then tellDue(due) end
end

-- Adds a key now: to its line, or to what its holder has to do again. With "replaces" it waits no longer.
local function addNow(key, replaces)
  promoteKey(key)
  come(key, tick(), call('HGET', HOLDERS, key))
  if replaces then call('ZREM', WAITING, key) end
end

-- Adds a key once a number of microseconds has passed. What is coming anyway comes no later for that.
local function addAfter(key, delay, replaces)
  promoteKey(key)
  if delay > 0 and replaces then
    local holder = call('HGET', HOLDERS, key)
    if isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return addNow(key, replaces) end
  wait(key, tick() + delay)
end

-- Drops the payload of a key that is nowhere any more.
local function dropItem(key)
  if not (call('ZSCORE', WAITING, key) or isReady(key) or call('HEXISTS', HOLDERS, key) == 1) then
    call('HDEL', ITEMS, key)
  end
end

-- Where a key stood that was taken, by its token: before all that was not.
local function placeBefore(token)
  return token - 2^53
end

-- A holder has ended its work on a key, or has lost it.
local function letGo(key, owner)
  call('HDEL', HOLDERS, key)
  call('SREM', HELD_BY .. owner, key)
end

-- Gives back what an owner holds, but for some tokens. Such keys go back to the front, where they stood: they were taken
-- before all that is ready. Of the tokens, those that the owner does not hold are left.
local function release(owner, tokens)
  local keys = call('SMEMBERS', HELD_BY .. owner)
  for first = 1, #keys, 1000 do -- a call takes only so many arguments
    local holders = call('HMGET', HOLDERS, unpack(keys, first, math.min(first + 999, #keys)))
    for i, holder in ipairs(holders) do
      local _, token = split(holder)
      if tokens[token] then
        tokens[token] = nil
      else
        letGo(keys[first + i - 1], owner)
        makeReady(keys[first + i - 1], placeBefore(token))
      end
    end
  end
  wakeForReady()
end

local function giveUp(key, reason)
  call('HSET', MARKS, key, 'x' .. (call('HGET', MARKS, key) or '0'))
  call('ZADD', GIVEN_UP, now, key)
  call('HSET', REASONS, key, cjson.encode({ reason, call('HGET', ITEMS, key) or cjson.null }))
  if call('ZCARD', GIVEN_UP) > KEPT then
    local oldest = call('ZPOPMIN', GIVEN_UP)[1]
    call('HDEL', REASONS, oldest)
    call('HDEL', MARKS, oldest)
  end
end
`;
