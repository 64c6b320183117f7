local PAGE = 100 -- maximum number of keys that one call lists
local keys, nextCursor = {}, nil
local sets = { q.delayed, q.blocked_retries, q.stalled, q.suspects, q.ready }
if stage == 0 and withProcessing then
  local page = redis.call('HSCAN', q.holders, cursor or '0', 'COUNT', PAGE)
  for i = 1, #page[2], 2 do keys[#keys + 1] = page[2][i] end
  nextCursor = page[1] ~= '0' and page[1] or nil
elseif stage > 0 then
  -- The cursor is the score of the last listed key, and the number of listed keys with this score.
  local from, listed = string.match(cursor or '-inf:0', '^(.*):(%d+)$')
  local page = redis.call('ZRANGE', sets[stage], from, '+inf', 'BYSCORE', 'LIMIT', listed, PAGE, 'WITHSCORES')
  for i = 1, #page, 2 do
    keys[#keys + 1] = page[i]
    if page[i + 1] == from then listed = listed + 1 else from, listed = page[i + 1], 1 end
  end
  nextCursor = #keys == PAGE and from .. ':' .. whole(listed) or nil
end
local nextStage = nextCursor and stage or stage < #sets and stage + 1 or nil
if #keys > 0 then
  local counts = failures_of(keys)
  local function column(command, name) return redis.call(command, name, unpack(keys)) end
  local columns = {
    payload = column('HMGET', q.items), trace = column('HMGET', q.traces), stalls = column('HMGET', q.stalls),
    priority = column('HMGET', q.priorities), duePriority = column('HMGET', q.due_priorities),
    due = column('ZMSCORE', q.delayed), dueRetry = column('HMGET', q.due_retries),
    retry = column('HMGET', q.retries), blocked = column('ZMSCORE', q.blocked_retries),
    folding = column('SMISMEMBER', q.folding),
    holder = column('HMGET', q.holders), failures = column('HMGET', prefix .. 'failures'),
    error = column('HMGET', prefix .. 'errors'), since = column('HMGET', prefix .. 'failingsince'),
  }
  for i, key in ipairs(keys) do
    local place, due, held = q.isReady(key) or columns.blocked[i], columns.due[i], columns.holder[i]
    local priority = tonumber(columns.priority[i]) or 0
    if held then
      local flag, token, owner, rank = q.split(held)
      if flag == '+' or not q.isCancelled(key, token, owner) then priority = math.max(priority, (q.parseRank(rank)))
      else held = false end
    end
    if place or due or held and withProcessing then
      local n = #entries.key + 1
      entries.key[n], entries.payload[n], entries.trace[n] = key, columns.payload[i], columns.trace[i]
      entries.stalls[n] = tonumber(columns.stalls[i]) or 0
      place = place and tonumber(place)
      entries.isFirst[n] = place and place < 0 and 1 or 0
      entries.readyAtUs[n] = place and (place < 0 and place + 2^53 or place) or held and now
      entries.priority[n] = string.format('%.17g', priority)
      entries.retry[n] = columns.blocked[i] and (tonumber(columns.retry[i]) or RETRY) or 0
      entries.dueAtUs[n] = due and tonumber(due)
      entries.duePriority[n] = columns.duePriority[i] or '0'
      entries.dueRetry[n] = tonumber(columns.dueRetry[i]) or 0
      entries.isFolding[n] = columns.folding[i]
      local stored, failed = tostring(columns.failures[i]), counts[i]
      local ends, early = string.match(stored, '^%S+ (%d+)'), string.match(stored, '@(%d+)$')
      entries.failures[n] = failed
      entries.error[n] = failed > 0 and columns.error[i] or ''
      entries.failingForUs[n] = failed > 0 and now - (tonumber(columns.since[i]) or now) or 0
      entries.forgottenInUs[n] = failed > 0 and ends and ends - now or false -- `nil` would end the list
      entries.earlyForUs[n] = failed > 0 and early and math.max(early - now, 0) or false
    end
  end
end
