q.isBusy = true
local addedAgain = {}
q.hear(leaseUs)
local isThere = redis.call('ZSCORE', q.owners, owner) and 1 or 0
if isThere == 1 then
  redis.call('ZADD', q.owners, q.leaseEnd(leaseUs), owner)
  if tellsAdds then
    if q.beTold(owner) then
      for _, key in ipairs(redis.call('SRANDMEMBER', q.held_by .. owner, KEPT)) do
        local flag, token = q.split(redis.call('HGET', q.holders, key))
        if flag == '+' then redis.call('HSET', q.added_to .. owner, key, token) end
      end
    end
    local added = redis.call('HRANDFIELD', q.added_to .. owner, KEPT, 'WITHVALUES') -- at most that many, all different
    for i = 2, #added, 2 do addedAgain[i / 2] = added[i] end
  end
  if dutyOwner == owner then q.takeDuty(owner, leaseUs, dutyStage) end
  local stored = q.hasCancels and redis.call('HRANDFIELD', q.cancelled_by .. owner, BATCH, 'WITHVALUES') or {}
  for i = 2, #stored, 2 do
    local n = i / 2
    cancelled.token[n], cancelled.reason[n] = string.match(stored[i], '^(%d+) (.*)$')
  end
end
