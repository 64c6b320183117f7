-- Sets `left` to the number of keys that the job has not checked. Listed keys may be gone.
local left
if list then left = redis.call('ZCARD', list)
else left = redis.call('ZCOUNT', q.given_up, position, until_) end
