/**
 * Returns the Lua that defines `now` and `last`: the time of a queue or of a throttle, in whole microseconds. The time
 * grows with each use, so earlier events have smaller numbers. If the server's clock was set back, or if another server
 * has taken over, the difference is added to an offset. The time then continues at the pace of the server's clock.
 *
 * The Lua before it must define `time`, which is the server's time in microseconds, and `whole`.
 *
 * @param hash Lua expression for the key of the hash whose field `offset` stores the offset.
 * @param last Lua expression for the stored time of the latest use.
 * @param offset Lua expression for the stored offset.
 */
export const steadyTime = (hash: string, last: string, offset: string): string => /* lua */ `
local STEP_BACK = 100000 -- µs; a larger backward jump means that the clock was set back
local last, offset = tonumber(${last}) or 0, tonumber(${offset}) or 0
if last - time - offset > STEP_BACK then
  offset = last - time
  redis.call('HSET', ${hash}, 'offset', whole(offset))
end
local now = math.max(last + 1, time + offset)`;
