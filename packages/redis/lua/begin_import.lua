local new = prefix .. 'new:'
if redis.call('HGET', new .. 'meta', 'partitions') ~= locked then
  for _, name in ipairs(STRUCTURES) do redis.call('UNLINK', new .. name) end
  redis.call('DEL', new .. 'meta')
  redis.call('HSET', new .. 'meta', 'format', FORMAT, 'more', 1, 'partitions', locked)
end
