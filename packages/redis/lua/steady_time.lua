-- Time of a queue or of a throttle, in whole microseconds: `now`. The time grows with each use, so earlier events have
-- smaller numbers. If the server's clock was set back, or if another server has taken over, the difference is added to
-- `offset`. The time then continues at the pace of the server's clock.
--
-- `time` is the server's time, and `last` that of the latest use.
local STEP_BACK = 100000 -- µs; a larger backward jump means that the clock was set back
if last - time - offset > STEP_BACK then
  offset = last - time
  redis.call('HSET', KEYS[1], 'offset', whole(offset))
end
local now = math.max(last + 1, time + offset)
