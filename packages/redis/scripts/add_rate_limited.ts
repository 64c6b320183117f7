/**
 * Adds a key when its limiter says so. ARGV: key, payload or nothing, whether the payload replaces another, whether "replace",
 * the limiter's plan, what that is given, the shortest delay in µs. Replies nothing, or the number of failures that the limiter
 * should have been given something for: nothing has happened then.
 */
export const addRateLimited = /* lua */ `
promote()
local key, item = ARGV[1], ARGV[2]
local delay, failures = limiters().when(cjson.decode(ARGV[5]), key, ARGV[6])
if not delay then return reply(failures) end
if item ~= '' then redis.call(ARGV[3] == '1' and 'HSET' or 'HSETNX', q.items, key, item) end
addAfter(key, math.max(math.floor(delay * 1000 + 0.5), tonumber(ARGV[7])), ARGV[4] == '1')
wakeForReady()
return reply(false)
`;
