/**
 * Redrive: a job on the server that adds given-up keys again, the oldest first. Any call of any process takes the next
 * step when it is due, so the job survives the process that started it.
 *
 * The hash `redrive` describes the running job, or the last one: its `id`, `search` and `rate`; `until`, the time when
 * it began; `list`, if only listed keys are added; `position`, the time at which the next key was given up; `next`, the
 * earliest time of the next add; the number of keys `redriven`; and `left`, the number of keys that it did not check,
 * once it has ended. The field `redrive` of `meta` is the time of the next step, while the job runs.
 *
 * @module
 */

import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, fields, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";
import { searched } from "./given_up.ts";

/** Lua that ends the job. \`left\` is the number of keys that it did not check. */
const endJob = /* lua */ `
    redis.call('HSET', job, 'left', left)
    redis.call('HDEL', q.meta, 'redrive')
    redis.call('UNLINK', job .. ':' .. (redis.call('HGET', job, 'id') or ''))
    q.redrive_at = nil`;

/** Lua that sets \`left\` to the number of keys that the job has not checked. Listed keys may be gone. */
const countLeft = /* lua */ `
    local left
    if list then left = redis.call('ZCARD', list)
    else left = redis.call('ZCOUNT', q.given_up, position, until_) end`;

/** Lua that reads the state of the job. */
const readJob = /* lua */ `
    local job = prefix .. 'redrive'
    local state = redis.call('HMGET', job, 'search', 'rate', 'until', 'list', 'position', 'next', 'redriven')
    local search, rate, until_ = state[1], tonumber(state[2]), state[3]
    local list, position, next, redriven = state[4], state[5], tonumber(state[6]), tonumber(state[7])`;

/**
 * Lua that takes the next step of the job: checks up to \`BATCH\` keys, and adds those that are due. Must run only if
 * the step is due, after \`makeDueReady\`.
 */
const step = /* lua */ `
do
  local CATCH_UP = 1000000 -- µs: time for which a job that is late adds faster
  local PAUSE = 20000      -- µs: shortest time between two steps of a job with a rate
  ${readJob}
  ${searched}
  local interval = rate and 1000000 / rate or 0
  if rate then next = math.max(next, now - CATCH_UP) end
  local page = redis.call('ZRANGE', list or q.given_up, position, until_, 'BYSCORE', 'LIMIT', 0, BATCH + 1,
    'WITHSCORES')
  local i = 1
  while i < 2 * BATCH and page[i] and (not rate or next <= now) do
    local key, at = page[i], page[i + 1]
    i = i + 2
    local entry = readGivenUp(key)
    -- A listed key may have been added, and given up again.
    local isChosen = isFound(key, entry) and (not list or redis.call('ZSCORE', q.given_up, key) == at)
    if isChosen then
      if entry[2] ~= cjson.null then redis.call('HSET', q.items, key, entry[2]) end
      q.addNow(key, true, false, 0)
      redriven = redriven + 1
      next = next + interval
    end
    if list then redis.call('ZREM', list, key) end
  end
  if not list then position = page[i + 1] or '(' .. until_ end
  redis.call('HSET', job, 'position', position, 'next', string.format('%.17g', next), 'redriven', redriven)
  ${countLeft}
  if left == 0 then
    ${endJob}
  else
    q.redrive_at = rate and next > now and math.ceil(math.max(next, now + PAUSE)) or now
    redis.call('HSET', q.meta, 'redrive', whole(q.redrive_at))
  end
end`;

/** Lua that takes the next step of the job if it is due. */
export const redriveSome = /* lua */ `
if q.redrive_at and q.redrive_at <= now then
${step}
end`;

/** Progress of a job. */
const PROGRESS = fields({
  /** Whether the call was refused because another job runs. */
  isRefused: FLAG,
  /** Missing if there was no job. */
  redriven: optional(NUMBER),
  left: NUMBER,
  running: FLAG,
  /** Time until the next step. Missing if no job runs. */
  pauseMs: optional(DURATION),
});

/** Lua that sets the fields of \`PROGRESS\`, except for \`isRefused\`. */
const readProgress = /* lua */ `
local redriven = tonumber(redis.call('HGET', prefix .. 'redrive', 'redriven'))
local left, running, pauseUs = 0, q.redrive_at and 1 or 0, q.redrive_at and math.max(q.redrive_at - now, 0)
if q.redrive_at then
  ${readJob}
  local function count()
    ${countLeft}
    return left
  end
  left = count()
else
  left = tonumber(redis.call('HGET', prefix .. 'redrive', 'left') or 0)
end`;

/**
 * Notes keys for a job that has not begun. If it never begins, the notes expire. The job then adds only keys that were
 * noted.
 */
export const listForRedrive = declareScript({
  adds: true,
  args: { id: TEXT },
  rows: { key: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
local list = prefix .. 'redrive:' .. id
${
    eachRow(/* lua */ `
  local at = redis.call('ZSCORE', q.given_up, key)
  if at then redis.call('ZADD', list, at, key) end`)
  }
redis.call('EXPIRE', list, 3600)
`,
});

/** Begins a job and takes its first step. Changes nothing if a job is running, unless that has the same \`id\`. */
export const redrive = declareScript({
  adds: true,
  args: {
    id: TEXT,
    search: TEXT,
    /** Keys per second. By default, there is no limit. */
    rate: optional(DECIMAL),
    /** Whether only listed keys are added. */
    isListed: FLAG,
  },
  reply: PROGRESS,
  body: /* lua */ `
q.makeDueReady()
local job = prefix .. 'redrive'
local isRepeated = redis.call('HGET', job, 'id') == id -- the call was repeated because its reply was lost
local isRefused = q.redrive_at and not isRepeated and 1 or 0
if isRefused == 0 and not isRepeated then
  q.useMore()
  redis.call('DEL', job)
  redis.call('HSET', job, 'id', id, 'search', search, 'until', whole(now), 'position', '-inf', 'next',
    whole(now), 'redriven', 0)
  if rate then redis.call('HSET', job, 'rate', string.format('%.17g', rate)) end
  if isListed then
    redis.call('HSET', job, 'list', job .. ':' .. id)
    redis.call('PERSIST', job .. ':' .. id)
  end
  q.redrive_at = now
  ${step}
  q.wakeForReady()
  q.watchDue()
end
${readProgress}
`,
});

/** Takes the next step of the job, if it is due, and replies with the progress. */
export const redriveProgress = declareScript({
  args: {},
  reply: PROGRESS,
  body: /* lua */ `
local isRefused = 0
if q.redrive_at and q.redrive_at <= now then
  q.makeDueReady()
  ${step}
  q.wakeForReady()
end
${readProgress}
`,
});

/** Stops the job. The keys that it did not add are still given up. */
export const stopRedrive = declareScript({
  args: {},
  reply: PROGRESS,
  body: /* lua */ `
local isRefused = 0
if q.redrive_at then
  ${readJob}
  ${countLeft}
  ${endJob}
end
${readProgress}
`,
});
