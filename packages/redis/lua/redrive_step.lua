-- Takes the next step of the job: checks up to `BATCH` keys, and adds those that are due. Must run only if the step is
-- due, after `makeDueReady`.
do
  local CATCH_UP = 1000000 -- µs: time for which a job that is late adds faster
  local PAUSE = 20000      -- µs: shortest time between two steps of a job with a rate
  --#include read_job
  --#include search_given_up
  local interval = rate and 1000000 / rate or 0
  if rate then next = math.max(next, now - CATCH_UP) end
  local page = redis.call('ZRANGE', list or q.given_up, position, until_, 'BYSCORE', 'LIMIT', 0, BATCH + 1,
    'WITHSCORES')
  local i = 1
  while i < 2 * BATCH and page[i] and (not rate or next <= now) do
    local key, at = page[i], page[i + 1]
    i = i + 2
    local entry = readGivenUp(key)
    -- A listed key may have been added, and given up again.
    local isChosen = isFound(key, entry) and (not list or redis.call('ZSCORE', q.given_up, key) == at)
    if isChosen then
      if entry[2] ~= cjson.null then redis.call('HSET', q.items, key, entry[2]) end
      q.addNow(key, true, false, 0)
      redriven = redriven + 1
      next = next + interval
    end
    if list then redis.call('ZREM', list, key) end
  end
  if not list then position = page[i + 1] or '(' .. until_ end
  redis.call('HSET', job, 'position', position, 'next', string.format('%.17g', next), 'redriven', redriven)
  --#include count_left
  if left == 0 then
    --#include end_redrive
  else
    q.redrive_at = rate and next > now and math.ceil(math.max(next, now + PAUSE)) or now
    redis.call('HSET', q.meta, 'redrive', whole(q.redrive_at))
  end
end
