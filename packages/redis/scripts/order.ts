import { fairOrder } from "./fair_order.ts";
import { lines } from "./lines.ts";

/** Returns Lua that stands in a function. */
const indented = (lua: string) => lua.replace(/\n/g, "\n  ");

/**
 * Disciplines on the server, as a Lua function for other scripts: `ordered(text, base)` returns the order of the
 * ready keys. The set `ready` has all ready keys, by the time when they became ready, whatever the discipline. An
 * order has the same keys again, in lines, from which the next key is popped: see `lines.ts` and `fair_order.ts`.
 *
 * `text` is the plan from `discipline_plan.ts`, as JSON. `base` is the prefix of the order's own keys on the server.
 *
 * An order must be saved at the end of the script, because changes are kept in Lua until then.
 *
 * @module
 */
export const ordered = /* lua */ `
-- Returns the order of the ready keys; or another order, if its plan and the prefix of its keys are given.
function q.ordered(text, base)
  if not text and q.order then return q.order end
  ${indented(lines)}
  ${indented(fairOrder)}
  local plan = cjson.decode(text or q.plan)
  base = base or q.orders .. q.plan_number .. ':'
  local order = plan[1] == 'fair' and fairOrder(plan, base) or makeLines(plan, base)
  if not text then q.order = order end
  return order
end
`;

/** Lua that derives from `q.plan` whether the queue has groups. */
export const setHasGroups = /* lua */ `q.hasGroups = string.sub(q.plan, 1, 7) == '["fair"'`;

/** Lua that removes some keys of a former order. `past[1]` is nil if there was none. */
export const dropPastOrder = /* lua */ `
  local past = redis.call('HRANDFIELD', q.past_orders, 1, 'WITHVALUES')
  if past[1] and not q.ordered(past[2], q.orders .. past[1] .. ':').drop() then
    redis.call('HDEL', q.past_orders, past[1])
  end`;

/** Lua for scripts that move ready keys to the order that is in force. */
export const moveSome = /* lua */ `
-- Adds some of the ready keys to the order that is in force, and removes some keys of former orders. A large queue
-- needs several calls.
do
  local isDone = true
  if q.moving ~= 'done' then
    local ready = redis.call('ZRANGE', q.ready, q.moving, '+inf', 'BYSCORE', 'LIMIT', 0, BATCH, 'WITHSCORES')
    for i = 1, #ready, 2 do
      local key = ready[i]
      q.ordered().move(key, tonumber(ready[i + 1]), q.priorityStore().get(q.priorities, key))
    end
    isDone = #ready < 2 * BATCH
    local last = ready[#ready]
    if isDone then q.moving = 'done' else q.moving = last == q.moving and '(' .. last or last end
  end
  ${dropPastOrder}
  isDone = isDone and not past[1]
  if not isDone then redis.call('HSET', q.meta, 'moving', q.moving)
  elseif q.paused_until > 0 or q.redrive_at or q.hasTraces or q.budget or
    redis.call('HEXISTS', q.meta, 'partitions') == 1 then redis.call('HDEL', q.meta, 'moving')
  else redis.call('HDEL', q.meta, 'moving', 'more') end
end
`;
