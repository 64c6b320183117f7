/** How often the limiter has counted a key since it was forgotten. ARGV: key, the limiter's plan. */
export const numRequeues = /* lua */ `
return reply(limiters().requeues(cjson.decode(ARGV[2]), ARGV[1]))
`;
