-- Beginning of every script of a queue: the names of the queue's keys on the server, the queue's time, and functions
-- that add, delay, move and release keys of items.
--
-- In these scripts, a "key" is the key of an item. A key is ready, delayed or processing. A key that is processing has
-- a holder. In `keep` mode, a key that is ready or processing may also be delayed.
--
-- The first argument is the time since which the queue is on the server, as far as the caller knows; empty if it
-- doesn't. The script of a partition has one more argument, before that: the partitioning that the caller assumes.
local partitioning = IS_PARTITION and table.remove(ARGV, 1)
local prefix = string.sub(KEYS[1], 1, -5)
-- Names of keys on the server. All names are in one table, because each local variable that a function uses takes time
-- in each call.
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready',         -- zset: key, by the tick at which it became ready
  stalled = prefix .. 'stalled',     -- like ready: keys that stalled once; an owner may have only a few at a time
  suspects = prefix .. 'suspects',   -- like ready: keys that stalled more than once; they are handed out alone
  delayed = prefix .. 'delayed',     -- zset: key, by the time when it is due
  holders = prefix .. 'holders',     -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',       -- for each owner, the set of keys that it has leases on
  owners = prefix .. 'owners',       -- zset: owner, by the end of its lease; an odd end includes the owner's grace
  items = prefix .. 'items',         -- hash: key to payload, in a queue with keyOf
  stalls = prefix .. 'stalls',       -- hash: key to its number of stalls; an x in front marks a given-up key
  idle = prefix .. 'idle',           -- zset: process that wants work, by the time when it became idle
  priorities = prefix .. 'priorities', -- hash: ready or added-again key to its priority, if that is not 0
  orders = prefix .. 'order:',       -- prefix of the keys of a discipline; the number of the order follows
  channel = prefix .. 'wake:',       -- channel of each process, for messages that there may be work
}
-- Names of keys that most calls don't use. They are not stored, but stand where they are used: see shorten.ts.
q.folding = prefix .. 'folding'    -- set of delayed keys whose attempt failed, if adds are folded into their retries
q.stalled_by = prefix .. 'stalled:' -- for each owner, the set of its keys that had stalled once
q.cancelled_by = prefix .. 'cancelled:' -- for each owner, a hash: its cancelled key to token and reason
q.telling = prefix .. 'telling'    -- set of owners that are told of adds of their keys
q.added_to = prefix .. 'added:'    -- for each such owner, a hash: its key that was added to its token
q.waits_for = prefix .. 'waits:'   -- for each awaited key, a zset: process and number of a wait, by its time
q.outcomes_of = prefix .. 'outcomes:' -- for each process, a hash: numbers of waits to their outcome
q.wait_ends = prefix .. 'waitends' -- zset: wait, or process and numbers of an outcome, by the time when it is forgotten
q.gaps = prefix .. 'gaps'          -- zset: ends of the periods in which no owner was heard from
q.expired = prefix .. 'expired'    -- zset: owner whose keys are being taken away, by the time when this began
q.given_up = prefix .. 'givenup'   -- zset: key, by the time when it was given up
q.reasons = prefix .. 'reasons'    -- hash: given-up key to error, payload and reason
q.lost = prefix .. 'lost'          -- zset: tokens that were taken away from their owners
q.looks = prefix .. 'looks'        -- hash: process to the time when it will check for a due key
q.due_priorities = prefix .. 'duepriorities' -- hash: delayed key to its priority, if that is not 0
q.past_orders = prefix .. 'pastorders' -- hash: number of a former order with keys on the server, to its plan
q.retries = prefix .. 'retries'    -- hash: ready, blocked or added-again key to its kind of retry: see retry_budget.lua
q.due_retries = prefix .. 'dueretries' -- hash: delayed key to its kind of retry, if that matters when it is due
q.blocked_retries = prefix .. 'blockedretries' -- zset: retry without budget, by the time when it was due
q.deposits = prefix .. 'deposits'  -- zset: time and credit of first attempts, by the time
q.traces = prefix .. 'traces'      -- hash: key to the traceparent of the span that added it
q.paused_groups = prefix .. 'pausedgroups' -- zset: group that was paused, by the end of its pause

local BATCH = 200           -- maximum number of keys moved in one call, because a script blocks the server
local KEPT = 10000          -- maximum number of lost tokens, and by default of given-up keys, that are stored
local FOREVER = 2^53 - 1    -- larger numbers are not exact
local EXPIRE_AFTER = 2592000000000 -- µs without calls after which the keys of an empty queue expire by default
local WAIT_FOR = 60000000   -- µs after which a wait is forgotten whose process does not keep it
local SECOND_LOOK = 50000   -- µs between the deadline of a key and the check by a second process
-- Kinds of retries, which are the values of `retry`, `retries` and `dueretries`. FIRST goes before other ready keys.
local RETRY, FIRST = 1, 2

local function whole(number)
  return string.format('%d', number)
end

local clock = redis.call('TIME')
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.meta, 'format', 'last', 'heard', 'checked', 'paused', 'offset', 'duty', 'payloads',
  'folding', 'order', 'fair', 'ranked', 'more', 'born', 'ends', 'partitions')
if stored[1] and stored[1] ~= FORMAT then
  local format = stored[1]
  --#include refuse_other_queue
end
if IS_PARTITION then
  -- Only a partition that is not on the server takes the partitioning of the caller.
  if stored[1] and stored[16] ~= partitioning then
    return redis.error_reply('WQPARTITIONS Cannot use queue ' ..
      (string.match(prefix, '{(.*)#%d+}') or string.match(prefix, '{(.*)}')) ..
      ': its number of partitions was changed. Open the queue again with the new number')
  end
elseif stored[16] then
  local count = cjson.decode(stored[16])[1]
  return redis.error_reply('WQPARTITIONS Cannot use queue ' .. string.match(prefix, '{(.*)}') ..
    " without the option 'partitions': " .. (count > 0 and 'it has ' .. count .. ' partitions'
    or 'its items are being moved to other partitions'))
end
-- Time of the queue: see steady_time.lua.
local last, offset = tonumber(stored[2]) or 0, tonumber(stored[6]) or 0
--#include steady_time
last = now
function q.tick()
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
-- q.hasGroups            whether the discipline is `fair`
-- q.hasTraces            whether any key was ever added with a traceparent
-- q.hasCancels           whether any key was ever cancelled while it was processing
-- q.hasWaits             whether a process ever waited for a key
-- q.tellsAdds            whether any owner ever wanted to be told of adds of its keys
-- q.hasFirst             whether any process ever wanted its retries to go before other ready keys
-- q.fair                 numbers of the order, if the discipline is `fair`: see fair_order.lua
-- q.isChanging           whether keys of a group are blocked until a time
-- q.budget               numbers of the retry budget, if the queue has one: see retry_budget.lua
q.paused_until = 0
if stored[10] then
  q.plan_number, q.plan = string.match(stored[10], '^(%d+) (.*)$')
  local plan = q.plan
  --#include read_kind
  q.fair = stored[11]
  q.isChanging = q.fair and string.byte(q.fair) > 0 -- it begins with the number of changing groups
end
q.ranked = stored[12]
if stored[13] then
  local more = redis.call('HMGET', q.meta, unpack(RARE_FIELDS))
  q.moving, q.paused_until, q.redrive_at, q.hasTraces = more[1], tonumber(more[2]) or 0, tonumber(more[3]), more[4]
  q.budget, q.hasCancels, q.hasWaits, q.tellsAdds = more[5], more[6], more[7], more[8]
  q.hasFirst = more[9]
end
--#include check_birth
-- Whether the queue is paused. While it is paused, no key is handed out and no process is woken.
local isPaused = stored[5] or q.paused_until > now
-- Owner that has the duty to try suspects (keys that stalled more than once), and the time when the duty ends if the
-- owner makes no call. The stage is ":" while the owner still has other keys, and "!" once it has none.
local dutyEnd, dutyStage, dutyOwner
if stored[7] then dutyEnd, dutyStage, dutyOwner = string.match(stored[7], '^(%d+)([:!])(.*)$') end
-- Whether items were ever added with payloads.
local hasPayloads = stored[8]
-- Whether adds were ever folded into the retry of a key.
local hasFolding = stored[9]
-- Stores the queue's time and returns the reply of the script.
local heardBefore, checkedBefore = heard, checked
function q.reply(value)
  if q.budget_functions then q.budget_functions.save() end
  if q.priority_functions then q.priority_functions.save() end
  local fair = q.order and q.order.save()
  local hasHeard = heard ~= heardBefore or checked ~= checkedBefore
  if not hasHeard and not fair then
    redis.call('HSET', q.meta, 'last', whole(last))
  else
    redis.call('HSET', q.meta, 'last', whole(last), 'heard', whole(heard), 'checked', whole(checked),
      unpack(fair or {}))
  end
  if stored[15] or not q.isBusy then
    --#include end_or_keep
  end
  return value
end

-- Records that an owner was heard from. Each owner renews its lease three times per lease duration. A gap of more than
-- half a lease duration means that the server was unreachable, its clock jumped, or no process was running. Owners
-- could not renew during the gap, so each lease lasts for at least one lease duration from the end of the gap.
function q.hear(lease)
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
function q.leaseEnd(lease)
  local ends = now + lease
  return ends + ends % 2
end

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

-- Returns the flag, token, owner and rank of a key that is processing. The flag is "+" if the key was added again
-- during processing, and "-" otherwise. The rank is empty if the queue has no discipline and no priorities. All of them
-- are nil for a key that is not processing.
function q.split(holder)
  local flag, token, rank, owner = string.match(holder or '', '^(.)(%d+)([^:]*):(.*)$')
  return flag, token, owner, rank
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

function q.wakeForReady()
  if isPaused or redis.call('EXISTS', q.idle) == 0 then return end
  if (q.plan and q.ordered().ready() > 0) or
    redis.call('EXISTS', q.plan and q.stalled or q.ready, q.stalled, q.suspects) > 0 then q.wake() end
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

-- Puts a key that is not processing into its line. A key that is already in the line keeps its place and has the higher
-- of the two priorities.
function q.makeReady(key, place, priority)
  local stalls = redis.call('HGET', q.stalls, key)
  if stalls and string.sub(stalls, 1, 1) == 'x' then stalls = q.revive(key, stalls) end
  if q.plan and not stalls then return q.ordered().add(key, place, priority) end
  local isNew = redis.call('ZADD', stalls and q.lineOf(stalls) or q.ready, 'NX', place, key) == 1
  if not q.ranked and priority == 0 then return end
  if isNew then q.priorityStore().set(q.priorities, key, priority)
  else q.priorityStore().raise(q.priorities, key, priority) end
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

-- Handles a key that is due or added now. The key becomes ready at `place`. A key that is processing becomes ready
-- after its work ends. `retry` is the kind of retry if the key was delayed by the limiter, and `folds` is true if the
-- key is added and adds are folded into retries.
function q.come(key, place, holder, priority, retry, folds)
  if holder and (q.budget or q.hasFirst) then
    -- Any add makes the next attempt a first attempt, also before or after a retry that comes during this attempt.
    if not retry then redis.call('HDEL', q.retries, key)
    elseif string.sub(holder, 1, 1) == '-' then redis.call('HSET', q.retries, key, retry) end
  end
  if not holder then
    if q.budget then q.retryBudget().come(key, place, priority, retry, folds)
    else q.makeReady(key, q.placeOfRetry(place, retry), priority) end
  elseif string.sub(holder, 1, 1) == '-' then
    redis.call('HSET', q.holders, key, '+' .. string.sub(holder, 2))
    if priority ~= 0 then q.priorityStore().set(q.priorities, key, priority) end
  elseif priority ~= 0 or q.ranked then
    q.priorityStore().raise(q.priorities, key, priority)
  end
end

-- Deadline of the first due key that has not been made ready. Set only if more keys are due than one call moves. Keys
-- that became ready after this time are not handed out.
local behind

-- Ends the folding of adds into the retries of keys.
function q.stopFolding(...)
  if hasFolding then redis.call('SREM', q.folding, ...) end
end

-- Makes due keys ready. The place of each key is its deadline, as if the key had been made ready on time.
function q.makeDueReady()
  local due = redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
  if #due > 0 then
    local keys = {}
    for i = 1, #due, 2 do keys[#keys + 1] = due[i] end
    redis.call('ZREMRANGEBYRANK', q.delayed, 0, #keys - 1)
    q.stopFolding(unpack(keys))
    local held = redis.call('HMGET', q.holders, unpack(keys))
    for i, key in ipairs(keys) do
      if q.hasGroups then q.ordered().advance(tonumber(due[2 * i])) end
      q.come(key, due[2 * i], held[i], q.ranked and q.priorityStore().take(q.due_priorities, key) or 0,
        q.takeRetry(q.due_retries, key))
    end
    local next = #keys == BATCH and
      redis.call('ZRANGE', q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    behind = next and tonumber(next)
    if q.order then q.order.flush() end
  end
  if q.isChanging or (q.hasGroups and #due > 0) then q.ordered().advance(now) end
  if q.budget then q.retryBudget().open() end
end

-- Makes a due key ready if `makeDueReady` has not moved it. Must run before the key is changed in any other way.
function q.promoteKey(key)
  local due = behind and redis.call('ZSCORE', q.delayed, key)
  if not due or tonumber(due) > now then return end
  redis.call('ZREM', q.delayed, key)
  q.stopFolding(key)
  q.come(key, due, redis.call('HGET', q.holders, key), q.ranked and q.priorityStore().take(q.due_priorities, key) or 0,
    q.takeRetry(q.due_retries, key))
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

-- Adds a key now. The key becomes ready, or is marked as added again. With "replaces", its delay is canceled. With
-- "folds", only the priority changes if the key is delayed because its attempt failed.
function q.addNow(key, replaces, folds, priority, retry)
  q.promoteKey(key)
  if folds and hasFolding and redis.call('SISMEMBER', q.folding, key) == 1 then
    return (priority ~= 0 or q.ranked) and q.priorityStore().raise(q.due_priorities, key, priority)
  end
  if replaces and redis.call('ZREM', q.delayed, key) == 1 then
    if priority ~= 0 or q.ranked then
      priority = math.max(priority, q.priorityStore().take(q.due_priorities, key))
    end
    q.stopFolding(key)
    q.takeRetry(q.due_retries, key)
  end
  q.come(key, q.tick(), redis.call('HGET', q.holders, key), priority, retry, folds)
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

-- Drops the payload and the traceparent of a key that is neither ready nor processing, unless the key is delayed.
function q.dropItem(key)
  if (hasPayloads or q.hasTraces) and not redis.call('ZSCORE', q.delayed, key) then
    if hasPayloads then redis.call('HDEL', q.items, key) end
    if q.hasTraces then redis.call('HDEL', q.traces, key) end
  end
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
    redis.call('HSET', q.outcomes_of .. process, ids, outcome)
    -- No call may come that would forget the outcomes.
    redis.call('EXPIRE', q.outcomes_of .. process, math.ceil(keepFor / 1000000), 'NX')
    redis.call('EXPIRE', q.outcomes_of .. process, math.ceil(keepFor / 1000000), 'GT')
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

-- Removes the holder of a key that is finished or handed back. `hasStalled` is true if the key may be in the owner's
-- set of stalled keys.
function q.letGo(key, token, owner, rank, hasStalled)
  redis.call('HDEL', q.holders, key)
  if q.hasGroups and rank ~= '' then q.endTurn(key, token, rank) end
  redis.call('SREM', q.held_by .. owner, key)
  if q.tellsAdds then redis.call('HDEL', q.added_to .. owner, key) end
  if hasStalled then redis.call('SREM', q.stalled_by .. owner, key) end
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
  if q.budget then q.retryBudget().exempt(key) end
  if rank == '' and not q.ranked then q.makeReady(key, q.placeBefore(token), 0)
  else q.makeReady(key, q.placeOf(key, flag, token, rank)) end
end
