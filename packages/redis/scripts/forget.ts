/** Forgets the failures of a key. ARGV: key. */
export const forget = /* lua */ `
limiter_forget(ARGV[1])
return reply(0)
`;
