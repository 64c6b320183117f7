/**
 * Disciplines on the server, as a Lua function for other scripts: `ordered(text, base)` returns the order of the
 * ready keys. The set \`ready\` has all ready keys, by the time when they became ready, whatever the discipline. An
 * order has the same keys again, in lines: sorted sets from which the next key is popped.
 *
 * \`text\` is the plan from \`discipline_plan.ts\`, as JSON. \`base\` is the prefix of the order's own keys on the
 * server:
 *
 * - \`["aging", MIN, MAX, POINT]\`: one line. The score of a key is the time when it became ready, minus POINT
 *   microseconds for each point of its priority above MIN.
 * - \`["strict", MIN, MAX]\`: one line for each priority, and the sorted set \`…:levels\` of the priorities.
 * - \`["fair", SEPARATOR, WITHIN, LIMIT, INTERVAL, BURST, BY_TIME, WEIGHTS]\`: a line for each group, in the order
 *   WITHIN, which is one of the above or \`["fifo"]\`. LIMIT is the maximum number of processing keys of a group, and
 *   INTERVAL the number of microseconds between two hand-outs of a group after BURST of them. 0 stands for no limit and
 *   no rate. WEIGHTS is 0 if all weights are 1.
 *
 * An order must be saved at the end of the script, because numbers are kept in Lua until then.
 *
 * @module
 */
export const ordered = /* lua */ `
-- Returns the order of the ready keys; or another order, if its plan and the prefix of its keys are given.
function q.ordered(text, base)
  if not text then
    if not q.order then q.order = q.ordered(q.plan, q.orders .. q.plan_number .. ':') end
    return q.order
  end
  local call = redis.call
  local plan = cjson.decode(text)

  -- Returns functions for lines in an order that doesn't depend on groups.
  local function makeLines(plan)
    local kind, min, max, point = plan[1], plan[2], plan[3], plan[4]

    local function clamp(priority)
      return priority > max and max or priority > min and priority or min
    end

    if kind == 'strict' then
      local function level(name, priority)
        return name .. ':' .. string.format('%.17g', clamp(priority))
      end
      -- The place of a key is the time when it got its priority.
      local function add(name, key, place, priority)
        if call('ZADD', level(name, priority), 'NX', place, key) == 0 then return false end
        call('ZADD', name .. ':levels', -clamp(priority), string.format('%.17g', clamp(priority)))
        return true
      end
      local function remove(name, key, priority)
        local line = level(name, priority)
        if call('ZREM', line, key) == 0 then return false end
        if call('EXISTS', line) == 0 then call('ZREM', name .. ':levels', string.format('%.17g', clamp(priority))) end
        return true
      end
      return {
        add = add,
        raise = function(name, key, from, to)
          if clamp(to) > clamp(from) and remove(name, key, from) then add(name, key, tick(), to) end
        end,
        pop = function(name, count)
          local keys = {}
          while #keys < count do
            local first = call('ZRANGE', name .. ':levels', 0, 0)[1]
            if not first then break end
            local popped = call('ZPOPMIN', name .. ':' .. first, count - #keys)
            for i = 1, #popped, 2 do keys[#keys + 1] = popped[i] end
            if call('EXISTS', name .. ':' .. first) == 0 then call('ZREM', name .. ':levels', first) end
          end
          return keys
        end,
        list = function(name, count)
          local keys = {}
          for _, priority in ipairs(call('ZRANGE', name .. ':levels', 0, -1)) do
            if #keys >= count then break end
            local more = call('ZRANGE', name .. ':' .. priority, 0, count - #keys - 1)
            for _, key in ipairs(more) do keys[#keys + 1] = key end
          end
          return keys
        end,
        drop = function(name)
          for _, priority in ipairs(call('ZRANGE', name .. ':levels', 0, -1)) do
            call('UNLINK', name .. ':' .. priority)
          end
          call('UNLINK', name .. ':levels')
        end,
      }
    end

    local function headStart(priority)
      return kind == 'aging' and math.floor((clamp(priority) - min) * point + 0.5) or 0
    end
    return {
      -- On a tie, the key that became ready first goes first: the score of the other one is moved on.
      add = function(name, key, place, priority)
        local score = place - headStart(priority)
        if q.moving and call('ZSCORE', name, key) then return false end
        if kind == 'aging' then score = firstFree(name, score) end
        return call('ZADD', name, 'NX', score, key) == 1
      end,
      raise = function(name, key, from, to)
        local more = headStart(to) - headStart(from)
        local score = more > 0 and call('ZSCORE', name, key)
        if score then call('ZADD', name, firstFree(name, score - more), key) end
      end,
      pop = function(name, count)
        local popped = call('ZPOPMIN', name, count)
        local keys = {}
        for i = 1, #popped, 2 do keys[#keys + 1] = popped[i] end
        return keys
      end,
      list = function(name, count) return count > 0 and call('ZRANGE', name, 0, count - 1) or {} end,
      drop = function(name) call('UNLINK', name) end,
    }
  end

  if plan[1] ~= 'fair' then
    local lines = makeLines(plan)
    local line = base .. 'line'
    local function size() return call('ZCARD', q.ready) end
    return {
      add = function(...) lines.add(line, ...) end,
      raise = function(...) lines.raise(line, ...) end,
      take = function(count) return lines.pop(line, count), {} end,
      admits = function() return true end,
      admit = function() return true end,
      done = function() end,
      advance = function() end,
      nextChange = function() end,
      save = function() end,
      ready = size,
      size = size,
      list = function(limit) return lines.list(line, limit) end,
      drop = function() lines.drop(line) end,
    }
  end

  -- Start-time fair queuing, as in memory: see disciplines/fair_order.ts, whose names this code uses. Times are in
  -- microseconds.
  local _, separator, within, limit, interval, burst, byTime, weights = unpack(plan)
  local lines = makeLines(within)
  local MAX_IDLE = 10000
  local MAX_COUNT = 100 -- maximum weight of the past in a mean, in values
  local maxPerGroup = limit > 0 and limit or math.huge
  local groups, state = base .. 'groups', base .. 'state'
  local turns = base .. 'turns'       -- zset: number of the turn and group, by the start of the turn
  local changing = base .. 'changing' -- zset: group with keys that are blocked until a time, by that time
  local kept = base .. 'kept'         -- zset: idle group that must be remembered until a time, by that time
  local idle = base .. 'idle'         -- zset: idle group, by the end of its last turn
  local blocked = base .. 'blocked'   -- set of groups with blocked keys

  local numbers = call('HMGET', state, 'now', 'latest', 'ready', 'size', 'turning', 'turn', 'mean', 'count')
  for i = 1, 8 do numbers[i] = tonumber(numbers[i] or i == 7 and 1000 or 0) end
  local virtual, latest, readySum, sizeSum, turning, turn, mean, count = unpack(numbers)
  local clock = now -- time at which groups are settled
  local changed = {} -- groups that this script has changed, by name
  local known = {}   -- groups that this script has read, by name

  local function groupOf(key)
    local at = string.find(key, separator, 1, true)
    return at and string.sub(key, 1, at - 1) or key
  end

  local function lineOfGroup(name)
    return base .. 'line:' .. name
  end

  local function load(name)
    local group = known[name]
    if group then return group end
    local stored = call('HGET', groups, name)
    if not stored then return nil end
    local f = {}
    for word in string.gmatch(stored, '%S+') do
      f[#f + 1] = word
      if #f == 13 then break end
    end
    local probe = string.match(stored, ' =(.*)$')
    group = {
      name = name, start = tonumber(f[1]), turn = f[2], finish = tonumber(f[3]), processing = tonumber(f[4]),
      ready = tonumber(f[5]), size = tonumber(f[6]), pause = tonumber(f[7]), fullAt = tonumber(f[8]),
      mean = tonumber(f[9]), count = tonumber(f[10]), set = f[11], number = tonumber(f[12]), cost = tonumber(f[13]),
      probe = probe,
    }
    if group.turn == '-' then group.turn = nil end
    group.isBlocked = group.ready < group.size
    known[name] = group
    return group
  end

  local function groupNamed(name)
    local group = load(name)
    if group then return group end
    local weight = weights ~= 0 and tonumber(call('HGET', base .. 'weights', name) or 1) or 1
    group = {
      name = name, start = 0, finish = 0, processing = 0, ready = 0, size = 0, fullAt = 0, mean = 0, count = 0,
      set = '-', number = 0, cost = 1 / weight,
    }
    known[name] = group
    return group
  end

  local function allowedAt(group)
    local allowed = math.huge
    if interval > 0 then
      allowed = math.max(math.floor(burst - math.max(group.fullAt - clock, 0) / interval + 1e-9), 0)
    end
    if not group.pause then return allowed end
    return (group.pause > clock or group.probe) and 0 or math.min(allowed, 1)
  end

  local function rateAllowsMoreAt(group)
    local allowed = math.max(math.floor(burst - math.max(group.fullAt - clock, 0) / interval + 1e-9), 0)
    if allowed == burst then return math.huge, allowed end
    return math.ceil(group.fullAt - (burst - allowed - 1) * interval), allowed
  end

  local function allowsMoreAt(group)
    local rateAt, allowed = math.huge, math.huge
    if interval > 0 then rateAt, allowed = rateAllowsMoreAt(group) end
    if not group.pause then return rateAt end
    local token = allowed == 0 and rateAt or clock
    if group.pause > clock then return math.max(group.pause, token) end
    return not group.probe and token > clock and token or math.huge
  end

  local function setTurn(group, start)
    turn = turn + 1
    group.start, group.turn = start, string.format('%014.0f', turn)
    turning = turning + 1
    call('ZADD', turns, start, group.turn .. group.name)
  end

  local function removeTurn(group)
    call('ZREM', turns, group.turn .. group.name)
    group.turn = nil
    turning = turning - 1
  end

  -- Returns a time before which no group changes with time.
  local first
  local function firstChange()
    first = first or tonumber(call('ZRANGE', changing, 0, 0, 'WITHSCORES')[2]) or math.huge
    return first
  end

  local sets = { c = changing, k = kept, i = idle }

  local function put(group, set, number)
    if group.set == set and (set == '-' or group.number == number) then return end
    if group.set ~= '-' and group.set ~= set then call('ZREM', sets[group.set], group.name) end
    group.set, group.number = set, number
    if set == 'c' and first then first = math.min(first, number) end
    if set == 'c' then number = firstFree(changing, number) end -- on a tie, the group that was blocked first goes first
    if set ~= '-' then call('ZADD', sets[set], number, group.name) end
  end

  -- Moves a group to the sets that it belongs in. Called after each change to the group.
  local function settle(group, hadTurn)
    changed[group.name] = group
    local isTimed = interval > 0 or group.pause
    local ready = math.max(0, math.min(group.size, maxPerGroup - group.processing))
    local changesAt = math.huge
    if isTimed then
      local allowed = allowedAt(group)
      if allowed < ready then
        ready = allowed
        changesAt = allowsMoreAt(group)
      end
    end
    readySum = readySum + ready - group.ready
    if (ready < group.size) ~= (group.isBlocked or false) then
      group.isBlocked = ready < group.size
      call(group.isBlocked and 'SADD' or 'SREM', blocked, group.name)
    end
    group.ready = ready
    if ready == 0 then
      if group.turn then removeTurn(group) end
    elseif hadTurn or not group.turn then
      if group.turn then removeTurn(group) end
      setTurn(group, math.max(hadTurn and byTime == 1 and group.start or virtual, group.finish))
    end
    if group.size > 0 or group.processing > 0 then
      if changesAt < math.huge then put(group, 'c', changesAt) else put(group, '-', 0) end
    else
      local until_ = math.max(interval > 0 and group.fullAt or 0, group.pause or 0)
      if until_ > clock then put(group, 'k', until_)
      else put(group, 'i', group.pause and 1e300 or group.finish) end
    end
  end

  local function costOf(group)
    if byTime ~= 1 then return group.cost end
    return group.cost * (group.count > 0 and group.mean or mean)
  end

  -- Hands out a key of a group whose turn it is. Returns the note for the key's holder: whether the group counts the
  -- key as processing, and the time that was charged.
  local function handOut(group, key)
    local cost = costOf(group)
    local note
    if interval > 0 then group.fullAt = math.max(group.fullAt, clock) + interval end
    if group.pause then group.probe = key end
    if limit > 0 or byTime == 1 or group.pause then
      group.processing = group.processing + 1
      note = byTime == 1 and string.format('%.0f', cost / group.cost) or 'n'
    end
    group.finish = group.start + cost
    latest = math.max(latest, group.finish)
    virtual = math.max(virtual, group.start)
    return note
  end

  local function endTurn(group)
    settle(group, true)
    if turning == 0 then virtual = latest end
  end

  local function settleDue(set, letter)
    local due = call('ZRANGE', set, '-inf', clock, 'BYSCORE', 'LIMIT', 0, BATCH)
    for _, name in ipairs(due) do
      local group = load(name)
      if group then
        call('ZREM', set, name)
        group.set = '-'
        settle(group)
      else call('ZREM', set, name) end
    end
    return #due
  end

  local function forget(name)
    known[name], changed[name] = nil, nil
    call('ZREM', idle, name)
    call('HDEL', groups, name)
  end

  return {
    add = function(key, place, priority)
      local group = groupNamed(groupOf(key))
      if not lines.add(lineOfGroup(group.name), key, place, priority) then return end
      group.size = group.size + 1
      sizeSum = sizeSum + 1
      settle(group)
    end,
    raise = function(key, from, to)
      lines.raise(lineOfGroup(groupOf(key)), key, from, to)
    end,
    take = function(count)
      local keys, notes = {}, {}
      while #keys < count do
        local top = call('ZPOPMIN', turns)[1]
        if not top then break end
        local group = load(string.sub(top, 15))
        group.turn = nil
        turning = turning - 1
        local key = lines.pop(lineOfGroup(group.name), 1)[1]
        group.size = group.size - 1
        sizeSum = sizeSum - 1
        keys[#keys + 1] = key
        notes[#keys] = handOut(group, key)
        endTurn(group)
      end
      return keys, notes
    end,
    -- Returns whether the group of a key may have another key.
    admits = function(key)
      local group = groupNamed(groupOf(key))
      return group.processing < maxPerGroup and allowedAt(group) >= 1
    end,
    -- Hands out a key that is in no line of the order.
    admit = function(key)
      local group = groupNamed(groupOf(key))
      if not group.turn then group.start = math.max(virtual, group.finish) end
      local note = handOut(group, key)
      endTurn(group)
      return true, note
    end,
    done = function(key, token, note)
      local group = load(groupOf(key))
      if not group or not note then return end
      group.processing = math.max(group.processing - 1, 0)
      if group.probe == key then group.pause, group.probe = nil, nil end
      local charged = tonumber(note)
      if charged and byTime == 1 then
        local duration = math.max(clock - token, 0)
        local function add(count, mean)
          count = math.min(count + 1, MAX_COUNT)
          return count, mean + (duration - mean) / count
        end
        group.count, group.mean = add(group.count, group.mean)
        count, mean = add(count, mean)
        local more = group.cost * (duration - charged)
        group.finish = group.finish + more
        latest = math.max(latest, group.finish)
        if more ~= 0 and group.turn then
          local start = group.start + more
          removeTurn(group)
          setTurn(group, start)
        end
      end
      settle(group)
    end,
    -- Counts a key as processing that was handed out before this order was in force.
    adopt = function(key)
      if limit == 0 then return nil end
      local group = groupNamed(groupOf(key))
      group.processing = group.processing + 1
      settle(group)
      return 'n'
    end,
    pause = function(name, until_)
      local group = groupNamed(name)
      if not group.pause or group.pause < until_ then group.pause, group.probe = until_, nil end
      settle(group)
    end,
    resume = function(name)
      local group = load(name)
      if not group or not group.pause then return end
      group.pause, group.probe = nil, nil
      settle(group)
    end,
    -- Unblocks the keys whose time has come. Called with the deadline of each due key before the key is made ready, as
    -- if the script had run at that time, and with the current time after that.
    advance = function(time)
      clock = time
      if firstChange() > clock then return end
      settleDue(changing)
      first = nil
    end,
    nextChange = function()
      local at = firstChange()
      return at < math.huge and at or nil
    end,
    ready = function() return readySum end,
    size = function() return sizeSum end,
    groupOf = groupOf,
    -- Simulates the next turns.
    list = function(most)
      local heap, keys = {}, {}
      local function before(a, b) return a.start < b.start or a.start == b.start and a.turn < b.turn end
      local function push(entry)
        local i = #heap + 1
        while i > 1 and before(entry, heap[math.floor(i / 2)]) do
          heap[i] = heap[math.floor(i / 2)]
          i = math.floor(i / 2)
        end
        heap[i] = entry
      end
      local function pop()
        local top, last = heap[1], table.remove(heap)
        local i, size = 1, #heap
        if size == 0 then return top end
        while 2 * i <= size do
          local child = 2 * i
          if child < size and before(heap[child + 1], heap[child]) then child = child + 1 end
          if not before(heap[child], last) then break end
          heap[i] = heap[child]
          i = child
        end
        heap[i] = last
        return top
      end
      local nth = turn
      for _, member in ipairs(most > 0 and call('ZRANGE', turns, 0, most - 1) or {}) do
        local group = load(string.sub(member, 15))
        push({ group = group, start = group.start, turn = tonumber(group.turn), given = 0, keys = {} })
      end
      while #keys < most and #heap > 0 do
        local entry = pop()
        local group = entry.group
        if entry.given == #entry.keys then
          entry.keys = lines.list(lineOfGroup(group.name), math.min(2 * entry.given + 1, group.ready, most))
        end
        entry.given = entry.given + 1
        keys[#keys + 1] = entry.keys[entry.given]
        nth = nth + 1
        entry.start, entry.turn = entry.start + costOf(group), nth
        if entry.given < group.ready then push(entry) end
      end
      return keys
    end,
    -- Returns the blocked groups: name, reason, number of blocked keys, and the time when this may change.
    listBlocked = function(most)
      local found = {}
      for _, name in ipairs(most > 0 and call('SRANDMEMBER', blocked, most) or {}) do
        local group = load(name)
        if group then
          local reason = 'limit'
          local at = nil
          if group.pause then
            reason = group.pause > clock and 'paused' or 'probing'
            at = group.pause > clock and group.pause or nil
          elseif interval > 0 and allowedAt(group) <= group.ready then
            reason = 'rate'
            at = allowsMoreAt(group)
          end
          found[#found + 1] = { name, reason, group.size - group.ready, at }
        end
      end
      return found
    end,
    save = function()
      if next(changed) == nil then return end
      settleDue(kept)
      local over = call('ZRANGE', idle, '-inf', virtual, 'BYSCORE', 'LIMIT', 0, BATCH)
      for _, name in ipairs(over) do forget(name) end
      local excess = #over == 0 and call('ZCARD', idle) - MAX_IDLE or 0
      local first = excess > 0 and call('ZRANGE', idle, 0, math.min(excess, BATCH) - 1) or {}
      for _, name in ipairs(first) do forget(name) end
      local texts = {}
      for name, group in pairs(changed) do
        texts[#texts + 1] = name
        texts[#texts + 1] = string.format(
          '%.17g %s %.17g %.0f %.0f %.0f %s %.17g %.17g %.0f %s %.17g %.17g%s', group.start, group.turn or '-',
          group.finish, group.processing, group.ready, group.size, group.pause and whole(group.pause) or '-',
          group.fullAt, group.mean, group.count, group.set, group.number, group.cost,
          group.probe and ' =' .. group.probe or ''
        )
      end
      for first = 1, #texts, 1000 do
        call('HSET', groups, unpack(texts, first, math.min(first + 999, #texts)))
      end
      if #over > 0 and call('EXISTS', groups) == 0 then virtual, latest = 0, 0 end
      call('HSET', state, 'now', virtual, 'latest', latest, 'ready', readySum, 'size', sizeSum, 'turning', turning,
        'turn', turn, 'mean', mean, 'count', count)
    end,
    -- Removes some of the order's keys on the server. Returns whether keys are left.
    drop = function()
      call('UNLINK', turns, changing, kept, idle, blocked, state, base .. 'weights')
      for _, name in ipairs(call('HRANDFIELD', groups, BATCH)) do
        lines.drop(lineOfGroup(name))
        call('HDEL', groups, name)
      end
      return call('EXISTS', groups) == 1
    end,
  }
end
`;

/** Lua for scripts that move ready keys to the order that is in force. */
export const moveSome = /* lua */ `
-- Adds some of the ready keys to the order that is in force, and removes some keys of former orders. A large queue
-- needs several calls.
do
  local isDone = true
  if q.moving ~= 'done' then
    local ready = redis.call('ZRANGE', q.ready, q.moving, '+inf', 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
    for i = 1, #ready, 2 do q.ordered().add(ready[i], tonumber(ready[i + 1]), q.ranks().get(q.priorities, ready[i])) end
    isDone = #ready < 2 * BATCH
    local last = ready[#ready]
    if isDone then q.moving = 'done' else q.moving = last == q.moving and '(' .. last or last end
  end
  local past = redis.call('HRANDFIELD', q.past_orders, 1, 'WITHVALUES')
  if past[1] then
    isDone = false
    local isLeft = q.ordered(past[2], q.orders .. past[1] .. ':').drop()
    if not isLeft then redis.call('HDEL', q.past_orders, past[1]) end
  end
  if isDone then redis.call('HDEL', q.meta, 'moving') else redis.call('HSET', q.meta, 'moving', q.moving) end
end
`;
