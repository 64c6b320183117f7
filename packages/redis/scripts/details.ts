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

-- Those with the most failures. Where more than LOOKS fail, a part is looked at: those that wait the longest, which have failed the
-- most as delays grow, and ANY of the others.
local LOOKS, ANY = 300, 100
local failing = redis.call('HLEN', prefix .. 'failures')
local counts, byCount, seen = {}, {}, {}
local function look_at(key, stored)
  local count = tonumber(stored or 0) or (limiters().failures_in(stored))
  if count == 0 or seen[key] then return end
  seen[key] = true
  local keys = byCount[count]
  if not keys then
    keys = {}
    byCount[count] = keys
    counts[#counts + 1] = count
  end
  keys[#keys + 1] = key
end
if limit > 0 and failing > 0 then
  local any = redis.call('HRANDFIELD', prefix .. 'failures', failing > LOOKS and ANY or LOOKS, 'WITHVALUES')
  for i = 1, #any, 2 do look_at(any[i], any[i + 1]) end
  local last = failing > LOOKS and redis.call('ZRANGE', q.waiting, 0, LOOKS - ANY - 1, 'REV') or {}
  if #last > 0 then
    for i, stored in ipairs(redis.call('HMGET', prefix .. 'failures', unpack(last))) do look_at(last[i], stored) end
  end
  table.sort(counts, function(a, b) return a > b end)
end

-- Keys whose work was ended without forgetting their failures are not tried again, unless they come anyway.
local failingKeys = {}
for _, count in ipairs(counts) do
  local keys = byCount[count]
  if #failingKeys < limit then table.sort(keys) end
  for _, key in ipairs(keys) do
    if #failingKeys == limit then break end
    local at = redis.call('ZSCORE', q.waiting, key)
    if at or isReady(key) or redis.call('HEXISTS', q.holders, key) == 1 then
      local dueIn = at and string.format('%.0f', at - now) or '0'
      failingKeys[#failingKeys + 1] = { list(key), count, redis.call('HGET', prefix .. 'errors', key) or '', dueIn }
    end
  end
end

${payloads}
${oldest}
local totals = redis.call('HMGET', q.meta, 'handedOut', 'failed', 'givenUp')
for i = 1, 3 do totals[i] = totals[i] or '0' end
return reply({
  length, redis.call('ZCARD', q.waiting) - due, redis.call('HLEN', q.holders), readyKeys, waiting, held, items,
  isPaused and 1 or 0, failing, redis.call('ZCARD', q.given_up), string.format('%.0f', now - oldest), totals, failingKeys,
})
`;
