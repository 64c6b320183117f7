import { declareScript } from "./declare.ts";
import { NUMBER, optional } from "./fields.ts";

/**
 * Pauses the queue. No key is handed out to any process until the queue is resumed. The reply is the number of this
 * pause.
 *
 * With a `number`, makes the same pause in another partition: `number` was the reply of the call to the first
 * partition. Pauses and resumptions may reach the partitions in any order.
 */
export const pause = declareScript({
  args: { number: optional(NUMBER) },
  reply: NUMBER,
  body: /* lua */ `
if number then
  local known = redis.call('HMGET', q.meta, 'pauses', 'resumed')
  if number <= (tonumber(known[2]) or 0) then return q.reply(number) end
  redis.call('HSET', q.meta, 'pauses', math.max(number, tonumber(known[1]) or 0))
else
  number = redis.call('HINCRBY', q.meta, 'pauses', 1)
end
redis.call('HSETNX', q.meta, 'paused', whole(now - offset))
isPaused = true
return q.reply(number)
`,
});
