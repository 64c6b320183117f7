if plan and q.plan ~= plan then
  --#include read_kind
  --#include begin_order
  q.plan = plan
  for group, weight in rows() do redis.call('HSET', q.orders .. q.plan_number .. ':weights', group, weight) end
  --#include fill_order
end
if max then
  local limits = redis.call('HMGET', q.meta, 'keep', 'keepFor')
  local maxAge = maxAgeUs and whole(maxAgeUs) or false
  if (limits[1] or whole(KEPT)) ~= whole(max) or limits[2] ~= maxAge then
    redis.call('HSET', q.meta, 'keep', whole(max))
    if maxAge then redis.call('HSET', q.meta, 'keepFor', maxAge) else redis.call('HDEL', q.meta, 'keepFor') end
  end
end
--#include drop_given_up
if ratio then
  if not q.budget then
    q.useMore()
    q.budget = struct.pack('>dddddddd', 0, 0, 0, 0, 0, math.huge, -math.huge, 0)
  end
  q.makeDueReady()
  q.retryBudget().change(ratio, minRate)
end
if plan or ratio then q.wakeForReady() end
if ratio then q.watchDue() end
if expireUs then redis.call('HSET', q.meta, 'expireAfter', whole(expireUs)) end
local expireAfterUs = expireUs or tonumber(redis.call('HGET', q.meta, 'expireAfter')) or EXPIRE_AFTER
local isMore = dropped == BATCH and 1 or 0
local born = q.born
