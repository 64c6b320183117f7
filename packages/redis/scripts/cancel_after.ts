/** Takes back what waits. ARGV: key. Replies whether it waited; what is due does so no longer. */
export const cancelAfter = /* lua */ `
promote()
local due = call('ZSCORE', WAITING, ARGV[1])
if not due or tonumber(due) <= now then return reply(0) end
call('ZREM', WAITING, ARGV[1])
dropItem(ARGV[1])
return reply(1)
`;
