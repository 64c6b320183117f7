import type { RetryBudgetOptions } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, fields, FLAG, NUMBER, optional, TEXT } from "./fields.ts";
import { readKind, startOrder } from "./order.ts";
import { dropGivenUp } from "./retention.ts";

/** Options of a retry budget. */
const BUDGET = {
  ratio: optional(DECIMAL),
  minRate: optional(DECIMAL),
} satisfies Record<keyof RetryBudgetOptions, unknown>;

/** Definition without parts. */
export const NOT_DEFINED = {
  plan: undefined,
  ratio: undefined,
  minRate: undefined,
  max: undefined,
  maxAgeMs: undefined,
  expireMs: undefined,
} as const;

/**
 * Puts a definition in force: all settings that a process has for the whole queue. A part that is not given stays as it
 * is, and so does a part that is in force already. Each row is the weight of a group of the discipline.
 *
 * With another discipline, this call and the next turns add the ready keys to the new order. If a retry budget suffices
 * for a blocked retry, an idle process is woken.
 */
export const define = declareScript({
  args: {
    /** Plan of the discipline, as for `ordered`. */
    plan: optional(TEXT),
    ...BUDGET,
    /** Limits on given-up keys. With a number and without an age, there is no limit on the age. */
    max: optional(NUMBER),
    maxAgeMs: optional(DURATION),
    /** Time without calls after which the keys of an empty queue expire. */
    expireMs: optional(DURATION),
  },
  rows: { group: TEXT, weight: DECIMAL },
  reply: fields({
    /** Time since which the queue is on the server, as text. */
    born: TEXT,
    /** Time without calls after which the keys of an empty queue expire. */
    expireAfterMs: DURATION,
    /** Whether there may be more given-up keys over the limits. */
    isMore: FLAG,
  }),
  body: (eachRow) => /* lua */ `
if plan and q.plan ~= plan then
  ${readKind("plan")}
  ${
    startOrder(
      "plan",
      eachRow("redis.call('HSET', q.orders .. q.plan_number .. ':weights', group, weight)"),
    )
  }
end
if max then
  local limits = redis.call('HMGET', q.meta, 'keep', 'keepFor')
  local maxAge = maxAgeUs and whole(maxAgeUs) or false
  if (limits[1] or whole(KEPT)) ~= whole(max) or limits[2] ~= maxAge then
    redis.call('HSET', q.meta, 'keep', whole(max))
    if maxAge then redis.call('HSET', q.meta, 'keepFor', maxAge) else redis.call('HDEL', q.meta, 'keepFor') end
  end
end
${dropGivenUp}
if ratio then
  if not q.budget then
    q.useMore()
    q.budget = struct.pack('>dddddddd', 0, 0, 0, 0, 0, math.huge, -math.huge, 0)
  end
  q.makeDueReady()
  q.retryBudget().change(ratio, minRate)
end
if plan or ratio then q.wakeForReady() end
if ratio then q.watchDue() end
if expireUs then redis.call('HSET', q.meta, 'expireAfter', whole(expireUs)) end
local expireAfterUs = expireUs or tonumber(redis.call('HGET', q.meta, 'expireAfter')) or EXPIRE_AFTER
local isMore = dropped == BATCH and 1 or 0
local born = q.born
`,
});
