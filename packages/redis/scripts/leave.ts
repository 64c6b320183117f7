/** A process wants no more work, and works on nothing. What it holds all the same is given back. ARGV: process, owner. */
export const leave = /* lua */ `
redis.call('ZREM', q.idle, ARGV[1])
release(ARGV[2], {})
redis.call('ZREM', q.owners, ARGV[2])
return reply(0)
`;
