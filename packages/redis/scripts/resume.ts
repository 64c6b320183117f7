/** Hands out again. All who want work are told, as nobody was while the queue was paused. */
export const resume = /* lua */ `
if redis.call('HDEL', q.meta, 'paused') == 1 then
  isPaused = false
  tellDue(now)
end
return reply(0)
`;
