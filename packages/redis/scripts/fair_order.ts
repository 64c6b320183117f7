import { inParts } from "./in_parts.ts";

/**
 * Start-time fair queuing on the server, as in memory, as a Lua function for other scripts: see
 * disciplines/fair_order.ts of the core, whose names this code uses. Times are in microseconds.
 *
 * The plan is `["fair", SEPARATOR, WITHIN, LIMIT, INTERVAL, BURST, BY_TIME, WEIGHTS]`: a line for each group, in the
 * order WITHIN, which is a plan from `lines.ts`. LIMIT is the maximum number of processing keys of a group, and
 * INTERVAL the number of microseconds between two hand-outs of a group after BURST of them. 0 stands for no limit and
 * no rate. WEIGHTS is 0 if all weights are 1.
 *
 * The groups that a script uses are kept in Lua until `save`.
 *
 * @module
 */
export const fairOrder = /* lua */ `
function q.fairOrder(plan, base)
  local call = redis.call
  local _, separator, within, limit, interval, burst, byTime, weights = unpack(plan)
  local lines = q.makeLines(within)
  local MAX_IDLE = 10000
  local MAX_COUNT = 100 -- maximum weight of the past in a mean, in values
  local NUMBERS = '>ddddddddddd'   -- form of q.fair
  local GROUP = '>c1dddddddddddd'  -- form of a group in the hash; the key of its probe follows
  local GROUP_LENGTH = 97
  local maxPerGroup = limit > 0 and limit or math.huge
  local groups = base .. 'groups'
  local turns = base .. 'turns'     -- zset: number of the turn and group, by the start of the turn
  local blocked = base .. 'blocked' -- set of groups with blocked keys
  -- Sorted sets of groups. A group is in one of them at most.
  local sets = {
    c = base .. 'changing', -- group with keys that are blocked until a time, by that time
    k = base .. 'kept',     -- idle group that must be remembered until a time, by that time
    i = base .. 'idle',     -- idle group, by the end of its last turn
  }

  local virtual, latest, readySum, sizeSum, turning, turn, mean, count = 0, 0, 0, 0, 0, 0, 1000, 0
  local sizes = { c = 0, k = 0, i = 0 } -- of the sorted sets
  if q.fair then
    sizes.c, sizes.k, sizes.i, virtual, latest, readySum, sizeSum, turning, turn, mean, count =
      struct.unpack(NUMBERS, q.fair)
  end
  local clock = now  -- time at which groups are settled
  local changed = {} -- groups that this script has changed, by name
  local known = {}   -- groups that this script has read, by name; false for those that don't exist

  local function groupOf(key)
    local at = string.find(key, separator, 1, true)
    return at and string.sub(key, 1, at - 1) or key
  end

  local function lineOfGroup(name)
    return base .. 'line:' .. name
  end

  local function read(name, stored)
    if not stored then
      known[name] = false
      return nil
    end
    local group = { name = name }
    group.set, group.start, group.turn, group.finish, group.processing, group.ready, group.size, group.pause,
      group.fullAt, group.mean, group.count, group.number, group.cost = struct.unpack(GROUP, stored)
    if group.turn < 0 then group.turn = nil end
    if group.pause < 0 then group.pause = nil end
    if #stored > GROUP_LENGTH then group.probe = string.sub(stored, GROUP_LENGTH + 1) end
    group.stored = group.turn
    group.isBlocked = group.ready < group.size
    known[name] = group
    return group
  end

  local function write(group)
    return struct.pack(GROUP, group.set, group.start, group.turn or -1, group.finish, group.processing, group.ready,
      group.size, group.pause or -1, group.fullAt, group.mean, group.count, group.number, group.cost) ..
      (group.probe or '')
  end

  local function load(name)
    local group = known[name]
    if group == nil then return read(name, call('HGET', groups, name)) end
    return group or nil
  end

  local function loadAll(names)
    local missing = {}
    for _, name in ipairs(names) do
      if known[name] == nil then missing[#missing + 1] = name end
    end
    ${
  inParts("missing", (part) => /* lua */ `
      local stored = call('HMGET', groups, ${part})
      for i = 1, #stored do read(missing[first + i - 1], stored[i]) end`)
}
  end

  local function groupNamed(name)
    local group = load(name)
    if group then return group end
    local weight = weights ~= 0 and tonumber(call('HGET', base .. 'weights', name) or 1) or 1
    group = {
      name = name, start = 0, finish = 0, processing = 0, ready = 0, size = 0, fullAt = 0, mean = 0, count = 0,
      set = '-', number = 0, cost = 1 / weight, isBlocked = false,
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
    group.start, group.turn = start, turn
    turning = turning + 1
  end

  local function removeTurn(group)
    group.turn = nil
    turning = turning - 1
  end

  local function turnMember(number, name)
    return string.format('%014.0f', number) .. name
  end

  -- Stores the turns of groups. Each new turn has a new number.
  local function saveTurns()
    local over, new = {}, {}
    for name, group in pairs(changed) do
      if group.turn ~= group.stored then
        if group.stored then over[#over + 1] = turnMember(group.stored, name) end
        if group.turn then
          new[#new + 1] = group.start
          new[#new + 1] = turnMember(group.turn, name)
        end
        group.stored = group.turn
      end
    end
    ${inParts("over", (part) => `call('ZREM', turns, ${part})`)}
    ${inParts("new", (part) => `call('ZADD', turns, ${part})`)}
  end

  -- Returns the groups whose turns are next, as a heap.
  local function nextTurns(most)
    saveTurns()
    local names = most > 0 and call('ZRANGE', turns, 0, most - 1) or {}
    for i, member in ipairs(names) do names[i] = string.sub(member, 15) end
    loadAll(names)
    local heap = {}
    for i, name in ipairs(names) do heap[i] = known[name] end
    return heap
  end

  local function isBefore(a, b)
    return a.start < b.start or a.start == b.start and a.turn < b.turn
  end

  local function push(heap, entry)
    local i = #heap + 1
    while i > 1 do
      local parent = math.floor(i / 2)
      if not isBefore(entry, heap[parent]) then break end
      heap[i] = heap[parent]
      i = parent
    end
    heap[i] = entry
  end

  local function pop(heap)
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

  -- Returns a time before which no group changes with time.
  local first
  local function firstChange()
    if sizes.c == 0 then return math.huge end
    first = first or tonumber(call('ZRANGE', sets.c, 0, 0, 'WITHSCORES')[2])
    return first
  end

  local function put(group, set, number)
    if group.set == set and (set == '-' or group.number == number) then return end
    if group.set ~= set then
      if group.set ~= '-' then
        call('ZREM', sets[group.set], group.name)
        sizes[group.set] = sizes[group.set] - 1
      end
      if set ~= '-' then sizes[set] = sizes[set] + 1 end
      if set == 'c' then q.isChanging = true end
    end
    group.set, group.number = set, number
    if set == 'c' then
      if first then first = math.min(first, number) end
      number = q.firstFree(sets.c, number) -- on a tie, the group that was blocked first goes first
    end
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
    if (ready < group.size) ~= group.isBlocked then
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
  -- key as processing, and the time that was charged. If the key is not known yet, it is the probe's later.
  local function handOut(group, key)
    local cost = costOf(group)
    local note
    if interval > 0 then group.fullAt = math.max(group.fullAt, clock) + interval end
    if group.pause then group.probe = key or '' end
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

  local function settleDue(letter)
    local due = call('ZRANGE', sets[letter], '-inf', clock, 'BYSCORE', 'LIMIT', 0, BATCH)
    if #due == 0 then return end
    call('ZREM', sets[letter], unpack(due))
    sizes[letter] = sizes[letter] - #due
    loadAll(due)
    for _, name in ipairs(due) do
      local group = known[name]
      if group then
        group.set = '-'
        settle(group)
      end
    end
  end

  local function forgetAll(names)
    if #names == 0 then return end
    for _, name in ipairs(names) do known[name], changed[name] = false, nil end
    call('ZREM', sets.i, unpack(names))
    sizes.i = sizes.i - #names
    call('HDEL', groups, unpack(names))
  end

  -- Forgets idle groups whose last turn is over, or some of them if there are too many.
  local function forgetIdle()
    if sizes.i == 0 then return end
    local over = call('ZRANGE', sets.i, '-inf', virtual, 'BYSCORE', 'LIMIT', 0, BATCH)
    local excess = #over == 0 and sizes.i - MAX_IDLE or 0
    if excess > 0 then over = call('ZRANGE', sets.i, 0, math.min(excess, BATCH) - 1) end
    forgetAll(over)
    return #over > 0
  end

  return {
    -- Reads the groups of keys that will be added.
    expect = function(keys)
      local names, seen = {}, {}
      for _, key in ipairs(keys) do
        local name = groupOf(key)
        if not seen[name] then
          seen[name] = true
          names[#names + 1] = name
        end
      end
      loadAll(names)
    end,
    add = function(key, place, priority)
      local group = groupNamed(groupOf(key))
      if not lines.add(key, place, priority, lineOfGroup(group.name)) then return end
      group.size = group.size + 1
      sizeSum = sizeSum + 1
      settle(group)
    end,
    raise = function(key, from, to)
      lines.raise(key, from, to, lineOfGroup(groupOf(key)))
    end,
    take = function(most)
      local heap = nextTurns(most)
      local picked, notes, counts = {}, {}, {}
      while #picked < most and #heap > 0 do
        local group = pop(heap)
        removeTurn(group)
        group.size = group.size - 1
        sizeSum = sizeSum - 1
        picked[#picked + 1] = group
        counts[group] = (counts[group] or 0) + 1
        notes[#picked] = handOut(group)
        endTurn(group)
        if group.turn then push(heap, group) end
      end
      local keys, places, of = {}, {}, {}
      for i, group in ipairs(picked) do
        local own = of[group]
        if not own then
          own = { at = 0 }
          own.keys, own.places = lines.take(counts[group], lineOfGroup(group.name))
          of[group] = own
        end
        own.at = own.at + 1
        keys[i], places[i] = own.keys[own.at], own.places[own.at]
        if group.probe == '' then group.probe = keys[i] end
      end
      return keys, places, notes
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
      return note
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
      settleDue('c')
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
      local heap, keys, number = nextTurns(most), {}, turn
      for i, group in ipairs(heap) do
        heap[i] = { group = group, start = group.start, turn = group.turn, given = 0, keys = {} }
      end
      while #keys < most and #heap > 0 do
        local entry = pop(heap)
        local group = entry.group
        if entry.given == #entry.keys then
          entry.keys = lines.list(math.min(2 * entry.given + 1, group.ready, most), lineOfGroup(group.name))
        end
        entry.given = entry.given + 1
        keys[#keys + 1] = entry.keys[entry.given]
        number = number + 1
        entry.start, entry.turn = entry.start + costOf(group), number
        if entry.given < group.ready then push(heap, entry) end
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
    -- Stores the groups and returns the new q.fair, if anything has changed.
    save = function()
      lines.save()
      if next(changed) == nil then return nil end
      if sizes.k > 0 then settleDue('k') end
      saveTurns()
      local hasForgotten = forgetIdle()
      local stored = {}
      for name, group in pairs(changed) do
        stored[#stored + 1] = name
        stored[#stored + 1] = write(group)
      end
      ${inParts("stored", (part) => `call('HSET', groups, ${part})`)}
      if hasForgotten and call('EXISTS', groups) == 0 then virtual, latest = 0, 0 end
      return struct.pack(NUMBERS, sizes.c, sizes.k, sizes.i, virtual, latest, readySum, sizeSum, turning, turn,
        mean, count)
    end,
    -- Removes some of the order's keys on the server. Returns whether keys are left.
    drop = function()
      call('UNLINK', turns, sets.c, sets.k, sets.i, blocked, base .. 'weights')
      for _, name in ipairs(call('HRANDFIELD', groups, BATCH)) do
        lines.drop(lineOfGroup(name))
        call('HDEL', groups, name)
      end
      return call('EXISTS', groups) == 1
    end,
  }
end
`;
