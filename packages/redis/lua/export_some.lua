local IN_BATCH = 100 -- maximum number of keys in a batch
local MAX_BYTES = 1000000 -- bytes of items from which on a batch gets no more keys
local sets, hashes = SORTED_SETS, HASHES
local out = prefix .. 'export'
local lastUs = last
if redis.call('EXISTS', out) == 0 then
  local keys = {}
  for _, name in ipairs(sets) do
    if #keys == 0 then keys = redis.call('ZRANGE', prefix .. name, 0, IN_BATCH - 1) end
  end
  for _, name in ipairs(hashes) do
    if #keys == 0 then keys = redis.call('HRANDFIELD', prefix .. name, IN_BATCH) end
  end
  if #keys > 0 then
    -- A batch with large items has fewer keys.
    local bytes, items, reasons = 0, redis.call('HMGET', q.items, unpack(keys)), redis.call('HMGET', q.reasons,
      unpack(keys))
    for i = 1, #keys do
      bytes = bytes + #(items[i] or '') + #(reasons[i] or '')
      if i > 1 and bytes > MAX_BYTES then keys[i] = nil end
    end
    local columns = {}
    for i, name in ipairs(sets) do
      columns[i] = redis.call('ZMSCORE', prefix .. name, unpack(keys))
      redis.call('ZREM', prefix .. name, unpack(keys))
    end
    for _, name in ipairs(hashes) do
      columns[#columns + 1] = redis.call('HMGET', prefix .. name, unpack(keys))
      redis.call('HDEL', prefix .. name, unpack(keys))
    end
    for i, key in ipairs(keys) do
      if q.hasWaits then redis.call('UNLINK', q.waits_for .. key) end -- calls of the waiting processes are refused
      local row = { key }
      for n, column in ipairs(columns) do row[n + 1] = column[i] or false end
      row[#row + 1] = redis.call('SREM', q.folding, key)
      redis.call('HSET', out, i, cjson.encode(row))
    end
    redis.call('HINCRBY', q.meta, 'batch', 1)
  end
end
local batch = tonumber(redis.call('HGET', q.meta, 'batch')) or 0
local rows = {}
for i, row in ipairs(redis.call('HRANDFIELD', out, IN_BATCH, 'WITHVALUES')) do
  if i % 2 == 0 then rows[i / 2] = row end
end
