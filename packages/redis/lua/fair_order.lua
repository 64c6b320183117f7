-- Start-time fair queuing on the server, as in memory: see
-- lib/policy/fair_share.ts of the core, with which tests compare this code. Times are in microseconds.
--
-- The plan is `["fair", SEPARATOR, WITHIN, LIMIT, INTERVAL, BURST, BY_TIME, WEIGHTS]`: a line for each group, in the
-- order WITHIN, which is a plan from `lines.lua`. LIMIT is the maximum number of processing keys of a group, and
-- INTERVAL the number of microseconds between two hand-outs of a group after BURST of them. 0 stands for no limit and
-- no rate. WEIGHTS is 0 if all weights are 1.
--
-- The groups that a script uses are kept in Lua until `save`.
-- Adds the functions that most scripts don't need to an order of groups. It is called when the first of them is used.
local function addRareGroupFunctions(f)
  local call = redis.call
  local MAX_COUNT = 100 -- maximum weight of past values in a mean, as a number of values

  -- Returns the sorted set of groups with the given letter. A group is in at most one of these sets.
  function f.setOf(letter)
    if letter == 'c' then return f.base .. 'changing' end -- group with keys that are blocked until a time, by that time
    if letter == 'k' then return f.base .. 'kept' end -- idle group that must be remembered until a time, by that time
    return f.base .. 'idle' -- idle group, by the end of its last turn
  end

  function f.allowedAt(group)
    local allowed = math.huge
    if f.interval > 0 then
      allowed = math.max(math.floor(f.burst - math.max(group.fullAt - f.clock, 0) / f.interval + 1e-9), 0)
    end
    if not group.pause then return allowed end
    return (group.pause > f.clock or group.probe) and 0 or math.min(allowed, 1)
  end

  function f.rateAllowsMoreAt(group)
    local allowed = math.max(math.floor(f.burst - math.max(group.fullAt - f.clock, 0) / f.interval + 1e-9), 0)
    if allowed == f.burst then return math.huge, allowed end
    return math.ceil(group.fullAt - (f.burst - allowed - 1) * f.interval), allowed
  end

  function f.allowsMoreAt(group)
    local rateAt, allowed = math.huge, math.huge
    if f.interval > 0 then rateAt, allowed = f.rateAllowsMoreAt(group) end
    if not group.pause then return rateAt end
    local token = allowed == 0 and rateAt or f.clock
    if group.pause > f.clock then return math.max(group.pause, token) end
    return not group.probe and token > f.clock and token or math.huge
  end

  -- Returns a time before which no group changes merely because time passes.
  function f.firstChange()
    if f.sizes.c == 0 then return math.huge end
    f.first = f.first or tonumber(call('ZRANGE', f.setOf('c'), 0, 0, 'WITHSCORES')[2])
    return f.first
  end

  function f.settleDue(letter)
    local due = call('ZRANGE', f.setOf(letter), '-inf', f.clock, 'BYSCORE', 'LIMIT', 0, BATCH)
    if #due == 0 then return end
    call('ZREM', f.setOf(letter), unpack(due))
    f.sizes[letter] = f.sizes[letter] - #due
    f.loadAll(due)
    for _, name in ipairs(due) do
      local group = f.known[name]
      if group then
        group.set = '-'
        f.settle(group)
      else
        f.isTorn = true
      end
    end
  end

  function f.move(key, place, priority)
    local group = f.groupNamed(f.groupOf(key))
    if f.lines.move(key, place, priority, f.line .. group.name) then f.grow(group) end
  end

  -- Returns whether the group of a ready key is blocked.
  function f.blocks(key)
    local group = f.load(f.groupOf(key))
    return group and group.ready == 0
  end

  -- Removes a ready key.
  function f.takeOut(key)
    local group = f.groupNamed(f.groupOf(key))
    if not f.lines.takeOut(key, f.line .. group.name) then return end
    group.size = group.size - 1
    f.sizeSum = f.sizeSum - 1
    f.settle(group)
  end

  -- Returns whether the group of a key may have another key.
  function f.admits(key)
    local group = f.groupNamed(f.groupOf(key))
    return group.processing < f.maxPerGroup and f.allowedAt(group) >= 1
  end

  -- Hands out a key that is in no line of the order.
  function f.admit(key)
    local group = f.groupNamed(f.groupOf(key))
    if not group.turn then group.start = math.max(f.virtual, group.finish) end
    local note = f.handOut(group, key)
    f.endTurn(group)
    return note
  end

  function f.done(key, token, note)
    local group = f.load(f.groupOf(key))
    if not note then return end
    if not group then
      f.isTorn = true
      return
    end
    group.processing = math.max(group.processing - 1, 0)
    if group.probe == key then group.pause, group.probe = nil, nil end
    local charged = tonumber(note)
    if charged and f.byTime == 1 then
      local duration = math.max(f.clock - token, 0)
      local function add(count, mean)
        count = math.min(count + 1, MAX_COUNT)
        return count, mean + (duration - mean) / count
      end
      group.count, group.mean = add(group.count, group.mean)
      f.count, f.mean = add(f.count, f.mean)
      local more = group.cost * (duration - charged)
      group.finish = group.finish + more
      f.latest = math.max(f.latest, group.finish)
      if more ~= 0 and group.turn then f.setTurn(group, group.start + more) end
    end
    f.settle(group)
  end

  -- Counts a key as processing that was handed out before this order was in force.
  function f.adopt(key)
    if f.limit == 0 then return nil end
    local group = f.groupNamed(f.groupOf(key))
    group.processing = group.processing + 1
    f.settle(group)
    return 'n'
  end

  function f.pause(name, until_)
    local group = f.groupNamed(name)
    if not group.pause or group.pause < until_ then group.pause, group.probe = until_, nil end
    f.settle(group)
  end

  function f.resume(name)
    local group = f.load(name)
    if not group or not group.pause then return end
    group.pause, group.probe = nil, nil
    f.settle(group)
  end

  -- Unblocks the keys whose time has come. Called with the deadline of each due key before the key is made ready, as if
  -- the script had run at that time, and finally with the current time.
  function f.advance(time)
    f.clock = time
    if f.firstChange() > f.clock then return end
    f.settleDue('c')
    f.first = false
  end

  function f.nextChange()
    local at = f.firstChange()
    return at < math.huge and at or nil
  end

  -- Simulates the next turns.
  function f.list(most)
    local heap, keys, number = f.nextTurns(most), {}, f.turn
    for i, group in ipairs(heap) do
      heap[i] = { group = group, start = group.start, turn = group.turn, given = 0, keys = {} }
    end
    while #keys < most and #heap > 0 do
      local entry = f.pop(heap)
      local group = entry.group
      if entry.given == #entry.keys then
        entry.keys = f.lines.list(math.min(2 * entry.given + 1, group.ready, most), f.line .. group.name)
      end
      entry.given = entry.given + 1
      keys[#keys + 1] = entry.keys[entry.given]
      number = number + 1
      entry.start, entry.turn = entry.start + f.costOf(group), number
      if entry.given < group.ready then f.push(heap, entry) end
    end
    return keys
  end

  -- Returns the blocked groups: name, reason, number of blocked keys, and the time when this may change.
  function f.listBlocked(most)
    local found = {}
    for _, name in ipairs(most > 0 and call('SRANDMEMBER', f.blocked, most) or {}) do
      local group = f.load(name)
      if group then
        local reason = 'limit'
        local at = nil
        if group.pause then
          reason = group.pause > f.clock and 'paused' or 'probing'
          at = group.pause > f.clock and group.pause or nil
        elseif f.interval > 0 and f.allowedAt(group) <= group.ready then
          reason = 'rate'
          at = f.allowsMoreAt(group)
          if at == math.huge then at = nil end -- more keys follow once some of the burst are taken
        end
        found[#found + 1] = { name, reason, group.size - group.ready, at }
      end
    end
    return found
  end

  -- Removes some of the order's keys on the server. Returns whether keys are left.
  function f.drop()
    call('UNLINK', f.turns, f.setOf('c'), f.setOf('k'), f.setOf('i'), f.blocked, f.base .. 'weights')
    for _, name in ipairs(call('HRANDFIELD', f.groups, BATCH)) do
      f.lines.drop(f.line .. name)
      call('HDEL', f.groups, name)
    end
    return call('EXISTS', f.groups) == 1
  end

  function f.size()
    return f.sizeSum
  end
end

local function fairOrder(plan, base)
  local call = redis.call
  local MAX_IDLE = 10000
  local NUMBERS = '>ddddddddddd' -- form of q.fair
  -- Form of a group in the hash. The rest is left out if it is 0 and there is no pause; the key of the probe follows.
  local GROUP, REST = '>c1dddddddd', '>dddd'
  local GROUP_LENGTH, REST_LENGTH = 65, 32
  -- The state is in one table, because each local variable that a function uses takes time when the function is made.
  local f = {
    separator = plan[2], limit = plan[4], interval = plan[5], burst = plan[6], byTime = plan[7], weights = plan[8],
    maxPerGroup = plan[4] > 0 and plan[4] or math.huge,
    base = base,
    lines = makeLines(plan[3], base),
    line = base .. 'line:',      -- prefix of the lines of groups
    groups = base .. 'groups',
    turns = base .. 'turns',     -- zset: number of the turn and group, by the start of the turn
    blocked = base .. 'blocked', -- set of groups with blocked keys
    sizes = { c = 0, k = 0, i = 0 }, -- numbers of groups in the sorted sets that `setOf` returns
    first = false,
    isTorn = false, -- whether the server has lost a part of the order
    clock = now,  -- time at which groups are settled
    changed = {}, -- groups that this script has changed, by name
    known = {},   -- groups that this script has read, by name; false for those that don't exist
    virtual = 0, latest = 0, readySum = 0, sizeSum = 0, turning = 0, turn = 0, mean = 1000, count = 0,
  }
  if q.fair then
    f.sizes.c, f.sizes.k, f.sizes.i, f.virtual, f.latest, f.readySum, f.sizeSum, f.turning, f.turn, f.mean, f.count =
      struct.unpack(NUMBERS, q.fair)
  end

  function f.groupOf(key)
    local at = string.find(key, f.separator, 1, true)
    return at and string.sub(key, 1, at - 1) or key
  end

  function f.read(name, stored)
    if not stored then
      f.known[name] = false
      return nil
    end
    local set, start, turn, finish, processing, ready, size, number, cost = struct.unpack(GROUP, stored)
    local fullAt, mean, count, pause, probe = 0, 0, 0, -1, nil
    if #stored > GROUP_LENGTH then
      fullAt, mean, count, pause = struct.unpack(REST, stored, GROUP_LENGTH + 1)
      if #stored > GROUP_LENGTH + REST_LENGTH then probe = string.sub(stored, GROUP_LENGTH + REST_LENGTH + 1) end
    end
    turn = turn >= 0 and turn or nil
    local group = {
      name = name, set = set, start = start, turn = turn, stored = turn, finish = finish, processing = processing,
      ready = ready, size = size, number = number, cost = cost, isBlocked = ready < size, fullAt = fullAt, mean = mean,
      count = count,
    }
    if pause >= 0 then group.pause, group.probe = pause, probe end
    f.known[name] = group
    return group
  end

  function f.load(name)
    local group = f.known[name]
    if group == nil then return f.read(name, call('HGET', f.groups, name)) end
    return group or nil
  end

  function f.loadAll(names)
    local missing = {}
    for _, name in ipairs(names) do
      if f.known[name] == nil then missing[#missing + 1] = name end
    end
    for first = 1, #missing, 1000 do
      local stored = call('HMGET', f.groups, unpack(missing, first, math.min(first + 999, #missing)))
      for i = 1, #stored do f.read(missing[first + i - 1], stored[i]) end
    end
  end

  function f.groupNamed(name)
    local group = f.load(name)
    if group then return group end
    local weight = f.weights ~= 0 and tonumber(call('HGET', f.base .. 'weights', name) or 1) or 1
    group = {
      name = name, start = 0, finish = 0, processing = 0, ready = 0, size = 0, fullAt = 0, mean = 0, count = 0,
      set = '-', number = 0, cost = 1 / weight, isBlocked = false,
    }
    f.known[name] = group
    return group
  end

  -- Gives a group a new turn, or none.
  function f.setTurn(group, start)
    f.turning = f.turning + (start and 1 or 0) - (group.turn and 1 or 0)
    group.turn = nil
    if not start then return end
    f.turn = f.turn + 1
    group.start, group.turn = start, f.turn
  end

  -- Stores the turns of groups. Each new turn has a new number.
  function f.saveTurns()
    local over, new = {}, {}
    for name, group in pairs(f.changed) do
      if group.turn ~= group.stored then
        if group.stored then over[#over + 1] = string.format('%014d', group.stored) .. name end
        if group.turn then
          local n = #new
          new[n + 1], new[n + 2] = group.start, string.format('%014d', group.turn) .. name
        end
        group.stored = group.turn
      end
    end
    for first = 1, #over, 1000 do call('ZREM', f.turns, unpack(over, first, math.min(first + 999, #over))) end
    for first = 1, #new, 1000 do call('ZADD', f.turns, unpack(new, first, math.min(first + 999, #new))) end
  end

  -- Returns the groups whose turns are next, as a heap.
  function f.nextTurns(most)
    f.saveTurns()
    local names = most > 0 and call('ZRANGE', f.turns, 0, most - 1) or {}
    local turns = {}
    for i, member in ipairs(names) do
      turns[i], names[i] = tonumber(string.sub(member, 1, 14)), string.sub(member, 15)
    end
    f.loadAll(names)
    local heap = {}
    for i, name in ipairs(names) do
      local group = f.known[name]
      if group and group.turn == turns[i] then heap[#heap + 1] = group else f.isTorn = true end
    end
    return heap
  end

  local function isBefore(a, b)
    return a.start < b.start or a.start == b.start and a.turn < b.turn
  end

  function f.push(heap, entry)
    local i = #heap + 1
    while i > 1 do
      local parent = math.floor(i / 2)
      if not isBefore(entry, heap[parent]) then break end
      heap[i] = heap[parent]
      i = parent
    end
    heap[i] = entry
  end

  function f.pop(heap)
    local top, last = heap[1], table.remove(heap)
    local i, size = 1, #heap
    if size == 0 then return top end
    while 2 * i <= size do
      local child = 2 * i
      if child < size and isBefore(heap[child + 1], heap[child]) then child = child + 1 end
      if not isBefore(heap[child], last) then break end
      heap[i] = heap[child]
      i = child
    end
    heap[i] = last
    return top
  end

  function f.put(group, set, number)
    if group.set == set and (set == '-' or group.number == number) then return end
    if group.set ~= set then
      if group.set ~= '-' then
        call('ZREM', f.setOf(group.set), group.name)
        f.sizes[group.set] = f.sizes[group.set] - 1
      end
      if set ~= '-' then f.sizes[set] = f.sizes[set] + 1 end
      if set == 'c' then q.isChanging = true end
    end
    group.set, group.number = set, number
    if set == 'c' then
      if f.first then f.first = math.min(f.first, number) end
      number = q.firstFree(f.setOf('c'), number) -- on a tie, the group that was blocked first goes first
    end
    if set ~= '-' then call('ZADD', f.setOf(set), number, group.name) end
  end

  -- Moves a group to the sets that it belongs in. Called after each change to the group.
  function f.settle(group, hadTurn)
    f.changed[group.name] = group
    local isTimed = f.interval > 0 or group.pause
    local ready = math.max(0, math.min(group.size, f.maxPerGroup - group.processing))
    local changesAt = math.huge
    if isTimed then
      local allowed = f.allowedAt(group)
      if allowed < ready then
        ready = allowed
        changesAt = f.allowsMoreAt(group)
      end
    end
    f.readySum = f.readySum + ready - group.ready
    if (ready < group.size) ~= group.isBlocked then
      group.isBlocked = ready < group.size
      call(group.isBlocked and 'SADD' or 'SREM', f.blocked, group.name)
    end
    group.ready = ready
    if ready == 0 then f.setTurn(group, nil)
    elseif hadTurn or not group.turn then
      f.setTurn(group, math.max(hadTurn and f.byTime == 1 and group.start or f.virtual, group.finish))
    end
    if group.size > 0 or group.processing > 0 then
      if changesAt < math.huge then f.put(group, 'c', changesAt) else f.put(group, '-', 0) end
    else
      local until_ = math.max(f.interval > 0 and group.fullAt or 0, group.pause or 0)
      if until_ > f.clock then f.put(group, 'k', until_)
      else f.put(group, 'i', group.pause and 1e300 or group.finish) end
    end
  end

  function f.costOf(group)
    if f.byTime ~= 1 then return group.cost end
    return group.cost * (group.count > 0 and group.mean or f.mean)
  end

  -- Hands out a key of a group whose turn it is. Returns the note for the key's holder: whether the group counts the
  -- key as processing, and the time that was charged. If the key is not known yet, the key of the probe is set later.
  function f.handOut(group, key)
    local cost = f.costOf(group)
    local note
    if f.interval > 0 then group.fullAt = math.max(group.fullAt, f.clock) + f.interval end
    if group.pause then group.probe = key or '' end
    if f.limit > 0 or f.byTime == 1 or group.pause then
      group.processing = group.processing + 1
      note = f.byTime == 1 and string.format('%.0f', cost / group.cost) or 'n'
    end
    group.finish = group.start + cost
    f.latest = math.max(f.latest, group.finish)
    f.virtual = math.max(f.virtual, group.start)
    return note
  end

  function f.endTurn(group)
    f.settle(group, true)
    if f.turning == 0 then f.virtual = f.latest end
  end

  function f.grow(group)
    group.size = group.size + 1
    f.sizeSum = f.sizeSum + 1
    f.settle(group)
  end

  -- Forgets idle groups whose last turn is over, or some of them if there are too many.
  function f.forgetIdle()
    if f.sizes.i == 0 then return false end
    local over = call('ZRANGE', f.setOf('i'), '-inf', f.virtual, 'BYSCORE', 'LIMIT', 0, BATCH)
    local excess = #over == 0 and f.sizes.i - MAX_IDLE or 0
    if excess > 0 then over = call('ZRANGE', f.setOf('i'), 0, math.min(excess, BATCH) - 1) end
    if #over == 0 then return false end
    for _, name in ipairs(over) do f.known[name], f.changed[name] = false, nil end
    call('ZREM', f.setOf('i'), unpack(over))
    f.sizes.i = f.sizes.i - #over
    call('HDEL', f.groups, unpack(over))
    return true
  end

  -- Reads the groups of keys that will be added.
  function f.expect(keys)
    f.lines.expect(keys)
    local names, seen = {}, {}
    for _, key in ipairs(keys) do
      local name = f.groupOf(key)
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
    f.loadAll(names)
  end

  function f.add(key, place, priority)
    local group = f.groupNamed(f.groupOf(key))
    if f.lines.add(key, place, priority, f.line .. group.name) then f.grow(group) end
  end

  function f.take(most)
    local heap = f.nextTurns(most)
    local picked, notes, counts = {}, {}, {}
    while #picked < most and #heap > 0 do
      local group = f.pop(heap)
      f.setTurn(group, nil)
      group.size = group.size - 1
      f.sizeSum = f.sizeSum - 1
      picked[#picked + 1] = group
      counts[group] = (counts[group] or 0) + 1
      notes[#picked] = f.handOut(group)
      f.endTurn(group)
      if group.turn then f.push(heap, group) end
    end
    local keys, places, keysOf, placesOf, nextOf = {}, {}, {}, {}, {}
    for i, group in ipairs(picked) do
      local next = nextOf[group] or 1
      if next == 1 then
        keysOf[group], placesOf[group] = f.lines.take(counts[group], f.line .. group.name)
      end
      nextOf[group] = next + 1
      local key, n = keysOf[group][next], #keys + 1
      if key then
        keys[n], places[n], notes[n] = key, placesOf[group][next], notes[i]
        if group.probe == '' then group.probe = key end
      else
        f.isTorn = true
      end
    end
    return keys, places, notes
  end

  function f.ready()
    return f.readySum
  end

  -- Stores the groups and returns changes to `meta`, if anything has changed.
  function f.save()
    f.lines.flush()
    if next(f.changed) == nil then return nil end
    if f.sizes.k > 0 then f.settleDue('k') end
    f.saveTurns()
    local hasForgotten = f.forgetIdle()
    local stored = {}
    for name, group in pairs(f.changed) do
      local text = struct.pack(GROUP, group.set, group.start, group.turn or -1, group.finish, group.processing,
        group.ready, group.size, group.number, group.cost)
      if group.pause or group.fullAt > 0 or group.count > 0 then
        text = text .. struct.pack(REST, group.fullAt, group.mean, group.count, group.pause or -1) ..
          (group.probe or '')
      end
      local n = #stored
      stored[n + 1], stored[n + 2] = name, text
    end
    for first = 1, #stored, 1000 do call('HSET', f.groups, unpack(stored, first, math.min(first + 999, #stored))) end
    if hasForgotten and call('EXISTS', f.groups) == 0 then f.virtual, f.latest = 0, 0 end
    return { 'fair', struct.pack(NUMBERS, f.sizes.c, f.sizes.k, f.sizes.i, f.virtual, f.latest, f.readySum, f.sizeSum,
      f.turning, f.turn, f.mean, f.count) }
  end

  -- Returns whether the server has lost a part of the order: see replaceTornOrder.
  function f.lacksKeys()
    f.lines.flush()
    f.saveTurns()
    return f.isTorn or f.sizeSum < call('ZCARD', q.ready) or f.turning ~= call('ZCARD', f.turns)
  end

  f.flush = f.lines.flush
  return setmetatable(f, {
    __index = function(_, name)
      addRareGroupFunctions(f)
      return rawget(f, name)
    end,
  })
end
