q.makeDueReady()
local job = prefix .. 'redrive'
local isRepeated = redis.call('HGET', job, 'id') == id -- the call was repeated because its reply was lost
local isRefused = q.redrive_at and not isRepeated and 1 or 0
if isRefused == 0 and not isRepeated then
  q.useMore()
  redis.call('DEL', job)
  redis.call('HSET', job, 'id', id, 'search', search, 'until', whole(now), 'position', '-inf', 'next',
    whole(now), 'redriven', 0)
  if rate then redis.call('HSET', job, 'rate', string.format('%.17g', rate)) end
  if isListed then
    redis.call('HSET', job, 'list', job .. ':' .. id)
    redis.call('PERSIST', job .. ':' .. id)
  end
  q.redrive_at = now
  --#include redrive_step
  q.wakeForReady()
  q.watchDue()
end
--#include read_progress
