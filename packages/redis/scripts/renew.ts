/** Renews the lease of an owner. ARGV: owner, lease in µs. Replies whether the owner had its lease still. */
export const renew = /* lua */ `
hear(tonumber(ARGV[2]))
return reply(redis.call('ZADD', q.owners, 'XX', 'CH', now + ARGV[2], ARGV[1]))
`;
