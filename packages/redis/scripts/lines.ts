import { inParts } from "./in_parts.ts";

/**
 * Orders of ready keys on the server that don't depend on groups, as a Lua function for other scripts.
 * `q.makeLines(plan, line)` returns the functions of such an order. An order has its keys in a line, which is a sorted
 * set, or a sorted set for each priority. The functions use the given line; a fair order has a line for each group, and
 * names it as the last argument.
 *
 * - `["fifo"]`: the score of a key is the time when it became ready.
 * - `["aging", MIN, MAX, POINT]`: the score of a key is the time when it became ready, minus POINT microseconds for
 *   each point of its priority above MIN.
 * - `["strict", MIN, MAX]`: a line has a sorted set for each priority, and the sorted set `…:levels` of the priorities.
 *   The score of a key is the time when it got its priority.
 *
 * Added keys are kept in Lua until another function needs their line, or until `save`, because a call for several keys
 * is faster than a call for each key.
 *
 * @module
 */
export const lines = /* lua */ `
function q.makeLines(plan, line)
  local call = redis.call
  local kind, min, max, point = plan[1], plan[2], plan[3], plan[4]
  local waiting = {} -- by line: keys that are not stored yet, each after its score

  local function wait(name, score, key)
    local list = waiting[name]
    if list then
      list[#list + 1] = score
      list[#list + 1] = key
    else
      waiting[name] = { score, key }
    end
  end

  local function save()
    for name, list in pairs(waiting) do
      ${inParts("list", (part) => `call('ZADD', name, 'NX', ${part})`)}
      waiting[name] = nil
    end
  end

  -- Returns the score of a key in a sorted set, or nil. A key that is added has no score, unless keys are being moved
  -- to another order.
  local function scoreIn(set, key)
    save()
    return call('ZSCORE', set, key) or nil
  end

  local function placesOf(keys)
    return #keys > 0 and call('ZMSCORE', q.ready, unpack(keys)) or {}
  end

  local function size()
    return call('ZCARD', q.ready)
  end

  if kind == 'fifo' then
    return {
      save = save,
      add = function(key, place, _, name)
        if q.moving and scoreIn(name, key) then return false end
        wait(name, place, key)
        return true
      end,
      raise = function() end,
      take = function(count, name)
        save()
        local popped = call('ZPOPMIN', name, count)
        local keys, places = {}, {}
        for i = 1, #popped, 2 do
          keys[#keys + 1] = popped[i]
          places[#keys] = popped[i + 1]
        end
        return keys, places
      end,
      list = function(count, name)
        save()
        return count > 0 and call('ZRANGE', name, 0, count - 1) or {}
      end,
      drop = function(name) call('UNLINK', name) end,
    }
  end

  local function clamp(priority)
    return priority > max and max or priority > min and priority or min
  end

  if kind == 'strict' then
    local known = {} -- sorted sets that this script has added keys to

    local function textOf(priority)
      return string.format('%.17g', clamp(priority))
    end

    local function add(key, place, priority, name)
      name = name or line
      local text = textOf(priority)
      local set = name .. ':' .. text
      if q.moving and scoreIn(set, key) then return false end
      if not known[set] then
        known[set] = true
        wait(name .. ':levels', -clamp(priority), text)
      end
      wait(set, place, key)
      return true
    end

    local function removeIfEmpty(name, text)
      if call('EXISTS', name .. ':' .. text) == 1 then return end
      call('ZREM', name .. ':levels', text)
      known[name .. ':' .. text] = nil
    end

    return {
      save = save,
      add = add,
      raise = function(key, from, to, name)
        if clamp(to) <= clamp(from) then return end
        save()
        name = name or line
        if call('ZREM', name .. ':' .. textOf(from), key) == 0 then return end
        removeIfEmpty(name, textOf(from))
        add(key, q.tick(), to, name)
      end,
      take = function(count, name)
        save()
        name = name or line
        local keys = {}
        while #keys < count do
          local first = call('ZRANGE', name .. ':levels', 0, 0)[1]
          if not first then break end
          local popped = call('ZPOPMIN', name .. ':' .. first, count - #keys)
          for i = 1, #popped, 2 do keys[#keys + 1] = popped[i] end
          removeIfEmpty(name, first)
        end
        return keys, placesOf(keys)
      end,
      ready = size,
      size = size,
      list = function(count, name)
        save()
        name = name or line
        local keys = {}
        for _, text in ipairs(call('ZRANGE', name .. ':levels', 0, -1)) do
          if #keys >= count then break end
          for _, key in ipairs(call('ZRANGE', name .. ':' .. text, 0, count - #keys - 1)) do keys[#keys + 1] = key end
        end
        return keys
      end,
      drop = function(name)
        name = name or line
        for _, text in ipairs(call('ZRANGE', name .. ':levels', 0, -1)) do call('UNLINK', name .. ':' .. text) end
        call('UNLINK', name .. ':levels')
      end,
    }
  end

  local function headStart(priority)
    return math.floor((clamp(priority) - min) * point + 0.5)
  end

  -- Returns the first keys of a line and their places. If keys have equal scores, the one that became ready first goes
  -- first, but the sorted set has them by name. The third value is true if the keys may not be the first in the set.
  local function first(count, name)
    save()
    local found = call('ZRANGE', name, 0, count, 'WITHSCORES')
    local last = math.min(2 * count, #found)
    local isTied = false
    for i = 4, #found, 2 do isTied = isTied or found[i] == found[i - 2] end
    if isTied then found = call('ZRANGE', name, '-inf', found[last], 'BYSCORE', 'WITHSCORES') end
    local keys = {}
    for i = 1, isTied and #found or last, 2 do keys[#keys + 1] = found[i] end
    local places = placesOf(keys)
    if not isTied then return keys, places, false end

    local order = {}
    for i, key in ipairs(keys) do order[i] = { key, places[i], tonumber(found[2 * i]), tonumber(places[i]) } end
    table.sort(order, function(a, b) return a[3] < b[3] or a[3] == b[3] and a[4] < b[4] end)
    keys, places = {}, {}
    for i = 1, last / 2 do keys[i], places[i] = order[i][1], order[i][2] end
    return keys, places, true
  end

  return {
    save = save,
    add = function(key, place, priority, name)
      name = name or line
      if q.moving and scoreIn(name, key) then return false end
      wait(name, place - headStart(priority), key)
      return true
    end,
    raise = function(key, from, to, name)
      name = name or line
      local more = headStart(to) - headStart(from)
      local score = more > 0 and scoreIn(name, key)
      if score then call('ZADD', name, score - more, key) end
    end,
    take = function(count, name)
      name = name or line
      local keys, places, isTied = first(count, name)
      if isTied then call('ZREM', name, unpack(keys))
      elseif #keys > 0 then call('ZREMRANGEBYRANK', name, 0, #keys - 1) end
      return keys, places
    end,
    ready = size,
    size = size,
    list = function(count, name)
      if count == 0 then return {} end
      return (first(count, name or line))
    end,
    drop = function(name) call('UNLINK', name or line) end,
  }
end
`;
