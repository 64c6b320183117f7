/** A process wants no more work, and works on nothing. What it holds all the same is given back. ARGV: process, owner. */
export const leave = /* lua */ `
call('ZREM', IDLE, ARGV[1])
release(ARGV[2], {})
call('ZREM', OWNERS, ARGV[2])
return reply(0)
`;
