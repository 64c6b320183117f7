import { lists, payloads } from "./snapshot.ts";
import { oldest } from "./stats.ts";

/**
 * Shows what is in the queue, and how it is. ARGV: as of `snapshot`. Replies what `snapshot` does, with the payloads of keys that
 * fail behind those of the others; then whether it is paused; how many keys are failing and given up; for how many µs the oldest of
 * the ready ones has been ready; how many were handed out, have failed and were given up since there is a queue; and the keys that
 * fail, each with its failures, its error and the µs until it is due, none if it does not wait.
 */
export const details = /* lua */ `
promote()
${lists}

-- Those with the most failures. Keys whose work was ended without forgetting their failures are not tried again, unless they
-- come anyway: up to SPARE of them are passed over.
local SPARE = 1000
local failingKeys, forgotten = {}, {}
local from, page = 0, math.max(limit, 100)
while #failingKeys < limit and from < limit + SPARE do
  local keys = redis.call('ZRANGE', prefix .. 'failing', from, from + page - 1)
  if #keys == 0 then break end
  from = from + page
  local counts = failures_of(keys)
  local errors = redis.call('HMGET', prefix .. 'errors', unpack(keys))
  local dues = redis.call('ZMSCORE', q.waiting, unpack(keys))
  for i, key in ipairs(keys) do
    if #failingKeys == limit then break end
    local at = dues[i]
    if counts[i] == 0 then
      forgotten[#forgotten + 1] = key -- by a process of an older release, or by time
    elseif at or isReady(key) or redis.call('HEXISTS', q.holders, key) == 1 then
      local dueIn = at and string.format('%.0f', at - now) or '0'
      failingKeys[#failingKeys + 1] = { list(key), counts[i], errors[i] or '', dueIn }
    end
  end
end
if #forgotten > 0 then redis.call('ZREM', prefix .. 'failing', unpack(forgotten)) end

${payloads}
${oldest}
local totals = redis.call('HMGET', q.meta, 'handedOut', 'failed', 'givenUp')
for i = 1, 3 do totals[i] = totals[i] or '0' end
return reply({
  length, redis.call('ZCARD', q.waiting) - due, redis.call('HLEN', q.holders), readyKeys, waiting, held, items,
  isPaused and 1 or 0, redis.call('HLEN', prefix .. 'failures'), redis.call('ZCARD', q.given_up), string.format('%.0f', now - oldest), totals, failingKeys,
})
`;
