-- Begins a new order, for whose plan `read_kind` was run. The script then sets `q.plan`, stores the weights of groups,
-- and runs `fill_order`. The number of the former order is in `former`.
if q.order then q.order.flush() end
q.useMore()
local former = q.plan_number
if q.plan then redis.call('HSET', q.past_orders, former, q.plan) end
q.plan_number = whole(q.tick()) -- a new number, even if the former ones were lost
