import { ordered } from "./order.ts";
import { steadyTime } from "./steady_time.ts";

/** Lua expression for the server's time, as seconds and microseconds. */
export const SERVER_TIME = "redis.call('TIME')";

/**
 * Returns the Lua that every script begins with: the names of the queue's keys on the server, the queue's time, and
 * functions that add, delay, move and release keys of items.
 *
 * In these scripts, a "key" is the key of an item. A key is ready, delayed or processing. A key that is processing has
 * a holder. In `keep` mode, a key that is ready or processing may also be delayed.
 */
export const prelude = (time: string): string => /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
-- Names of keys on the server. All names are in one table, because each local variable that a function uses takes time
-- in each call.
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready',         -- zset: key, by the tick at which it became ready
  stalled = prefix .. 'stalled',     -- like ready: keys that stalled once; an owner may have only a few at a time
  suspects = prefix .. 'suspects',   -- like ready: keys that stalled more than once; they are handed out alone
  delayed = prefix .. 'delayed',     -- zset: key, by the time when it is due
  folding = prefix .. 'folding',     -- set of delayed keys whose attempt failed, if adds are folded into their retries
  holders = prefix .. 'holders',     -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',       -- for each owner, the set of keys that it has leases on
  stalled_by = prefix .. 'stalled:', -- for each owner, the set of its keys that had stalled once
  owners = prefix .. 'owners',       -- zset: owner, by the end of its lease; an odd end includes the owner's grace
  gaps = prefix .. 'gaps',           -- zset: ends of the periods in which no owner was heard from
  expired = prefix .. 'expired',     -- zset: owner whose keys are being taken away, by the time when this began
  items = prefix .. 'items',         -- hash: key to payload, in a queue with keyOf
  stalls = prefix .. 'stalls',       -- hash: key to its number of stalls; an x in front marks a given-up key
  given_up = prefix .. 'givenup',    -- zset: key, by the time when it was given up
  reasons = prefix .. 'reasons',     -- hash: given-up key to error, payload and reason
  lost = prefix .. 'lost',           -- zset: tokens that were taken away from their owners
  idle = prefix .. 'idle',           -- zset: process that wants work, by the time when it became idle
  looks = prefix .. 'looks',         -- hash: process to the time when it will check for a due key
  priorities = prefix .. 'priorities', -- hash: ready or added-again key to its priority, if that is not 0
  due_priorities = prefix .. 'duepriorities', -- hash: delayed key to its priority, if that is not 0
  orders = prefix .. 'order:',       -- prefix of the keys of a discipline; the number of the order follows
  past_orders = prefix .. 'pastorders', -- hash: number of a former order with keys on the server, to its plan
  paused_groups = prefix .. 'pausedgroups', -- zset: group that was paused, by the end of its pause
  channel = prefix .. 'wake:',       -- channel of each process, for messages that there may be work
}

local BATCH = 200           -- maximum number of keys moved in one call, because a script blocks the server
local KEPT = 10000          -- maximum number of lost tokens, and by default of given-up keys, that are stored
local FOREVER = 2^53 - 1    -- larger numbers are not exact
local SECOND_LOOK = 50000   -- µs between the deadline of a key and the check by a second process

local function whole(number)
  return string.format('%.0f', number)
end

-- Versions of the stored data. Scripts refuse data of another version. A queue gets the next version when it first has
-- something that older releases don't know: a discipline, a priority, a pause with an end, a limit on given-up keys, or
-- a redrive.
local FORMAT, NEXT_FORMAT = '3', '4'
local clock = ${time}
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.meta, 'format', 'last', 'heard', 'checked', 'paused', 'offset', 'duty', 'payloads',
  'folding')
if stored[1] ~= FORMAT and stored[1] ~= NEXT_FORMAT then
  if stored[1] then
    local advice = (tonumber(stored[1]) or 0) > tonumber(NEXT_FORMAT) and 'Use the release that stored it'
      or 'Let the processes of the older release finish its items, then delete its keys (' ..
        prefix .. '*), or use another name'
    return redis.error_reply('WQFORMAT Cannot use queue ' .. string.match(prefix, '{(.*)}') ..
      ': the server has it in format '
      .. stored[1] .. ', and this release uses formats ' .. FORMAT .. ' and ' .. NEXT_FORMAT .. '. ' .. advice)
  end
  redis.call('HSET', q.meta, 'format', FORMAT)
end

-- Time of the queue: see steady_time.ts.
${steadyTime("q.meta", "stored[2]", "stored[6]")}
last = now
local function tick()
  last = last + 1
  return last
end

-- Time when any owner was last heard from.
local heard = tonumber(stored[3]) or 0
-- Time of the last check for expired leases; 0 if some keys of expired leases have not been taken away yet.
local checked = tonumber(stored[4]) or 0
-- State that most queues don't have. It is in the table of names, because each local variable that a function uses
-- takes time in each call:
--
-- q.plan_number, q.plan  number and plan of the discipline
-- q.order                order of the ready keys, from the first use of q.ordered()
-- q.moving               time up to which ready keys were added to the order, if some may not have been added yet
-- q.ranked               whether any key was ever added with a priority
-- q.paused_until         end of a pause with an end; 0 if there is no such pause
-- q.redrive_at           time of the next step of the running redrive, if one is running
q.paused_until = 0
if stored[1] == NEXT_FORMAT then
  local more = redis.call('HMGET', q.meta, 'order', 'moving', 'ranked', 'until', 'redrive')
  if more[1] then q.plan_number, q.plan = string.match(more[1], '^(%d+) (.*)$') end
  q.moving, q.ranked, q.paused_until, q.redrive_at = more[2], more[3], tonumber(more[4]) or 0, tonumber(more[5])
end
-- Whether the queue is paused. While it is paused, no key is handed out and no process is woken.
local isPaused = stored[5] or q.paused_until > now
-- Owner that has the duty to try suspects, and the time when the duty ends if the owner is not heard from. The stage is
-- ":" while the owner still has other keys, and "!" after that.
local dutyEnd, dutyStage, dutyOwner = string.match(stored[7] or '', '^(%d+)([:!])(.*)$')
-- Whether items were ever added with payloads.
local hasPayloads = stored[8]
-- Whether adds were ever folded into the retry of a key.
local hasFolding = stored[9]
-- Stores the queue's time and returns the reply of the script.
local function reply(value)
  if q.order then q.order.save() end
  redis.call('HSET', q.meta, 'last', whole(last), 'heard', whole(heard), 'checked', whole(checked))
  return value
end

-- Records that an owner was heard from. Each owner renews its lease three times per lease duration. A gap of more than
-- half a lease duration means that the server was unreachable, its clock jumped, or no process was running. Owners
-- could not renew during the gap, so each lease lasts for at least one lease duration from the end of the gap.
local function hear(lease)
  if now - heard > lease / 2 then
    local first = redis.call('ZRANGE', q.owners, 0, 0, 'WITHSCORES')[2]
    if first then
      redis.call('ZREMRANGEBYSCORE', q.gaps, '-inf', whole(first - lease)) -- all owners have renewed since
      redis.call('ZADD', q.gaps, now, whole(now))
    else
      redis.call('DEL', q.gaps)
    end
  end
  heard = now
end

-- Returns the end of a lease that begins now. The end is an even number, because an odd end includes a grace.
local function leaseEnd(lease)
  local ends = now + lease
  return ends + ends % 2
end

-- Returns the end of an owner's lease, including its grace. After each renewal, an owner has one grace, for the first
-- gap.
local function graceEnd(ends, lease)
  if ends % 2 == 1 then return ends end
  local gap = redis.call('ZRANGE', q.gaps, '(' .. whole(ends - lease), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
  local grace = gap and gap + lease or 0
  return grace > ends and grace + 1 - grace % 2 or ends
end

-- Gives an owner the duty to try suspects, for the duration of a lease.
local function takeDuty(owner, lease, stage)
  redis.call('HSET', q.meta, 'duty', whole(now + lease) .. stage .. owner)
end

-- Returns the flag, token, owner and rank of a key that is processing. The flag is "+" if the key was added again
-- during processing, and "-" otherwise. The rank is empty if the queue has no discipline and no priorities.
local function split(holder)
  local flag, token, rank, owner = string.match(holder, '^(.)(%d+)([^:]*):(.*)$')
  return flag, token, owner, rank
end

-- Returns the first score from \`due\` on that no member of a sorted set has. Uses a binary search, because many keys
-- may be added with the same deadline. Skips scores that this script knows to be taken.
local takenIn, takenFrom, takenTo
local function firstFree(set, due)
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

${ordered}
-- Returns the place for a key that was handed out with \`token\` and is returned. The place is before all keys that
-- were never handed out.
local function placeBefore(token)
  return token - 2^53
end

-- Functions for priorities and ranks, which most queues don't have. They are created on first use, because that takes
-- time in each call.
function q.ranks()
  local self = q.rank_functions
  if self then return self end
  self = {}
  q.rank_functions = self

  -- Notes that older releases can't use the queue any more.
  function self.useNextFormat()
    if stored[1] == NEXT_FORMAT then return end
    stored[1] = NEXT_FORMAT
    redis.call('HSET', q.meta, 'format', NEXT_FORMAT)
  end

  -- Functions for the hash \`priorities\` or \`due_priorities\`. A key that is not in the hash has the priority 0.
  function self.get(hash, key)
    return q.ranked and tonumber(redis.call('HGET', hash, key)) or 0
  end

  function self.set(hash, key, priority)
    if priority ~= 0 then
      if not q.ranked then
        self.useNextFormat()
        redis.call('HSET', q.meta, 'ranked', 1)
        q.ranked = true
      end
      redis.call('HSET', hash, key, priority)
    elseif q.ranked then
      redis.call('HDEL', hash, key)
    end
  end

  function self.raise(hash, key, priority)
    if priority > self.get(hash, key) then self.set(hash, key, priority) end
  end

  function self.take(hash, key)
    local priority = self.get(hash, key)
    if priority ~= 0 then redis.call('HDEL', hash, key) end
    return priority
  end

  -- Returns the parts of the rank of a key that is processing: its priority, the time when it became ready (nil without
  -- a discipline), and the note of the order (nil if there is none).
  function self.parse(rank)
    if rank == '' then return 0 end
    local priority, place, note = string.match(rank, '^@([^,]*),([^,]*),(.*)$')
    return tonumber(priority), tonumber(place), note ~= '' and note or nil
  end

  -- Tells the order that the work on a key has ended.
  function self.done(key, token, rank)
    local _, _, note = self.parse(rank)
    if q.plan and note then q.ordered().done(key, tonumber(token), note) end
  end

  -- Returns the place and the priority of a key that is handed back: its earlier ones, or the priority of a later add
  -- if that is higher.
  function self.before(key, flag, token, rank)
    local priority, place = self.parse(rank)
    if flag == '+' then priority = math.max(priority, self.get(q.priorities, key)) end
    return place or placeBefore(token), priority
  end

  return self
end

-- Records that a process no longer wants work. Returns whether the process wanted work before.
local function stopIdling(process)
  if redis.call('ZREM', q.idle, process) == 0 then return false end
  redis.call('HDEL', q.looks, process)
  return true
end

-- Plans the checks for the next due key, or the next step of a redrive. The two processes that have been idle longest
-- check. The second process checks 50 ms later, in case the first process is gone. If \`caller\` is one of the two,
-- returns the time of its check. Notifies another process if it must check earlier than planned.
local function watchDue(caller)
  local due = not isPaused and redis.call('ZRANGE', q.delayed, 0, 0, 'WITHSCORES')[2]
  if q.paused_until > now and not stored[5] then due = q.paused_until end
  local change = q.plan and not isPaused and q.ordered().nextChange()
  if change and (not due or change < tonumber(due)) then due = change end
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
      if isGone then stopIdling(process) else redis.call('HSET', q.looks, process, whole(at)) end
    end
    if not isGone then rank = rank + 1 end
  end
  return look
end

-- Wakes the process that became idle last. The processes that became idle first stay idle, because they check for due
-- keys. Skips processes without a subscription, because they are gone. Returns whether a process was woken.
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
  if (q.plan and q.ordered().ready() > 0) or
    redis.call('EXISTS', q.plan and q.stalled or q.ready, q.stalled, q.suspects) > 0 then wake() end
end

-- Removes a key from the given-up keys. A key that has stalled becomes a suspect.
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

-- Returns the line for a key with this number of stalls: ready, stalled or suspects.
local function lineOf(stalls)
  if not stalls then return q.ready end
  return tonumber(stalls) == 1 and q.stalled or q.suspects
end

-- Puts a key that is not processing into its line. A key that is already in the line keeps its place and has the higher
-- of the two priorities.
local function makeReady(key, place, priority)
  local stalls = redis.call('HGET', q.stalls, key)
  if stalls and string.sub(stalls, 1, 1) == 'x' then stalls = revive(key, stalls) end
  local line = lineOf(stalls)
  local isNew = redis.call('ZADD', line, 'NX', place, key) == 1
  if not q.plan and not q.ranked and priority == 0 then return end
  local before = not isNew and q.ranks().get(q.priorities, key) or nil
  if before and before >= priority then return end
  q.ranks().set(q.priorities, key, priority)
  if not q.plan or line ~= q.ready then return end
  if before then q.ordered().raise(key, before, priority) else q.ordered().add(key, place, priority) end
end

local function isReady(key)
  return redis.call('ZSCORE', q.ready, key) or redis.call('ZSCORE', q.stalled, key) or
    redis.call('ZSCORE', q.suspects, key)
end

-- Handles a key that is due or added now. The key becomes ready at \`place\`. A key that is processing becomes ready
-- after its work ends.
local function come(key, place, holder, priority)
  if not holder then
    makeReady(key, place, priority)
  elseif string.sub(holder, 1, 1) == '-' then
    redis.call('HSET', q.holders, key, '+' .. string.sub(holder, 2))
    if priority ~= 0 then q.ranks().set(q.priorities, key, priority) end
  elseif priority ~= 0 or q.ranked then
    q.ranks().raise(q.priorities, key, priority)
  end
end

-- Deadline of the first due key that has not been made ready. Set only if more keys are due than one call moves. Keys
-- that became ready after this time are not handed out.
local behind

-- Ends the folding of adds into the retries of keys.
local function stopFolding(...)
  if hasFolding then redis.call('SREM', q.folding, ...) end
end

-- Makes due keys ready. The place of each key is its deadline, as if the key had been made ready on time.
local function makeDueReady()
  local due = redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due > 0 then
    local keys = {}
    for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
    redis.call('ZREMRANGEBYRANK', q.delayed, 0, #keys - 1)
    stopFolding(unpack(keys))
    local held = redis.call('HMGET', q.holders, unpack(keys))
    for i, key in ipairs(keys) do
      if q.plan then q.ordered().advance(tonumber(due[2 * i])) end
      come(key, due[2 * i], held[i], q.ranked and q.ranks().take(q.due_priorities, key) or 0)
    end
    local next = #keys == BATCH and
      redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    behind = next and tonumber(next)
  end
  if q.plan then q.ordered().advance(now) end
end

-- Makes a due key ready if \`makeDueReady\` has not moved it. Must run before the key is changed in any other way.
local function promoteKey(key)
  local due = behind and redis.call('ZSCORE', q.delayed, key)
  if not due or tonumber(due) > now then return end
  redis.call('ZREM', q.delayed, key)
  stopFolding(key)
  come(key, due, redis.call('HGET', q.holders, key), q.ranked and q.ranks().take(q.due_priorities, key) or 0)
end

-- Delays a key until \`due\`. A key that is already delayed keeps the earlier deadline and has the higher of the two
-- priorities. No two keys get the same deadline, because the server would sort them by name.
local function delayUntil(key, due, priority)
  due = math.min(due, FOREVER)
  local current = redis.call('ZSCORE', q.delayed, key)
  if priority ~= 0 or q.ranked then
    local change = current and q.ranks().raise or q.ranks().set
    change(q.due_priorities, key, priority)
  end
  if current and tonumber(current) <= due then return end
  if due < FOREVER then due = math.min(firstFree(q.delayed, due), FOREVER) end
  redis.call('ZADD', q.delayed, due, key)
  if redis.call('EXISTS', q.idle) == 1 and redis.call('ZRANGE', q.delayed, 0, 0)[1] == key then watchDue() end
end

-- Adds a key now. The key becomes ready, or is marked as added again. With "replaces", its delay is canceled. With
-- "folds", only the priority changes if the key is delayed because its attempt failed.
local function addNow(key, replaces, folds, priority)
  promoteKey(key)
  if folds and hasFolding and redis.call('SISMEMBER', q.folding, key) == 1 then
    return (priority ~= 0 or q.ranked) and q.ranks().raise(q.due_priorities, key, priority)
  end
  if replaces and redis.call('ZREM', q.delayed, key) == 1 then
    if q.ranked then priority = math.max(priority, q.ranks().take(q.due_priorities, key)) end
    stopFolding(key)
  end
  come(key, tick(), redis.call('HGET', q.holders, key), priority)
end

-- Adds a key after a delay in microseconds. With "replaces", a key that is ready or marked as added again is not
-- delayed.
local function addAfter(key, delay, replaces, folds, priority)
  promoteKey(key)
  if delay > 0 and replaces then
    local holder = redis.call('HGET', q.holders, key)
    if isReady(key) or (holder and string.sub(holder, 1, 1) == '+') then delay = 0 end
  end
  if delay <= 0 then return addNow(key, replaces, folds, priority) end
  delayUntil(key, tick() + delay, priority)
end

-- Drops the payload of a key that is neither ready nor processing, unless the key is delayed.
local function dropItem(key)
  if redis.call('EXISTS', q.items) == 1 and not redis.call('ZSCORE', q.delayed, key) then
    redis.call('HDEL', q.items, key)
  end
end

-- Removes the holder of a key that is finished or handed back. \`hasStalled\` is true if the key may be in the owner's
-- set of stalled keys.
local function letGo(key, token, owner, rank, hasStalled)
  redis.call('HDEL', q.holders, key)
  if rank ~= '' then q.ranks().done(key, token, rank) end
  redis.call('SREM', q.held_by .. owner, key)
  if hasStalled then redis.call('SREM', q.stalled_by .. owner, key) end
end

-- Hands back a key that was not worked on. The key returns to its earlier place, before all keys that were never handed
-- out.
local function putBack(key, holder)
  local flag, token, owner, rank = split(holder)
  letGo(key, token, owner, rank, true)
  if rank == '' and not q.ranked then makeReady(key, placeBefore(token), 0)
  else makeReady(key, q.ranks().before(key, flag, token, rank)) end
end
`;
