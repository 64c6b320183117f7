-- Sets the variables that `NUMBERS` in counts.ts declares. Also sets `due` to the number of keys whose delay has passed
-- but that are still in the set of delayed keys.
local due = behind and redis.call('ZCOUNT', q.delayed, '-inf', now) or 0
local blocked = q.hasGroups and q.ordered().size() - q.ordered().ready() or 0
local ready = redis.call('ZCARD', q.ready) - blocked + redis.call('ZCARD', q.stalled) +
  redis.call('ZCARD', q.suspects) + due
local delayed = redis.call('ZCARD', q.delayed) - due
local processing = redis.call('HLEN', q.holders)
local failing = redis.call('HLEN', prefix .. 'failures')
local givenUp = redis.call('ZCARD', q.given_up)

-- Keys that were handed out and returned have negative places, before all keys that were never handed out. So the first
-- key of each kind is checked. A returned key is treated as ready since its hand-out.
local oldest = behind or now
local function look(line)
  local first = tonumber(redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')[2])
  if first and first < 0 then
    oldest = math.min(oldest, first + 2^53)
    first = tonumber(redis.call('ZRANGE', line, 0, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2])
  end
  if first then oldest = math.min(oldest, first) end
end
for _, line in ipairs({ q.ready, q.stalled, q.suspects }) do look(line) end
if q.budget then
  blocked = blocked + q.retryBudget().count()
  look(q.blocked_retries)
end
local oldestReadyUs = now - oldest
