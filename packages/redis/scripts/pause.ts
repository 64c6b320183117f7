/** Hands nothing out from now on, to nobody. */
export const pause = /* lua */ `
redis.call('HSETNX', q.meta, 'paused', string.format('%.0f', now))
return reply(0)
`;
