import { declareScript } from "./declare.ts";
import { DECIMAL, NOTHING, TEXT } from "./fields.ts";
import { moveSome, readKind } from "./order.ts";

/**
 * Puts a discipline in force. Its plan is as for `ordered`; each row is the weight of a group. Does nothing if the plan
 * is in force already. Ready keys are added to the new order by this call and the next turns.
 */
export const setOrder = declareScript({
  adds: true,
  args: { plan: TEXT },
  rows: { group: TEXT, weight: DECIMAL },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
if q.plan == plan then return q.reply(0) end
${readKind("plan")}
q.useMore()
if q.plan then redis.call('HSET', q.past_orders, q.plan_number, q.plan) end
q.plan_number, q.plan = whole(redis.call('HINCRBY', q.meta, 'orders', 1)), plan
redis.call('HSET', q.meta, 'order', q.plan_number .. ' ' .. plan)
${eachRow("redis.call('HSET', q.orders .. q.plan_number .. ':weights', group, weight)")}
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
q.wakeForReady()
`,
});
