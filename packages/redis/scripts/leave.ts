/** A process wants no more work. ARGV: process, owner. What the owner holds it has until its lease is over. */
export const leave = /* lua */ `
call('ZREM', IDLE, ARGV[1])
if call('SCARD', HELD_BY .. ARGV[2]) == 0 then call('ZREM', OWNERS, ARGV[2]) end
wakeForReady()
return reply(0)
`;
