-- Stores the payloads of the rows, with one call for all of them.
local payloads = {}
for key, payload in rows() do payloads[#payloads + 1], payloads[#payloads + 2] = key, payload end
redis.call('HSET', q.items, unpack(payloads))
if not hasPayloads then redis.call('HSET', q.meta, 'payloads', 1) end
