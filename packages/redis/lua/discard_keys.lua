--#include search_given_up
local discarded = 0
for key in rows() do
  if redis.call('ZSCORE', q.given_up, key) and isFound(key, readGivenUp(key)) then
    --#include forget_given_up
  end
end
return q.reply(discarded)
