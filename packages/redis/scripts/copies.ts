/**
 * Scripts that copy the keys of a queue to another queue: see `copy.ts` of `@workqueue/engine`.
 *
 * @module
 */

import type { GiveUpReason } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, fields, FLAG, NOTHING, NUMBER, optional, type ReplyField, rows, TEXT } from "./fields.ts";
import { limiters } from "./limiters.ts";
import { dropGivenUp } from "./retention.ts";

/** Maximum number of keys that one call lists. */
const PAGE = 100;

/** Key, with everything that is stored about it. */
const STORED = {
  key: TEXT,
  payload: optional(TEXT),
  trace: optional(TEXT),
  stalls: NUMBER,
  readyAtMs: optional(DURATION),
  priority: DECIMAL,
  isRetry: FLAG,
  dueAtMs: optional(DURATION),
  duePriority: DECIMAL,
  dueIsRetry: FLAG,
  isFolding: FLAG,
  /** Number of failures, and everything that is stored about them. */
  failures: NUMBER,
  error: TEXT,
  failingForMs: DURATION,
  forgottenInMs: optional(DURATION),
  earlyForMs: optional(DURATION),
};

/**
 * Lists keys of one structure: those that are processing, delayed, blocked, stalled, or ready. A key that leaves one of
 * these structures without being handed out goes to a later one, so it is listed there.
 */
export const stored = declareScript({
  functions: limiters,
  args: {
    /** Number of the structure, from 0 on. */
    stage: NUMBER,
    /** Cursor in the structure. At its beginning by default. */
    cursor: optional(TEXT),
    withProcessing: FLAG,
  },
  reply: fields({ entries: rows(STORED), nextStage: optional(NUMBER), nextCursor: optional(TEXT) }),
  body: /* lua */ `
local keys, nextCursor = {}, nil
local sets = { q.delayed, q.blocked_retries, q.stalled, q.suspects, q.ready }
if stage == 0 and withProcessing then
  local page = redis.call('HSCAN', q.holders, cursor or '0', 'COUNT', ${PAGE})
  for i = 1, #page[2], 2 do keys[#keys + 1] = page[2][i] end
  nextCursor = page[1] ~= '0' and page[1] or nil
elseif stage > 0 then
  -- The cursor is the score of the last listed key, and the number of listed keys with this score.
  local from, listed = string.match(cursor or '-inf:0', '^(.*):(%d+)$')
  local page = redis.call('ZRANGE', sets[stage], from, '+inf', 'BYSCORE', 'LIMIT', listed, ${PAGE}, 'WITHSCORES')
  for i = 1, #page, 2 do
    keys[#keys + 1] = page[i]
    if page[i + 1] == from then listed = listed + 1 else from, listed = page[i + 1], 1 end
  end
  nextCursor = #keys == ${PAGE} and from .. ':' .. whole(listed) or nil
end
local nextStage = nextCursor and stage or stage < #sets and stage + 1 or nil
if #keys > 0 then
  local counts = failures_of(keys)
  local function column(command, name) return redis.call(command, name, unpack(keys)) end
  local columns = {
    payload = column('HMGET', q.items), trace = column('HMGET', q.traces), stalls = column('HMGET', q.stalls),
    priority = column('HMGET', q.priorities), duePriority = column('HMGET', q.due_priorities),
    due = column('ZMSCORE', q.delayed), dueRetry = column('HMGET', q.due_retries),
    blocked = column('ZMSCORE', q.blocked_retries), folding = column('SMISMEMBER', q.folding),
    holder = column('HMGET', q.holders), failures = column('HMGET', prefix .. 'failures'),
    error = column('HMGET', prefix .. 'errors'), since = column('HMGET', prefix .. 'failingsince'),
  }
  for i, key in ipairs(keys) do
    local place, due, held = q.isReady(key) or columns.blocked[i], columns.due[i], columns.holder[i]
    local priority = tonumber(columns.priority[i]) or 0
    if held then
      local flag, token, owner, rank = q.split(held)
      if flag == '+' or not q.isCancelled(key, token, owner) then priority = math.max(priority, (q.parseRank(rank)))
      else held = false end
    end
    if place or due or held and withProcessing then
      local n = #entries.key + 1
      entries.key[n], entries.payload[n], entries.trace[n] = key, columns.payload[i], columns.trace[i]
      entries.stalls[n] = tonumber(columns.stalls[i]) or 0
      entries.readyAtUs[n] = place and math.max(tonumber(place), 0) or held and now
      entries.priority[n] = string.format('%.17g', priority)
      entries.isRetry[n] = columns.blocked[i] and 1 or 0
      entries.dueAtUs[n] = due and tonumber(due)
      entries.duePriority[n] = columns.duePriority[i] or '0'
      entries.dueIsRetry[n] = columns.dueRetry[i] and 1 or 0
      entries.isFolding[n] = columns.folding[i]
      local stored, failed = tostring(columns.failures[i]), counts[i]
      local ends, early = string.match(stored, '^%S+ (%d+)'), string.match(stored, '@(%d+)$')
      entries.failures[n] = failed
      entries.error[n] = failed > 0 and columns.error[i] or ''
      entries.failingForUs[n] = failed > 0 and now - (tonumber(columns.since[i]) or now) or 0
      entries.forgottenInUs[n] = failed > 0 and ends and ends - now
      entries.earlyForUs[n] = failed > 0 and early and math.max(early - now, 0)
    end
  end
end
`,
});

/** Lua expression for whether the queue knows a key. */
const IS_KNOWN = `(q.isReady(key) or redis.call('ZSCORE', q.delayed, key) or redis.call('ZSCORE', q.given_up, key)
    or redis.call('HEXISTS', q.holders, key) == 1)`;

/** Adds keys that were stored in another queue. Keys that the queue knows are left as they are. */
export const restore = declareScript({
  adds: true,
  args: {},
  rows: STORED,
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
q.isBusy = true
q.makeDueReady()
${
    eachRow(/* lua */ `
  if not ${IS_KNOWN} then
    if payload then
      redis.call('HSET', q.meta, 'payloads', 1)
      redis.call('HSET', q.items, key, payload)
    end
    q.keepTrace(key, trace)
    if stalls > 0 then redis.call('HSET', q.stalls, key, whole(stalls)) end
    if failures > 0 then
      local entry = whole(failures)
      if forgottenInUs or earlyForUs then
        entry = entry .. ' ' .. (forgottenInUs and whole(now + forgottenInUs) or '-')
      end
      if earlyForUs then entry = entry .. ' @' .. whole(now + earlyForUs) end
      redis.call('HSET', prefix .. 'failures', key, entry)
      redis.call('ZADD', prefix .. 'failing', -failures, key)
      redis.call('HSET', prefix .. 'failingsince', key, whole(now - failingForUs))
      if error ~= '' then redis.call('HSET', prefix .. 'errors', key, error) end
    end
    if dueAtUs then
      q.delayUntil(key, dueAtUs, duePriority, dueIsRetry)
      if isFolding then
        redis.call('SADD', q.folding, key)
        redis.call('HSET', q.meta, 'folding', 1)
      end
    end
    if readyAtUs then q.come(key, readyAtUs <= now and readyAtUs or q.tick(), false, priority, isRetry) end
  end`)
  }
q.wakeForReady()
`,
});

/** Adds keys that were given up in another queue. Keys that the queue knows are left as they are. */
export const restoreGivenUp = declareScript({
  adds: true,
  args: {},
  rows: {
    key: TEXT,
    payload: optional(TEXT),
    error: TEXT,
    attempts: NUMBER,
    reason: TEXT as ReplyField<GiveUpReason> & typeof TEXT,
    group: optional(TEXT),
    firstFailedAgoMs: DURATION,
    givenUpAgoMs: DURATION,
  },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
q.isBusy = true
${
    eachRow(/* lua */ `
  if not ${IS_KNOWN} then
    local at = q.firstFree(q.given_up, now - givenUpAgoUs)
    local first = whole(math.min(now - firstFailedAgoUs, at))
    redis.call('ZADD', q.given_up, whole(at), key)
    redis.call('HSET', q.stalls, key, 'x0')
    redis.call('HSET', q.reasons, key, cjson.encode({ error, payload or cjson.null, reason, attempts, first, group }))
  end`)
  }
${dropGivenUp}
`,
});
