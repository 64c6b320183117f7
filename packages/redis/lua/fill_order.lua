-- Puts the new order in force. This call and the next turns add the ready keys to it.
redis.call('HSET', q.meta, 'order', q.plan_number .. ' ' .. q.plan)
redis.call('HDEL', q.meta, 'fair')
q.order, q.fair, q.isChanging, q.moving = false, false, false, '-inf'

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
--#include move_some
