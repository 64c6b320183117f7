-- Removes some keys of a former order. `past[1]` is nil if there was none.
local past = redis.call('HRANDFIELD', q.past_orders, 1, 'WITHVALUES')
if past[1] and not q.ordered(past[2], q.orders .. past[1] .. ':').drop() then
  redis.call('HDEL', q.past_orders, past[1])
end
