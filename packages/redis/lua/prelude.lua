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
  delayed = prefix .. 'delayed',     -- zset: key, by the time when it is due
  holders = prefix .. 'holders',     -- hash: key to flag, token and owner
  held_by = prefix .. 'held:',       -- for each owner, the set of keys that it has leases on
  owners = prefix .. 'owners',       -- zset: owner, by the end of its lease; an odd end includes the owner's grace
  items = prefix .. 'items',         -- hash: key to payload, in a queue with keyOf
  stalls = prefix .. 'stalls',       -- hash: key to its number of stalls; an x in front marks a given-up key
  idle = prefix .. 'idle',           -- zset: process that wants work, by the time when it became idle
  -- State that most queues and calls don't have: see below.
  plan = false, order = false, moving = false, redrive_at = false, fair = false, isChanging = false, budget = false,
  hasGroups = false, hasTraces = false, hasCancels = false, hasWaits = false, hasFirst = false, tellsAdds = false,
  priority_functions = false, budget_functions = false, isBusy = false, isTorn = false, places = false, notes = false,
}
-- Names of keys that most calls don't use. They are not stored, but stand where they are used: see shorten.ts.
q.stalled = prefix .. 'stalled' -- like ready: keys that stalled once; an owner may have only a few at a time
q.suspects = prefix .. 'suspects' -- like ready: keys that stalled more than once; they are handed out alone
q.priorities = prefix .. 'priorities' -- hash: ready or added-again key to its priority, if that is not 0
q.orders = prefix .. 'order:' -- prefix of the keys of a discipline; the number of the order follows
q.channel = prefix .. 'wake:' -- channel of each process, for messages that there may be work
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
  q.moving, q.paused_until, q.redrive_at, q.hasTraces = more[1], tonumber(more[2]) or 0, tonumber(more[3]) or false,
    more[4]
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

-- Returns the flag, token, owner and rank of a key that is processing. The flag is "+" if the key was added again
-- during processing, and "-" otherwise. The rank is empty if the queue has no discipline and no priorities. All of them
-- are nil for a key that is not processing.
function q.split(holder)
  local flag, token, rank, owner = string.match(holder or '', '^(.)(%d+)([^:]*):(.*)$')
  return flag, token, owner, rank
end

function q.wakeForReady()
  if isPaused or redis.call('EXISTS', q.idle) == 0 then return end
  if (q.plan and q.ordered().ready() > 0) or
    redis.call('EXISTS', q.plan and q.stalled or q.ready, q.stalled, q.suspects) > 0 then q.wake() end
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
    else q.makeReady(key, retry and q.placeOfRetry(place, retry) or place, priority) end
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

-- Removes the holder of a key that is finished or handed back. `hasStalled` is true if the key may be in the owner's
-- set of stalled keys.
function q.letGo(key, token, owner, rank, hasStalled)
  redis.call('HDEL', q.holders, key)
  if q.hasGroups and rank ~= '' then q.endTurn(key, token, rank) end
  redis.call('SREM', q.held_by .. owner, key)
  if q.tellsAdds then redis.call('HDEL', q.added_to .. owner, key) end
  if hasStalled then redis.call('SREM', q.stalled_by .. owner, key) end
end

-- Drops the payload and the traceparent of a key that is neither ready nor processing, unless the key is delayed.
function q.dropItem(key)
  if (hasPayloads or q.hasTraces) and not redis.call('ZSCORE', q.delayed, key) then
    if hasPayloads then redis.call('HDEL', q.items, key) end
    if q.hasTraces then redis.call('HDEL', q.traces, key) end
  end
end

-- Functions that most calls don't use are created together when one of them is first used, because creating a function
-- takes time. Values of the table that may be missing are `false`, so that reading them doesn't create the functions.
setmetatable(q, { __index = function(_, name)
  setmetatable(q, nil)
  --#include seldom
  return q[name]
end })
