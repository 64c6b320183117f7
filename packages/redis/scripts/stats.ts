/** Counts. Replies how many keys are ready (those that are due among them), waiting, held, failing and given up. */
export const stats = /* lua */ `
promote()
local due = behind and redis.call('ZCOUNT', q.waiting, '-inf', now) or 0
return reply({
  redis.call('ZCARD', q.ready) + redis.call('ZCARD', q.suspects) + due,
  redis.call('ZCARD', q.waiting) - due,
  redis.call('HLEN', q.holders),
  redis.call('HLEN', prefix .. 'failures'),
  redis.call('ZCARD', q.given_up),
})
`;
