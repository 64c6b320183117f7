q.makeDueReady()
q.forgetWaits()
local MAX_OUTCOMES = 20 -- maximum number of outcomes that one call returns
local lost = {}
for kind, key, id in rows() do
  local wait = process .. ' ' .. id
  if kind == 'received' then
    redis.call('HDEL', q.outcomes_of .. process, id)
    redis.call('ZREM', q.wait_ends, 'outcome ' .. wait)
  elseif kind == 'ended' then
    q.removeWait(key, wait)
  elseif not q.isReady(key) and not redis.call('ZSCORE', q.delayed, key)
    and redis.call('HEXISTS', q.holders, key) == 0 then
    q.removeWait(key, wait)
    lost[#lost + 1] = tonumber(id)
  elseif redis.call('ZSCORE', q.waits_for .. key, wait) then
    redis.call('ZADD', q.wait_ends, now + WAIT_FOR, 'wait ' .. wait .. ' ' .. key)
  else
    lost[#lost + 1] = tonumber(id)
  end
end
local stored = redis.call('HRANDFIELD', q.outcomes_of .. process, MAX_OUTCOMES, 'WITHVALUES')
for i = 1, #stored, 2 do
  outcomes.ids[#outcomes.ids + 1], outcomes.outcome[#outcomes.outcome + 1] = stored[i], stored[i + 1]
end
local isMore = redis.call('HLEN', q.outcomes_of .. process) > MAX_OUTCOMES and 1 or 0
