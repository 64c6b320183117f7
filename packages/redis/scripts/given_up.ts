import type { GiveUpReason } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { DURATION, fields, metaNumbers, NUMBER, optional, type ReplyField, rows, TEXT } from "./fields.ts";

const REASON = TEXT as ReplyField<GiveUpReason>;

/**
 * Lua that defines `readGivenUp(key)` and `isFound(key, entry)`, which reports whether the key or the error contains
 * the text `search`. Ignores the case of ASCII letters only, because Lua knows no others.
 *
 * An entry in `reasons` is a JSON array: error, payload (or null), reason, number of attempts, time of the first
 * failure as text, and, in a queue with groups, the group.
 */
export const searched = /* lua */ `
search = string.lower(search)
local function readGivenUp(key)
  local stored = redis.call('HGET', q.reasons, key)
  return stored and cjson.decode(stored) or { '', cjson.null, 'terminal' }
end
local function isFound(key, entry)
  return search == '' or string.find(string.lower(key), search, 1, true) ~= nil or
    string.find(string.lower(entry[1]), search, 1, true) ~= nil
end`;

/**
 * Lua that visits given-up keys, the newest first, and checks at most 1,000. `visit` is the body of a function of
 * `key`, `entry` and `at`, the time when the key was given up. It returns true, or false to stop before this key.
 * `cursor` is the time at which the first key was given up, and is set to the time of the next key; nil if no keys are
 * left. No two keys have the same time.
 */
const eachGivenUp = (visit: string): string => /* lua */ `
do
  local PAGE = 1000
  local page = redis.call('ZRANGE', q.given_up, cursor or '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, PAGE + 1,
    'WITHSCORES')
  local function visit(key, entry, at)
    ${visit}
    return true
  end
  local i = 1
  while i < 2 * PAGE and page[i] and visit(page[i], readGivenUp(page[i]), page[i + 1]) do i = i + 2 end
  checked = (i - 1) / 2
  cursor = page[i] and page[i + 1]
end`;

/** Lists given-up keys, the newest first. One call checks at most 1,000 keys. */
export const givenUp = declareScript({
  args: {
    /** Text that the key or the error must contain; may be empty. */
    search: TEXT,
    limit: NUMBER,
    cursor: optional(TEXT),
  },
  reply: fields({
    entries: rows({
      key: TEXT,
      /** Time when the key was given up, for cursors. */
      at: TEXT,
      payload: optional(TEXT),
      error: TEXT,
      attempts: NUMBER,
      reason: REASON,
      group: optional(TEXT),
      firstFailedAgoMs: DURATION,
      givenUpAgoMs: DURATION,
    }),
    /** Cursor of the next call. Missing after the last key. */
    cursor: optional(TEXT),
    checked: NUMBER,
    total: NUMBER,
    dropped: metaNumbers({ count: "dropped" }),
  }),
  body: /* lua */ `
${searched}
local checked = 0
local total = redis.call('ZCARD', q.given_up)
${
    eachGivenUp(/* lua */ `
    local n = #entries.key + 1
    if n > limit then return false end
    if not isFound(key, entry) then return true end
    entries.key[n], entries.at[n] = key, at
    entries.payload[n] = entry[2] ~= cjson.null and entry[2] or false
    entries.error[n] = entry[1]
    entries.reason[n] = entry[3]
    entries.attempts[n] = entry[4]
    entries.firstFailedAgoUs[n] = now - entry[5]
    entries.group[n] = entry[6] or false
    entries.givenUpAgoUs[n] = now - at`)
  }
`,
});

/** Lua that forgets a given-up key. */
const forget = /* lua */ `
    redis.call('ZREM', q.given_up, key)
    redis.call('HDEL', q.reasons, key)
    redis.call('HDEL', q.stalls, key)
    discarded = discarded + 1`;

/** Forgets given-up keys that a search finds, the newest first. One call checks at most 1,000 keys. */
export const discard = declareScript({
  args: { search: TEXT, cursor: optional(TEXT) },
  reply: fields({ discarded: NUMBER, cursor: optional(TEXT) }),
  body: /* lua */ `
${searched}
local discarded, checked = 0, 0
${
    eachGivenUp(/* lua */ `
    if not isFound(key, entry) then return true end
    ${forget}`)
  }
`,
});

/** Forgets the given-up keys among the rows that a search finds. */
export const discardKeys = declareScript({
  args: { search: TEXT },
  rows: { key: TEXT },
  reply: NUMBER,
  body: (eachRow) => /* lua */ `
${searched}
local discarded = 0
${
    eachRow(/* lua */ `
  if redis.call('ZSCORE', q.given_up, key) and isFound(key, readGivenUp(key)) then
    ${forget}
  end`)
  }
return q.reply(discarded)
`,
});
