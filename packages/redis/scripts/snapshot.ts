import type { GiveUpReason } from "@workqueue/core";
import { NUMBERS, setNumbers } from "./counts.ts";
import { declareScript } from "./declare.ts";
import {
  DECIMAL,
  DURATION,
  fields,
  FLAG,
  metaNumbers,
  NUMBER,
  optional,
  type ReplyField,
  rows,
  TEXT,
} from "./fields.ts";
import { inParts } from "./in_parts.ts";
import { limiters } from "./limiters.ts";

/** Fields of `meta` that count given-up keys, by reason. */
export const GIVEN_UP_FOR: Readonly<Record<GiveUpReason, string>> = {
  maxRetries: "givenUp:maxRetries",
  terminal: "givenUp:terminal",
  shutdown: "givenUp:shutdown",
  stalled: "givenUp:stalled",
  limiter: "givenUp:limiter",
};

/** Key, with its payload if payloads were requested. */
const ENTRY = { key: TEXT, payload: optional(TEXT) };

/** Priority of a key. Missing if no key of the queue ever had one. */
const PRIORITY = { priority: optional(DECIMAL) };

const REASON = TEXT as ReplyField<"paused" | "probing" | "limit" | "rate">;

/** Counts and lists the keys of a queue. */
export const snapshot = declareScript({
  functions: limiters,
  args: {
    /** Maximum length of each list. */
    limit: NUMBER,
    hasItems: FLAG,
  },
  reply: fields({
    ...NUMBERS,
    isPaused: FLAG,
    /** Number of retries without budget. Missing if the queue has no retry budget. */
    blockedRetries: optional(NUMBER),
    /** Whether the queue has groups. */
    hasGroups: FLAG,
    /** Totals since the queue was created. */
    totals: metaNumbers({ handedOut: "handedOut", failed: "failed", givenUp: "givenUp" }),
    givenUpFor: metaNumbers(GIVEN_UP_FOR),
    /** Sorted by place. */
    readyEntries: rows({ ...ENTRY, ...PRIORITY }),
    /** Earliest deadline first. */
    delayedEntries: rows({ ...ENTRY, ...PRIORITY, dueInMs: DURATION }),
    processingEntries: rows({ ...ENTRY, ...PRIORITY, addedAgain: FLAG }),
    /** Most failures first. `dueInMs` is missing if the key is not delayed. */
    failingEntries: rows({ ...ENTRY, attempts: NUMBER, error: TEXT, dueInMs: optional(DURATION) }),
    /** Groups with blocked keys, in no order. `changesInMs` is missing if the time of the change is unknown. */
    blockedGroups: rows({ group: TEXT, reason: REASON, blocked: NUMBER, changesInMs: optional(DURATION) }),
  }),
  body: /* lua */ `
q.makeDueReady()
${setNumbers}
local isPaused = isPaused and 1 or 0
local hasGroups = q.hasGroups and 1 or 0
local blockedRetries = q.budget and q.retryBudget().count()

-- Each of the three lines is sorted by the time when its keys became ready.
local found = {}
local function findReady(...)
  local part = limit > 0 and redis.call('ZRANGE', ...) or {}
  for i = 1, #part, 2 do found[#found + 1] = { part[i], tonumber(part[i + 1]) } end
end
if not q.plan then findReady(q.ready, 0, limit - 1, 'WITHSCORES') end
findReady(q.stalled, 0, limit - 1, 'WITHSCORES')
findReady(q.suspects, 0, limit - 1, 'WITHSCORES')
if due > 0 then findReady(q.delayed, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') end
table.sort(found, function(a, b) return a[2] < b[2] end)
for i = 1, math.min(#found, limit) do readyEntries.key[i] = found[i][1] end
for _, key in ipairs(q.plan and q.ordered().list(limit - #readyEntries.key) or {}) do
  readyEntries.key[#readyEntries.key + 1] = key
end
for i, found in ipairs(q.hasGroups and q.ordered().listBlocked(limit) or {}) do
  blockedGroups.group[i], blockedGroups.reason[i], blockedGroups.blocked[i] = found[1], found[2], found[3]
  blockedGroups.changesInUs[i] = found[4] and found[4] - now or false
end

local later = limit > 0
  and redis.call('ZRANGE', q.delayed, '(' .. whole(now), '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES') or {}
for i = 1, #later / 2 do
  delayedEntries.key[i] = later[2 * i - 1]
  delayedEntries.dueInUs[i] = later[2 * i] - now
end

local holders = limit > 0 and redis.call('HRANDFIELD', q.holders, limit, 'WITHVALUES') or {}
for i = 1, #holders / 2 do
  processingEntries.key[i] = holders[2 * i - 1]
  processingEntries.addedAgain[i] = string.sub(holders[2 * i], 1, 1) == '+' and 1 or 0
  if q.ranked then
    local _, _, _, rank = q.split(holders[2 * i])
    processingEntries.priority[i] = string.format('%.17g', (q.parseRank(rank)))
  end
end

-- Lists the keys with the most failures. Skips keys that will not be retried: keys whose work ended without forgetting
-- their failures, and that are not delayed, ready or processing. Skips at most SPARE keys.
local SPARE = 1000
local forgotten = {}
local from, page = 0, math.max(limit, 100)
while #failingEntries.key < limit and from < limit + SPARE do
  local keys = redis.call('ZRANGE', prefix .. 'failing', from, from + page - 1)
  if #keys == 0 then break end
  from = from + page
  local counts = failures_of(keys)
  local errors = redis.call('HMGET', prefix .. 'errors', unpack(keys))
  local dues = redis.call('ZMSCORE', q.delayed, unpack(keys))
  for i, key in ipairs(keys) do
    local n = #failingEntries.key + 1
    if n > limit then break end
    local at = dues[i]
    if counts[i] == 0 then
      forgotten[#forgotten + 1] = key -- expired
    elseif at or q.isReady(key) or redis.call('HEXISTS', q.holders, key) == 1 then
      failingEntries.key[n] = key
      failingEntries.attempts[n] = counts[i]
      failingEntries.error[n] = errors[i] or ''
      failingEntries.dueInUs[n] = at and at - now > 0 and at - now
    end
  end
end
if #forgotten > 0 then redis.call('ZREM', prefix .. 'failing', unpack(forgotten)) end

local function addPayloads(entries)
  if not hasItems then return end
  local keys = entries.key
${
    inParts("keys", (part) => /* lua */ `
    local items = redis.call('HMGET', q.items, ${part})
    for i, item in ipairs(items) do entries.payload[first + i - 1] = item end`)
  }
end
addPayloads(readyEntries)
addPayloads(delayedEntries)
addPayloads(processingEntries)
addPayloads(failingEntries)

if q.ranked then q.priorityStore().save() end
local function addPriorities(entries, hash)
  if not q.ranked then return end
  local keys = entries.key
${
    inParts("keys", (part) => /* lua */ `
    local found = redis.call('HMGET', hash, ${part})
    for i, priority in ipairs(found) do entries.priority[first + i - 1] = priority or '0' end`)
  }
end
addPriorities(readyEntries, q.priorities)
addPriorities(delayedEntries, q.due_priorities)
`,
});
