-- Replaces an order that doesn't have all ready keys, or counts keys as processing that are not, because the server has
-- lost one of its keys. Without this, the ready keys would wait for ever.
do
  --#include begin_order
  local weights = q.orders .. former .. ':weights'
  if redis.call('EXISTS', weights) == 1 then
    redis.call('RENAME', weights, q.orders .. q.plan_number .. ':weights')
  end
  --#include fill_order
end
