import { declareScript } from "./declare.ts";
import { DURATION, fields, NUMBER, optional, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";
import { throttlePrelude } from "./throttle_prelude.ts";

/**
 * Takes tokens from a bucket that queues share. If the call is repeated, tokens are taken again, but not given back
 * again.
 *
 * Processes that wait for a token stand in a line. Each of them calls when its token has come, so a token that is there
 * belongs to the first in the line, the next one to the second, and so on. A process that takes a token goes to the end
 * of the line. A process that doesn't call in time loses its place.
 */
export const tokens = declareScript({
  retry: "marked",
  prelude: throttlePrelude,
  functions: limiters,
  args: {
    process: TEXT,
    /** A negative rate stands for an infinite rate. */
    rate: NUMBER,
    burst: NUMBER,
    /** Number of tokens to take, possibly more than the bucket contains. A negative number of tokens is given back. */
    charged: NUMBER,
    /** Number of tokens to take if the bucket contains at least this many. */
    wanted: NUMBER,
    /** Longest time until the next call of a process that waits. */
    longestMs: DURATION,
    /** Time without calls after which the throttle is forgotten, unless its bucket is full only later. */
    expireMs: optional(DURATION),
  },
  reply: fields({
    granted: NUMBER,
    /** Time until the process can have its next token. Missing if all were granted, or no token will come. */
    waitMs: optional(DURATION),
  }),
  body: /* lua */ `
local LATE = 250000 -- µs by which a call may be late before the process loses its place

if not (resent and charged < 0) then limiters().tokens_give_back('tokens', rate, burst, -charged) end

for _, late in ipairs(redis.call('ZRANGE', q.turns, '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, BATCH)) do
  redis.call('ZREM', q.turns, late)
  redis.call('ZREM', q.takers, late)
end
local place = tonumber(redis.call('ZSCORE', q.takers, process) or now)
redis.call('ZREM', q.turns, process)
redis.call('ZREM', q.takers, process)

local granted, waitUs = 0, nil
local function take(count, ahead)
  local taken, wait = limiters().tokens_take('tokens', rate, burst, count, ahead)
  granted, waitUs = granted + taken, wait
  return taken == count
end
if wanted > 0 then
  local others = redis.call('ZCARD', q.takers)
  local ahead = redis.call('ZCOUNT', q.takers, '-inf', '(' .. whole(place))
  if others == 0 then take(wanted, 0)
  elseif take(1, ahead) then
    place = now
    if wanted > 1 then take(wanted - 1, others) end
  end
end
if granted < wanted then
  redis.call('ZADD', q.takers, whole(place), process)
  redis.call('ZADD', q.turns, whole(now + math.min(waitUs or longestUs, longestUs) + LATE), process)
end

local full = string.match(redis.call('HGET', prefix .. 'buckets', 'tokens') or '', '(%S+)$')
q.expireAfter = math.max(expireUs or EXPIRE_AFTER, (tonumber(full) or now) - now)
q.written = { q.state, q.takers, q.turns, prefix .. 'buckets' }
`,
});
