/** Adds keys now or later. ARGV: delay in µs, whether "replace", whether payloads follow; then keys, each with its payload. */
export const add = /* lua */ `
promote()
local delay, replaces, hasItems = tonumber(ARGV[1]), ARGV[2] == '1', ARGV[3] == '1'
for i = 4, #ARGV, hasItems and 2 or 1 do
  if hasItems then redis.call('HSET', q.items, ARGV[i], ARGV[i + 1]) end
  addAfter(ARGV[i], delay, replaces)
end
wakeForReady()
return reply(0)
`;
