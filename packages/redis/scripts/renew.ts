/** Renews the lease of an owner. ARGV: owner, lease in µs. Replies the server's time, and whether the owner had its lease still. */
export const renew = /* lua */ `
return reply({ time, call('ZADD', OWNERS, 'XX', 'CH', now + ARGV[2], ARGV[1]) })
`;
