/** For how many µs the oldest of the ready keys has been ready: `now - oldest`. */
export const oldest = /* lua */ `
-- What came back stands before all that was never taken, so the first of both is looked at. It counts from its hand-out.
local oldest = behind or now
local function look(line)
  local first = tonumber(redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')[2])
  if first and first < 0 then
    oldest = math.min(oldest, first + 2^53)
    first = tonumber(redis.call('ZRANGE', line, 0, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2])
  end
  if first then oldest = math.min(oldest, first) end
end
look(q.ready)
look(q.suspects)
`;

/**
 * Counts. Replies how many keys are ready (those that are due among them), waiting, held, failing and given up; and for how many µs
 * the oldest of the ready ones has been ready.
 */
export const stats = /* lua */ `
promote()
local due = behind and redis.call('ZCOUNT', q.waiting, '-inf', now) or 0
${oldest}
return reply({
  redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.suspects) + due,
  redis.call('ZCARD', q.waiting) - due,
  redis.call('HLEN', q.holders),
  redis.call('HLEN', prefix .. 'failures'),
  redis.call('ZCARD', q.given_up),
  now - oldest,
})
`;
