local function pairsOf(found)
  local all = {}
  for i = 1, #found, 2 do all[found[i]] = found[i + 1] end
  return all
end
local found = redis.call('HMGET', q.meta, 'paused', 'pauses', 'keep', 'keepFor')
local counts, names = {}, COUNTS
for i, count in ipairs(redis.call('HMGET', q.meta, unpack(names))) do counts[names[i]] = count or '0' end
local budget
if q.budget then
  local credit, interval = struct.unpack('>dd', q.budget)
  budget = { credit / 1000000, 1000000 / math.max(interval, 1) }
end
local weights = q.plan and redis.call('HRANDFIELD', q.orders .. q.plan_number .. ':weights', 2^31, 'WITHVALUES') or {}
return cjson.encode({
  paused = found[1] or whole(now),
  pauses = found[2] or '0',
  keep = found[3] or nil,
  keepFor = found[4] or nil,
  plan = q.plan or nil,
  budget = budget,
  weights = pairsOf(weights),
  pausedGroups = pairsOf(redis.call('ZRANGE', q.paused_groups, '(' .. whole(now), '+inf', 'BYSCORE', 'WITHSCORES')),
  counts = counts,
})
