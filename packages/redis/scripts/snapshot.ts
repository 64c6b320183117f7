/** Lists the keys in each state; `list` notes one, so that its payload is shown. ARGV: as of `snapshot`. */
export const lists = /* lua */ `
local limit, hasItems = tonumber(ARGV[1]), ARGV[2] == '1'
local due = behind and redis.call('ZCOUNT', q.waiting, '-inf', now) or 0
local all = {}
local function list(key)
  all[#all + 1] = key
  return key
end

-- All three are in the order in which the keys became ready.
local ready = {}
local function readyFrom(...)
  local found = limit > 0 and redis.call('ZRANGE', ...) or {}
  for i = 1, #found, 2 do ready[#ready + 1] = { found[i], tonumber(found[i + 1]) } end
end
readyFrom(q.ready, 0, limit - 1, 'WITHSCORES')
readyFrom(q.suspects, 0, limit - 1, 'WITHSCORES')
if due > 0 then readyFrom(q.waiting, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') end
table.sort(ready, function(a, b) return a[2] < b[2] end)
local readyKeys = {}
for i = 1, math.min(#ready, limit) do readyKeys[i] = list(ready[i][1]) end

local waiting = {}
local later = limit > 0
  and redis.call('ZRANGE', q.waiting, '(' .. string.format('%.0f', now), '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') or {}
for i = 1, #later, 2 do
  waiting[#waiting + 1] = list(later[i])
  waiting[#waiting + 1] = string.format('%.0f', later[i + 1] - now)
end

local held = {}
local holders = limit > 0 and redis.call('HRANDFIELD', q.holders, limit, 'WITHVALUES') or {}
for i = 1, #holders, 2 do
  held[#held + 1] = list(holders[i])
  held[#held + 1] = string.sub(holders[i + 1], 1, 1)
end
`;

/** Then come the payloads of all that is listed, and how many keys are ready. */
export const payloads = /* lua */ `
local items = {}
if hasItems then
  for from = 1, #all, 1000 do
    for _, item in ipairs(redis.call('HMGET', q.items, unpack(all, from, math.min(from + 999, #all)))) do items[#items + 1] = item end
  end
end
local length = redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.suspects) + due
`;

/**
 * Shows what is in the queue. ARGV: how long each list may be, whether there are payloads. Replies the counts of ready, waiting and
 * held keys; the ready ones, in order; the waiting ones, each with the µs until it is due; the held ones, each with its flag; and
 * the payloads of all of them in that order.
 */
export const snapshot = /* lua */ `
promote()
${lists}
${payloads}
return reply({ length, redis.call('ZCARD', q.waiting) - due, redis.call('HLEN', q.holders), readyKeys, waiting, held, items })
`;
