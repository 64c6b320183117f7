q.makeDueReady()
--#include set_numbers
local paused = isPaused and 1 or 0
local hasGroups = q.hasGroups and 1 or 0
local blockedRetries = q.budget and q.retryBudget().count()

-- Each of the three lines is sorted by the time when its keys became ready.
local found = {}
local function findReady(...)
  local part = limit > 0 and redis.call('ZRANGE', ...) or {}
  for i = 1, #part, 2 do found[#found + 1] = { part[i], tonumber(part[i + 1]) } end
end
if not q.plan then findReady(q.ready, 0, limit - 1, 'WITHSCORES') end
findReady(q.stalled, 0, limit - 1, 'WITHSCORES')
findReady(q.suspects, 0, limit - 1, 'WITHSCORES')
if due > 0 then findReady(q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') end
table.sort(found, function(a, b) return a[2] < b[2] end)
for i = 1, math.min(#found, limit) do readyItems.key[i] = found[i][1] end
for _, key in ipairs(q.plan and q.ordered().list(limit - #readyItems.key) or {}) do
  readyItems.key[#readyItems.key + 1] = key
end
for i, found in ipairs(q.hasGroups and q.ordered().listBlocked(limit) or {}) do
  blockedGroups.group[i], blockedGroups.reason[i], blockedGroups.blocked[i] = found[1], found[2], found[3]
  blockedGroups.resumesInUs[i] = found[4] and found[4] - now or false
end

local later = limit > 0
  and redis.call('ZRANGE', q.delayed, '(' .. whole(now), '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') or {}
for i = 1, #later / 2 do
  delayedItems.key[i] = later[2 * i - 1]
  delayedItems.dueInUs[i] = later[2 * i] - now
end

local holders = limit > 0 and redis.call('HRANDFIELD', q.holders, limit, 'WITHVALUES') or {}
for i = 1, #holders / 2 do
  processingItems.key[i] = holders[2 * i - 1]
  processingItems.addedAgain[i] = string.sub(holders[2 * i], 1, 1) == '+' and 1 or 0
  if q.ranked then
    local _, _, _, rank = q.split(holders[2 * i])
    processingItems.priority[i] = string.format('%.17g', (q.parseRank(rank)))
  end
end

-- Lists the keys with the most failures. Skips keys that will not be retried: keys whose work ended without forgetting
-- their failures, and that are not delayed, ready or processing. Skips at most SPARE keys.
local SPARE = 1000
local forgotten = {}
local from, page = 0, math.max(limit, 100)
while #failingItems.key < limit and from < limit + SPARE do
  local keys = redis.call('ZRANGE', prefix .. 'failing', from, from + page - 1)
  if #keys == 0 then break end
  from = from + page
  local counts = failures_of(keys)
  local errors = redis.call('HMGET', prefix .. 'errors', unpack(keys))
  local dues = redis.call('ZMSCORE', q.delayed, unpack(keys))
  for i, key in ipairs(keys) do
    local n = #failingItems.key + 1
    if n > limit then break end
    local at = dues[i]
    if counts[i] == 0 then
      forgotten[#forgotten + 1] = key -- expired
    elseif at or q.isReady(key) or redis.call('HEXISTS', q.holders, key) == 1 then
      failingItems.key[n] = key
      failingItems.attempts[n] = counts[i]
      failingItems.error[n] = errors[i] or ''
      failingItems.dueInUs[n] = at and at - now > 0 and at - now
    end
  end
end
if #forgotten > 0 then redis.call('ZREM', prefix .. 'failing', unpack(forgotten)) end

local function addPayloads(entries)
  if not hasItems then return end
  local keys = entries.key
for first = 1, #keys, 1000 do
  local items = redis.call('HMGET', q.items, unpack(keys, first, math.min(first + 999, #keys)))
  for i, item in ipairs(items) do entries.payload[first + i - 1] = item end
end
end
addPayloads(readyItems)
addPayloads(delayedItems)
addPayloads(processingItems)
addPayloads(failingItems)

if q.ranked then q.priorityStore().save() end
local function addPriorities(entries, hash)
  if not q.ranked then return end
  local keys = entries.key
for first = 1, #keys, 1000 do
  local found = redis.call('HMGET', hash, unpack(keys, first, math.min(first + 999, #keys)))
  for i, priority in ipairs(found) do entries.priority[first + i - 1] = priority or '0' end
end
end
addPriorities(readyItems, q.priorities)
addPriorities(delayedItems, q.due_priorities)
