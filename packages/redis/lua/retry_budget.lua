-- Retry budget on the server, as in memory: see lib/policy/retry_credit.ts of the
-- core, with which tests compare this code. Times are in microseconds.
--
-- The field `budget` of `meta` has the numbers of the budget. A retry that is due without budget is in the sorted set
-- `blockedretries`. The hash `dueretries` has the delayed keys that are retries. The hash `retries` has ready keys that
-- don't count as first attempts, processing keys that need budget when they become ready, and blocked retries of the
-- kind FIRST.
--
-- A blocked retry becomes ready in the first script that runs when there is budget for it. Its time counts from then
-- on, unless its priority grows with its age.
-- Returns the functions of the budget, which the queue must have.
function q.retryBudget()
  if q.budget_functions then return q.budget_functions end
  local call, budget = redis.call, {}
  q.budget_functions = budget
  local COST = 1000000        -- credit that a retry costs
  local LIFETIME = 10000000   -- µs until the credit of a first attempt expires
  local STEP = 10000          -- µs whose first attempts are counted together
  local NUMBERS = '>dddddddd' -- form of q.budget
  -- The credit of a first attempt; the µs between two retries that need no credit; the credit that is left; the used
  -- credit of deposits that have not expired; the time of the latest retry that needed no credit; the time when the
  -- earliest credit expires; and the time and the credit of the latest deposit. Earlier deposits are in q.deposits.
  local credit, interval, left, used, latest, expires, stepAt, stepCredit = struct.unpack(NUMBERS, q.budget)
  local isChanged = false

  local blocked -- number of blocked retries
  function budget.count()
    blocked = blocked or call('ZCARD', q.blocked_retries)
    return blocked
  end

  local function forgetDeposit(amount)
    left = left - math.max(amount - used, 0)
    used = math.max(used - amount, 0)
  end

  local function expire()
    if now < expires then return end
    local past = now - LIFETIME
    for _, deposit in ipairs(call('ZRANGE', q.deposits, '-inf', whole(past), 'BYSCORE')) do
      forgetDeposit(tonumber(string.match(deposit, ':(.*)')))
    end
    call('ZREMRANGEBYSCORE', q.deposits, '-inf', whole(past))
    local first = tonumber(call('ZRANGE', q.deposits, 0, 0, 'WITHSCORES')[2] or stepAt)
    if first <= past then
      first, left, used, stepAt, stepCredit = math.huge, 0, 0, -math.huge, 0
    end
    expires = first + LIFETIME
    isChanged = true
  end

  local function deposit(attempts)
    expire()
    local amount = attempts * credit
    if amount == 0 then return end
    left = left + amount
    if now - stepAt < STEP then
      stepCredit = stepCredit + amount
    else
      if stepCredit > 0 then
        call('ZADD', q.deposits, whole(stepAt), whole(stepAt) .. ':' .. string.format('%.17g', stepCredit))
      end
      stepAt, stepCredit = now, amount
    end
    expires = math.min(expires, stepAt + LIFETIME)
    isChanged = true
  end

  local function withdraw()
    expire()
    if left >= COST then
      left, used = left - COST, used + COST
    elseif now < latest + interval then
      return false
    else
      latest = now
    end
    isChanged = true
    return true
  end

  -- Makes a key ready that was blocked since `at`.
  local function makeReady(key, place, at)
    local isAging = q.plan and string.find(q.plan, '["aging"', 1, true)
    local priority = q.ranked and q.priorityStore().get(q.priorities, key) or 0
    q.makeReady(key, isAging and tonumber(at) or place, priority)
  end

  function budget.open()
    for _ = 1, math.min(budget.count(), BATCH) do
      if not withdraw() then return end
      local first = call('ZPOPMIN', q.blocked_retries)
      blocked = blocked - 1
      local retry = q.hasFirst and tonumber(call('HGET', q.retries, first[1])) or RETRY
      call('HSET', q.retries, first[1], retry)
      makeReady(first[1], q.placeOfRetry(q.tick(), retry), first[2])
    end
  end

  -- Makes a retry ready if there is budget for it, and blocks it otherwise.
  local function comeAsRetry(key, place, priority, retry)
    if budget.count() == 0 and withdraw() then
      call('HSET', q.retries, key, retry)
      return q.makeReady(key, q.placeOfRetry(place, retry), priority)
    end
    if retry == FIRST then call('HSET', q.retries, key, retry) end
    if priority ~= 0 or q.ranked then q.priorityStore().set(q.priorities, key, priority) end
    call('ZADD', q.blocked_retries, place, key)
    blocked = blocked + 1
    if blocked == 1 and call('EXISTS', q.idle) == 1 then q.watchDue() end
  end

  -- Removes a blocked retry. Returns whether the key was one.
  function budget.takeOut(key)
    if call('ZREM', q.blocked_retries, key) == 0 then return false end
    blocked = nil
    return true
  end

  -- Handles a key that is added, or becomes due, while it is not processing. A blocked retry becomes ready as a first
  -- attempt, unless it comes as a retry or the add is folded.
  function budget.come(key, place, priority, retry, folds)
    local at = budget.count() > 0 and call('ZSCORE', q.blocked_retries, key)
    if at then
      if priority ~= 0 or q.ranked then q.priorityStore().raise(q.priorities, key, priority) end
      if retry or folds then return end
      if q.hasFirst then call('HDEL', q.retries, key) end
      call('ZREM', q.blocked_retries, key)
      blocked = blocked - 1
      makeReady(key, place, at)
    elseif retry and not q.isReady(key) then
      comeAsRetry(key, place, priority, retry)
    else
      q.makeReady(key, place, priority)
    end
  end

  -- Handles a key that was added again, and whose work has ended.
  function budget.comeBack(key, place, priority, isHandedBack)
    local retry = q.takeRetry(q.retries, key)
    if isHandedBack then q.exempt(key)
    elseif retry then return comeAsRetry(key, place, priority, retry) end
    q.makeReady(key, place, priority)
  end

  -- Deposits the credit of the taken keys after the first `from`, and makes blocked retries ready.
  function budget.begin(keys, from)
    local repeated = {}
    for i, isRetry in ipairs(call('HMGET', q.retries, unpack(keys, from + 1))) do
      if isRetry then repeated[#repeated + 1] = keys[from + i] end
    end
    if #repeated > 0 then call('HDEL', q.retries, unpack(repeated)) end
    local firsts = #keys - from - #repeated
    if firsts == 0 then return end
    deposit(firsts)
    budget.open()
  end

  -- Returns the number of first attempts that can begin before a blocked retry becomes ready.
  function budget.firstsBefore()
    return budget.count() > 0 and credit > 0 and math.max(math.ceil((COST - left) / credit), 1) or math.huge
  end

  -- Returns the time from which a blocked retry can become ready without a first attempt; nil if there is none.
  function budget.opensAt()
    if budget.count() == 0 then return nil end
    expire()
    local at = left >= COST and now or math.ceil(latest + interval)
    return at < math.huge and at or nil
  end

  function budget.change(ratio, minRate)
    credit = math.floor(ratio * COST + 0.001)
    interval = minRate >= 1000000 and 0 or minRate > 0 and 1000000 / minRate or math.huge
    isChanged = true
  end

  function budget.save()
    if not isChanged then return end
    call('HSET', q.meta, 'budget', struct.pack(NUMBERS, credit, interval, left, used, latest, expires, stepAt,
      stepCredit))
  end

  return budget
end
