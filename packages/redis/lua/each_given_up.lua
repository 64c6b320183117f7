-- Visits given-up keys, the newest first, and checks at most 1,000. `visit` is a function of the key, its entry, and
-- the time when the key was given up. It returns true, or false to stop before this key. `cursor` is the time at which
-- the first key was given up. Returns the time of the next key, or nil if no keys are left, and the number of visited
-- keys. No two keys have the same time.
local function eachGivenUp(cursor, visit)
  local PAGE = 1000
  local page = redis.call('ZRANGE', q.given_up, cursor or '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, PAGE + 1,
    'WITHSCORES')
  local i = 1
  while i < 2 * PAGE and page[i] and visit(page[i], readGivenUp(page[i]), page[i + 1]) do i = i + 2 end
  return page[i] and page[i + 1], (i - 1) / 2
end
