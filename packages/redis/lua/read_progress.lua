-- Sets the fields of `PROGRESS` in redrive.ts, except for `isRefused`.
local redriven = tonumber(redis.call('HGET', prefix .. 'redrive', 'redriven'))
local left
local running, pauseUs = q.redrive_at and 1 or 0, q.redrive_at and math.max(q.redrive_at - now, 0)
if q.redrive_at then
  --#include read_job
  local function count()
    --#include count_left
    return left
  end
  left = count()
else
  left = tonumber(redis.call('HGET', prefix .. 'redrive', 'left') or 0)
end
