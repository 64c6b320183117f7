/**
 * Gives back what an owner holds without knowing, as the reply to a take was lost. ARGV: owner; then the tokens that it knows.
 * Such keys go back to where they stood. Replies how many there were.
 */
export const release = /* lua */ `
local owner, known, count = ARGV[1], {}, 0
for i = 2, #ARGV do known[ARGV[i]] = true end
for _, key in ipairs(call('SMEMBERS', HELD_BY .. owner)) do
  local flag, token = split(call('HGET', HOLDERS, key))
  if not known[token] then
    letGo(key, owner)
    makeReady(key, placeBefore(token))
    count = count + 1
  end
end
wakeForReady()
return reply(count)
`;
