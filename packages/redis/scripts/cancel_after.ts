/** Takes back what waits. ARGV: key. Replies whether it waited; what is due does so no longer. */
export const cancelAfter = /* lua */ `
promote()
local due = redis.call('ZSCORE', q.waiting, ARGV[1])
if not due or tonumber(due) <= now then return reply(0) end
redis.call('ZREM', q.waiting, ARGV[1])
if not isReady(ARGV[1]) and redis.call('HEXISTS', q.holders, ARGV[1]) == 0 then dropItem(ARGV[1]) end
return reply(1)
`;
