-- Sets `held` to the number of the move that has locked the partition; nil if none has.
local held = tonumber(string.match(redis.call('HGET', q.meta, 'partitions') or '', '^%[0,(%d+)') or nil)
