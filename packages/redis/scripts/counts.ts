import { declareScript } from "./declare.ts";
import { DURATION, fields, NUMBER } from "./fields.ts";

/** The numbers of a queue. */
export const NUMBERS = {
  /** With the keys that are due. */
  ready: NUMBER,
  delayed: NUMBER,
  processing: NUMBER,
  failing: NUMBER,
  givenUp: NUMBER,
  /** For how long the oldest ready key has been ready; 0 if there is none. */
  oldestReadyMs: DURATION,
};

/** Sets them. `due` is how many of the ready keys still stand among the delayed ones. */
export const setNumbers = /* lua */ `
local due = behind and redis.call('ZCOUNT', q.delayed, '-inf', now) or 0
local ready = redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.stalled) + redis.call('ZCARD', q.suspects) + due
local delayed = redis.call('ZCARD', q.delayed) - due
local processing = redis.call('HLEN', q.holders)
local failing = redis.call('HLEN', prefix .. 'failures')
local givenUp = redis.call('ZCARD', q.given_up)

-- Keys that came back stand before all that were never taken, so the first of both is looked at. They count from their
-- hand-out.
local oldest = behind or now
local function look(line)
  local first = tonumber(redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')[2])
  if first and first < 0 then
    oldest = math.min(oldest, first + 2^53)
    first = tonumber(redis.call('ZRANGE', line, 0, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2])
  end
  if first then oldest = math.min(oldest, first) end
end
for _, line in ipairs({ q.ready, q.stalled, q.suspects }) do look(line) end
local oldestReadyUs = now - oldest
`;

/** Counts. */
export const counts = declareScript({
  args: {},
  reply: fields(NUMBERS),
  body: /* lua */ `
makeDueReady()
${setNumbers}
`,
});
