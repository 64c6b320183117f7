/** What releases have in common. */
export const releasing = /* lua */ `
-- Gives back what an owner holds, but for some tokens. Such keys go back to the front, where they stood: they were taken
-- before all that is ready. Of the tokens, those that the owner does not hold are left.
local function release(owner, tokens)
  local keys = redis.call('SMEMBERS', q.held_by .. owner)
  for first = 1, #keys, 1000 do -- a call takes only so many arguments
    local holders = redis.call('HMGET', q.holders, unpack(keys, first, math.min(first + 999, #keys)))
    for i, holder in ipairs(holders) do
      local _, token = split(holder)
      if tokens[token] then
        tokens[token] = nil
      else
        letGo(keys[first + i - 1], owner)
        makeReady(keys[first + i - 1], placeBefore(token))
      end
    end
  end
  wakeForReady()
end
`;
