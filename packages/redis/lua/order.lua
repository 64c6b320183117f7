-- Disciplines on the server: `ordered(text, base)` returns the order of the ready keys. The set `ready` has all ready
-- keys, by the time when they became ready, whatever the discipline. An order has the same keys again, in lines, from
-- which the next key is popped: see lines.lua and fair_order.lua.
--
-- `text` is the plan from discipline_plan.ts of @workqueue/engine, as JSON. `base` is the prefix of the order's own
-- keys on the server.
--
-- An order must be saved at the end of the script, because changes are kept in Lua until then. Returns the order of the
-- ready keys; or another order, if its plan and the prefix of its keys are given.
function q.ordered(text, base)
  if not text and q.order then return q.order end
  --#include lines
  --#include fair_order
  local plan = cjson.decode(text or q.plan)
  base = base or q.orders .. q.plan_number .. ':'
  local order
  if plan[1] == 'fair' then order = fairOrder(plan, base)
  elseif plan[1] == 'fifo' or plan[1] == 'aging' or plan[1] == 'strict' then order = makeLines(plan, base)
  else error({ err = "WQFORMAT Redis doesn't know the discipline '" .. tostring(plan[1]) .. "' in this release" }) end
  if not text then q.order = order end
  return order
end
