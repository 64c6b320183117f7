/** Makes ready what waits: what is held comes again once it is done. ARGV: key. Replies whether it waited; what is due does so no longer. */
export const retryNow = /* lua */ `
local due = redis.call('ZSCORE', q.waiting, ARGV[1])
if not due or tonumber(due) <= now then return reply(0) end
redis.call('ZREM', q.waiting, ARGV[1])
come(ARGV[1], tick(), redis.call('HGET', q.holders, ARGV[1]))
wakeForReady()
return reply(1)
`;
