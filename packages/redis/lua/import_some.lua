local sets, hashes = SORTED_SETS, HASHES
if not stored[16] then
  redis.call('DEL', q.meta) -- which was created at the beginning of this script
  return redis.error_reply('WQPARTITIONS Another process has moved the items')
end
last = math.max(last, lastUs) -- so that later tokens of a key are larger
for row in rows() do
  local values = cjson.decode(row)
  local key = values[1]
  for i, name in ipairs(sets) do
    local score = values[i + 1]
    -- In lists of given-up keys, no two keys may have the same time.
    if score and name == 'givenup' and not redis.call('ZSCORE', q.given_up, key) then
      score = whole(q.firstFree(q.given_up, tonumber(score)))
    end
    if score then redis.call('ZADD', prefix .. name, 'NX', score, key) end
  end
  for i, name in ipairs(hashes) do
    local value = values[#sets + i + 1]
    if value then redis.call('HSET', prefix .. name, key, value) end
    if value and (name == 'priorities' or name == 'duepriorities') then redis.call('HSET', q.meta, 'ranked', 1) end
    if value == '2' and (name == 'retries' or name == 'dueretries') then
      redis.call('HSET', q.meta, 'first', 1, 'more', 1)
    end
    if value and name == 'traces' then redis.call('HSET', q.meta, 'traces', 1, 'more', 1) end
    if value and name == 'items' then redis.call('HSET', q.meta, 'payloads', 1) end
  end
  if values[#values] == 1 then
    redis.call('SADD', q.folding, key)
    redis.call('HSET', q.meta, 'folding', 1)
  end
end
