if tonumber(redis.call('HGET', q.meta, 'batch')) == batch then redis.call('DEL', prefix .. 'export') end
