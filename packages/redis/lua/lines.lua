-- Orders of ready keys on the server that don't depend on groups.
-- `makeLines(plan, base)` returns the functions of such an order. An order has its keys in a line, which is a sorted
-- set. The functions use the given line; a fair order has a line for each group, and names it as the last argument.
--
-- A member of a line is the turn of a key, in 17 characters, a mark, and the key. The turn is the time when the key
-- became ready. Redis sorts members with equal scores by their characters, so by their turns. The score depends on the
-- plan:
--
-- - `["fifo"]`: 0.
-- - `["aging", MIN, MAX, POINT]`: the time when the key became ready, minus POINT microseconds for each point of its
--   priority above MIN.
-- - `["strict", MIN, MAX]`: the negated priority. If the priority of a ready key is raised, its turn is the time of the
--   raise, which the hash `raised` stores. Its member has the mark `^` instead of `=`.
--
-- Added keys are kept in Lua until another function needs their line, or until `save`, because a call for several keys
-- is faster than a call for each key.
-- Adds the functions that most scripts don't need to an order. It is called when the first of them is used.
local function addRareFunctions(lines)
  local call = redis.call

  -- Returns the member of a ready key, and the place of the key if that is in the member.
  function lines.memberOf(key)
    local turn = lines.movesBehind and call('HGET', lines.raised, key)
    if turn then return turn .. '^' .. key end
    local place = call('ZSCORE', q.ready, key)
    return lines.textOf(place) .. '=' .. key, place
  end

  -- Raises the priority of a ready key. A key that is being moved to this order may not be in the line.
  function lines.raise(key, priority, name)
    lines.flush()
    local before = q.priorityStore().get(q.priorities, key)
    if before >= priority then return end
    q.priorityStore().set(q.priorities, key, priority)
    if lines.scoreOf(0, priority) == lines.scoreOf(0, before) then return end
    local member, place = lines.memberOf(key)
    if not lines.movesBehind then
      call('ZADD', name, 'XX', lines.scoreOf(place, priority), member)
    elseif call('ZREM', name, member) == 1 then
      local turn = lines.textOf(q.tick())
      call('HSET', lines.raised, key, turn)
      lines.wait(name, lines.scoreOf(0, priority), turn .. '^' .. key)
    end
  end

  -- Adds a ready key to its line. Returns whether it was not there.
  function lines.move(key, place, priority, name)
    name = name or lines.line
    lines.flush()
    local member = lines.memberOf(key)
    if call('ZSCORE', name, member) then return false end
    lines.wait(name, lines.scoreOf(place, priority), member)
    return true
  end

  -- Removes a ready key. Returns whether it was in its line: a key that is being moved to this order may not be.
  function lines.takeOut(key, name)
    lines.flush()
    local wasThere = call('ZREM', name or lines.line, (lines.memberOf(key))) == 1
    call('ZREM', q.ready, key)
    if lines.movesBehind then call('HDEL', lines.raised, key) end
    return wasThere
  end

  function lines.ready()
    lines.flush()
    return call('ZCARD', q.ready)
  end

  function lines.list(count, name)
    lines.flush()
    local keys = count > 0 and call('ZRANGE', name or lines.line, 0, count - 1) or {}
    for i = 1, #keys do keys[i] = string.sub(keys[i], 19) end
    return keys
  end

  function lines.drop(name)
    call('UNLINK', name or lines.line, lines.raised)
  end
end

local function makeLines(plan, base)
  -- The state is in one table, because each local variable that a function uses takes time when the function is made.
  local call = redis.call
  local lines = {
    kind = plan[1], movesBehind = plan[1] == 'strict', min = plan[2], max = plan[3], point = plan[4],
    line = base .. 'line',
    raised = base .. 'raised',
    waiting = {}, -- by sorted set: members that are not stored yet, each after its score
    priorities = {}, -- keys that were made ready, each before its priority, if that is not stored yet
    isTorn = false, -- only orders of groups notice this while they hand out keys
    isReady = {}, -- whether a key is ready, by key; nil if this is not known
  }

  function lines.wait(set, score, member)
    local list = lines.waiting[set]
    if not list then
      lines.waiting[set] = { score, member }
      return
    end
    local n = #list
    list[n + 1], list[n + 2] = score, member
  end

  function lines.flush()
    for set, list in pairs(lines.waiting) do
      for first = 1, #list, 1000 do call('ZADD', set, unpack(list, first, math.min(first + 999, #list))) end
      lines.waiting[set] = nil
    end
    local list = lines.priorities
    if #list == 0 then return end
    if q.priority_functions then q.priority_functions.save() end
    for first = 1, #list, 1000 do call('HSET', q.priorities, unpack(list, first, math.min(first + 999, #list))) end
    lines.priorities = {}
  end

  -- Returns the text of a place or turn, which is sorted like the number. Negative numbers begin with "-".
  function lines.textOf(place)
    place = tonumber(place)
    if place < 0 then return '-' .. string.format('%016d', place + 2^53) end
    return string.format('%017d', place)
  end

  function lines.scoreOf(place, priority)
    if lines.kind == 'fifo' then return 0 end
    priority = priority > lines.max and lines.max or priority > lines.min and priority or lines.min
    if lines.kind == 'aging' then
      return whole(place - math.floor((priority - lines.min) * lines.point + 0.5)) -- place - head start
    elseif lines.kind == 'strict' then return string.format('%.17g', -priority)
    else
      error({ err = "WQFORMAT Redis doesn't know the discipline '" .. tostring(lines.kind) .. "' in this release" })
    end
  end

  -- Reads whether keys that will be added are ready.
  function lines.expect(keys)
    for first = 1, #keys, 1000 do
      local places = call('ZMSCORE', q.ready, unpack(keys, first, math.min(first + 999, #keys)))
      for i = 1, #places do
        local key = keys[first + i - 1]
        lines.isReady[key] = lines.isReady[key] or places[i] ~= false
      end
    end
  end

  -- Makes a key ready. A key that is already ready keeps its place and has the higher of the two priorities. Returns
  -- whether the key was not ready.
  function lines.add(key, place, priority, name)
    name = name or lines.line
    local text = lines.textOf(place)
    local score = string.byte(text) == 45 and place or text -- 45: "-"
    local wasReady = lines.isReady[key]
    local isExpected = wasReady ~= nil
    if not isExpected then wasReady = call('ZADD', q.ready, 'NX', score, key) == 0 end
    if wasReady then
      if q.ranked or priority > 0 then lines.raise(key, priority, name) end
      return false
    end
    if not isExpected then
      call('ZADD', name, lines.scoreOf(place, priority), text .. '=' .. key)
      if priority == 0 then return true end
      if q.ranked and not q.priority_functions then call('HSET', q.priorities, key, priority)
      else q.priorityStore().set(q.priorities, key, priority) end
      return true
    end
    if priority ~= 0 and not q.ranked then q.priorityStore().beRanked() end
    lines.isReady[key] = true
    lines.wait(q.ready, score, key)
    lines.wait(name, lines.scoreOf(place, priority), text .. '=' .. key)
    if priority ~= 0 then
      local list = lines.priorities
      local n = #list
      list[n + 1], list[n + 2] = key, priority
    end
    return true
  end

  -- Removes the first keys from a line. Returns the keys and their places.
  function lines.take(count, name)
    name = name or lines.line
    lines.flush()
    local keys = {}
    if count == 1 then
      keys[1] = call('ZPOPMIN', name)[1]
    elseif count > 1 then
      keys = call('ZRANGE', name, 0, count - 1)
      call('ZREMRANGEBYRANK', name, 0, count - 1)
    end
    local places, sub, byte = {}, string.sub, string.byte
    for i = 1, #keys do
      local member = keys[i]
      local key, place = sub(member, 19), sub(member, 2, 17)
      if byte(member, 18) == 94 then -- "^"
        place = call('ZSCORE', q.ready, key)
        call('HDEL', lines.raised, key)
      elseif byte(member) == 45 then -- "-"
        place = whole(place - 2^53)
      end
      keys[i], places[i] = key, place
    end
    return keys, places
  end

  -- Returns whether the server has lost the line: see replaceTornOrder.
  function lines.lacksKeys()
    lines.flush()
    return call('ZCARD', lines.line) < call('ZCARD', q.ready)
  end

  lines.save = lines.flush
  return setmetatable(lines, {
    __index = function(_, name)
      addRareFunctions(lines)
      return rawget(lines, name)
    end,
  })
end
