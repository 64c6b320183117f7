-- Beginning of every script of a shared throttle: the names of the throttle's keys, and its time. A throttle has keys
-- of its own, because queues with other hash tags share it.
local prefix = string.sub(KEYS[1], 1, -6) -- without "state"
local q = {
  state = KEYS[1],              -- hash: version of the stored data, times, and number of permits in use
  permits = prefix .. 'permits', -- hash: process to its number of permits, its latest call, and the reply to this call
  leases = prefix .. 'leases',   -- zset: process, by the end of its lease; an odd end includes the grace of a gap
  line = prefix .. 'line',       -- zset: process that waits for a permit, by the time since when it waits
  called = prefix .. 'called',   -- zset: process for which a permit is reserved, by the time of the message to it
  takers = prefix .. 'takers',   -- zset: process that waits for a token, by the time since when it waits
  turns = prefix .. 'turns',     -- zset: process that waits for a token, by the time at which it loses its place
  channel = prefix .. 'turn:',   -- channel of each process, for messages that it can have a permit
}
local BATCH = 200        -- maximum number of lost processes that one call handles
local EXPIRE_AFTER = 2592000000000 -- µs without calls after which the keys of a throttle expire by default

local function whole(number)
  return string.format('%.0f', number)
end

local clock = redis.call('TIME')
local time = clock[1] * 1000000 + clock[2]
local stored = redis.call('HMGET', q.state, 'format', 'last', 'offset', 'heard', 'used')
if stored[1] and stored[1] ~= FORMAT then
  return redis.error_reply('WQFORMAT Cannot use throttle ' .. string.sub(prefix, 11, -2) ..
    ': the server has it in format ' .. stored[1] .. ', and this release uses format ' .. FORMAT ..
    '. Stop the processes of the release that stored it, then delete its keys (' .. prefix .. '*), or use another name')
end
if not stored[1] then redis.call('HSET', q.state, 'format', FORMAT) end

-- Time of the throttle: see steady_time.lua.
local last, offset = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
--#include steady_time
local heard, used = tonumber(stored[4]) or 0, tonumber(stored[5]) or 0

-- Stores the throttle's state and returns the reply of the script. The script sets q.written, the keys that it may
-- have written. Without another call, they expire after q.expireAfter µs, when nothing is in force any longer.
function q.reply(value)
  redis.call('HSET', q.state, 'last', whole(now), 'heard', whole(heard), 'used', whole(used))
  local seconds = math.ceil((q.expireAfter + offset) / 1000000)
  for _, key in ipairs(q.written) do redis.call('EXPIRE', key, seconds) end
  return value
end
