import type { OrderKind } from "@workqueue/engine";
import { fairOrder } from "./fair_order.ts";
import { chain, isOneOf, kindsOf, mapOf, refuse } from "./kinds.ts";
import { lines, SCORES } from "./lines.ts";

/** Lua expressions for an order from its `plan` and the prefix of its keys, `base`, by kind. */
export const ORDERS: Readonly<Record<OrderKind, string>> = {
  fifo: "makeLines(plan, base)",
  aging: "makeLines(plan, base)",
  strict: "makeLines(plan, base)",
  fair: "fairOrder(plan, base)",
};

/** Returns Lua that is inserted into a function. */
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
  local order
  ${chain("plan[1]", mapOf(ORDERS, (order) => `order = ${order}`))}
  else ${refuse("discipline", "plan[1]")} end
  if not text then q.order = order end
  return order
end
`;

/** Whether an order has groups, by kind. In a plan with groups, the last array is the plan of the lines. */
const HAS_GROUPS: Readonly<Record<OrderKind, boolean>> = { fifo: false, aging: false, strict: false, fair: true };

/**
 * Returns Lua that sets `q.hasGroups` to whether a discipline has groups. Refuses a discipline that this release
 * doesn't know: a process of a later release may have stored it.
 *
 * @param plan The variable that has the plan as JSON.
 */
export const readKind = (plan: string): string => /* lua */ `
do
  local kind = string.match(${plan}, '^%["([^"]*)')
  q.hasGroups = ${isOneOf("kind", kindsOf(HAS_GROUPS, (has) => has))}
  local within = q.hasGroups and string.match(${plan}, '%["([^"]*)"[^%[]*$') or kind
  if not (${isOneOf("within", Object.keys(SCORES))}) then ${refuse("discipline", "within")} end
end`;

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
  elseif q.paused_until > 0 or q.redrive_at or q.hasTraces or q.budget or q.hasCancels or
    redis.call('HEXISTS', q.meta, 'partitions') == 1 then redis.call('HDEL', q.meta, 'moving')
  else redis.call('HDEL', q.meta, 'moving', 'more') end
end
`;

/**
 * Returns Lua that puts a discipline in force with a new order, for which `readKind` was called. This call and the next
 * turns add the ready keys to it.
 *
 * @param plan The Lua expression that has the plan as JSON.
 * @param setWeights Lua that stores the weights of groups. The number of the former order is in `former`.
 */
export const startOrder = (plan: string, setWeights: string): string => /* lua */ `
do
  if q.order then q.order.flush() end
  q.useMore()
  local former = q.plan_number
  if q.plan then redis.call('HSET', q.past_orders, former, q.plan) end
  q.plan_number, q.plan = whole(q.tick()), ${plan} -- a new number, even if the former ones were lost
  redis.call('HSET', q.meta, 'order', q.plan_number .. ' ' .. q.plan)
  ${setWeights}
  redis.call('HDEL', q.meta, 'fair')
  q.order, q.fair, q.isChanging, q.moving = nil, nil, false, '-inf'

  -- Keys that are processing count for their groups.
  local cursor = '0'
  repeat
    local page = redis.call('HSCAN', q.holders, cursor, 'COUNT', 1000)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local key = page[2][i]
      local flag, token, owner, rank = q.split(page[2][i + 1])
      local priority, place = q.parseRank(rank)
      local note = q.hasGroups and q.ordered().adopt(key) or ''
      rank = '@' .. priority .. ',' .. (place and whole(place) or '') .. ',' .. note
      redis.call('HSET', q.holders, key, flag .. token .. rank .. ':' .. owner)
    end
  until cursor == '0'
  local paused = redis.call('ZRANGE', q.paused_groups, '(' .. whole(now), '+inf', 'BYSCORE', 'WITHSCORES')
  for i = 1, q.hasGroups and #paused or 0, 2 do q.ordered().pause(paused[i], tonumber(paused[i + 1])) end
  ${moveSome}
end
`;

/**
 * Lua that replaces an order that doesn't have all ready keys, or counts keys as processing that are not, because the
 * server has lost one of its keys. Without this, the ready keys would wait for ever.
 */
export const replaceTornOrder = startOrder(
  "q.plan",
  /* lua */ `
  local weights = q.orders .. former .. ':weights'
  if redis.call('EXISTS', weights) == 1 then
    redis.call('RENAME', weights, q.orders .. q.plan_number .. ':weights')
  end`,
);
