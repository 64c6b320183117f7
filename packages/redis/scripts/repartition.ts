/**
 * Scripts that move the keys of a queue to other partitions: see `repartition.ts` in the folder above.
 *
 * The keys leave the structures of a partition in batches, as rows of the hash `export`, and go to structures of other
 * partitions whose names begin with `new:`. In the end, these structures lose this prefix.
 *
 * A partition whose keys are being moved, or were moved to other partitions, is locked: its division is `[0,NUMBER]`,
 * with the number of the move, or `[0,NUMBER,1]` after it has its new structures or was removed. So a process that was
 * stopped during an earlier move, or an earlier stage, can't change the partition.
 *
 * @module
 */

import { declareScript } from "./declare.ts";
import { DURATION, fields, list, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";
import { FORMAT } from "./format.ts";
import { metaOnly } from "./open_partitions.ts";
import { dropPastOrder, moveSome } from "./order.ts";
import { GIVEN_UP_FOR } from "./snapshot.ts";
import { HASHES, inLua, SORTED_SETS, STRUCTURES } from "./structures.ts";

/** Counts in `meta`. */
const COUNTS = ["handedOut", "failed", "dropped", "givenUp", ...Object.values(GIVEN_UP_FOR)];

/** Number of bytes of items from which on a batch gets no more keys. */
const MAX_BYTES = 1_000_000;
/** Maximum number of keys in a batch. */
const IN_BATCH = 100;

/** Lua that sets `held` to the number of the move that has locked the partition; nil if none has. */
const readLock = /* lua */ `
local held = tonumber(string.match(redis.call('HGET', q.meta, 'partitions') or '', '^%[0,(%d+)') or nil)`;

/** Locks a partition of a queue that is at rest: calls of all processes are refused from then on. */
export const lock = declareScript({
  args: { locked: TEXT },
  reply: fields({
    /** Why the partition was not locked. Missing if it is locked. */
    refusal: optional(TEXT),
  }),
  body: /* lua */ `
local refusal = not stored[5] and 'it must be paused'
  or redis.call('EXISTS', q.holders, q.expired) > 0 and 'items of it are processing'
  or q.redrive_at and 'a redrive of it is running'
if not refusal then
  q.useMore()
  redis.call('HSET', q.meta, 'partitions', locked)
end
`,
});

/**
 * Locks a partition that is not in use. The reply is `"locked"`; or `"moved"` if the partition is in use after a later
 * move, or `"queue"` if it is a queue of its own.
 */
export const claim = declareScript({
  prelude: metaOnly,
  args: { number: NUMBER, locked: TEXT },
  reply: TEXT,
  body: /* lua */ `
${readLock}
if held and held <= number or redis.call('EXISTS', q.meta) == 0 then
  redis.call('HSET', q.meta, 'format', '${FORMAT}', 'more', 1, 'partitions', locked)
  return 'locked'
end
return redis.call('HEXISTS', q.meta, 'partitions') == 1 and 'moved' or 'queue'
`,
});

/** Ends the lock of a move, or of an earlier one, on a partition. */
export const unlock = declareScript({
  prelude: metaOnly,
  args: {
    number: NUMBER,
    /** Division of the queue. Missing if it has no partitions. */
    division: optional(TEXT),
  },
  reply: NOTHING,
  body: /* lua */ `
${readLock}
if held and held <= number then
  if division then redis.call('HSET', q.meta, 'partitions', division)
  else redis.call('HDEL', q.meta, 'partitions') end
end
`,
});

/** Settings and counts of a partition. */
export interface Settings {
  /** Start of the pause, and number of pauses. */
  readonly paused: string;
  readonly pauses: string;
  /** Limits on given-up keys, if there are any. */
  readonly keep?: string;
  readonly keepFor?: string;
  /** Plan of the discipline, if there is one, and weights of its groups. */
  readonly plan?: string;
  readonly weights: Readonly<Record<string, string>>;
  /** Ends of the pauses of groups. */
  readonly pausedGroups: Readonly<Record<string, string>>;
  /** Retry budget, if there is one: the share of first attempts, and the retries per second. */
  readonly budget?: readonly [ratio: number, minRate: number];
  readonly counts: Readonly<Record<string, string>>;
}

/** Reads the settings and counts of a partition, as JSON. */
export const readSettings = declareScript({
  args: {},
  reply: TEXT,
  body: /* lua */ `
local function pairsOf(found)
  local all = {}
  for i = 1, #found, 2 do all[found[i]] = found[i + 1] end
  return all
end
local found = redis.call('HMGET', q.meta, 'paused', 'pauses', 'keep', 'keepFor')
local counts, names = {}, ${inLua(COUNTS)}
for i, count in ipairs(redis.call('HMGET', q.meta, unpack(names))) do counts[names[i]] = count or '0' end
local budget
if q.budget then
  local credit, interval = struct.unpack('>dd', q.budget)
  budget = { credit / 1000000, 1000000 / math.max(interval, 1) }
end
local weights = q.plan and redis.call('HRANDFIELD', q.orders .. q.plan_number .. ':weights', 2^31, 'WITHVALUES') or {}
return cjson.encode({
  paused = found[1] or whole(now),
  pauses = found[2] or '0',
  keep = found[3] or nil,
  keepFor = found[4] or nil,
  plan = q.plan,
  budget = budget,
  weights = pairsOf(weights),
  pausedGroups = pairsOf(redis.call('ZRANGE', q.paused_groups, '(' .. whole(now), '+inf', 'BYSCORE', 'WITHSCORES')),
  counts = counts,
})
`,
});

/**
 * Takes a batch of keys out of a partition. The batch stays in `export` until `endExport`, and is replied again until
 * then.
 */
export const exportSome = declareScript({
  args: {},
  reply: fields({
    /** Number of the batch. */
    batch: NUMBER,
    /** Time of the queue. */
    lastMs: DURATION,
    /** Rows as JSON: the key, its score in each sorted set, its value in each hash, and 1 if it is in \`folding\`. */
    rows: list(TEXT),
  }),
  body: /* lua */ `
local sets, hashes = ${inLua(SORTED_SETS)}, ${inLua(HASHES)}
local out = prefix .. 'export'
local lastUs = last
if redis.call('EXISTS', out) == 0 then
  local keys = {}
  for _, name in ipairs(sets) do
    if #keys == 0 then keys = redis.call('ZRANGE', prefix .. name, 0, ${IN_BATCH - 1}) end
  end
  for _, name in ipairs(hashes) do
    if #keys == 0 then keys = redis.call('HRANDFIELD', prefix .. name, ${IN_BATCH}) end
  end
  if #keys > 0 then
    -- A batch with large items has fewer keys.
    local bytes, items, reasons = 0, redis.call('HMGET', q.items, unpack(keys)), redis.call('HMGET', q.reasons,
      unpack(keys))
    for i = 1, #keys do
      bytes = bytes + #(items[i] or '') + #(reasons[i] or '')
      if i > 1 and bytes > ${MAX_BYTES} then keys[i] = nil end
    end
    local columns = {}
    for i, name in ipairs(sets) do
      columns[i] = redis.call('ZMSCORE', prefix .. name, unpack(keys))
      redis.call('ZREM', prefix .. name, unpack(keys))
    end
    for _, name in ipairs(hashes) do
      columns[#columns + 1] = redis.call('HMGET', prefix .. name, unpack(keys))
      redis.call('HDEL', prefix .. name, unpack(keys))
    end
    for i, key in ipairs(keys) do
      local row = { key }
      for n, column in ipairs(columns) do row[n + 1] = column[i] or false end
      row[#row + 1] = redis.call('SREM', q.folding, key)
      redis.call('HSET', out, i, cjson.encode(row))
    end
    redis.call('HINCRBY', q.meta, 'batch', 1)
  end
end
local batch = tonumber(redis.call('HGET', q.meta, 'batch')) or 0
local rows = {}
for i, row in ipairs(redis.call('HRANDFIELD', out, ${IN_BATCH}, 'WITHVALUES')) do
  if i % 2 == 0 then rows[i / 2] = row end
end
`,
});

/** Forgets a batch that was imported. */
export const endExport = declareScript({
  args: { batch: NUMBER },
  reply: NOTHING,
  body: /* lua */ `
if tonumber(redis.call('HGET', q.meta, 'batch')) == batch then redis.call('DEL', prefix .. 'export') end
`,
});

/** Creates new structures of a partition without keys, unless the move has done so before. */
export const beginImport = declareScript({
  args: { locked: TEXT },
  reply: NOTHING,
  body: /* lua */ `
local new = prefix .. 'new:'
if redis.call('HGET', new .. 'meta', 'partitions') ~= locked then
  for _, name in ipairs(${inLua(STRUCTURES)}) do redis.call('UNLINK', new .. name) end
  redis.call('DEL', new .. 'meta')
  redis.call('HSET', new .. 'meta', 'format', '${FORMAT}', 'more', 1, 'partitions', locked)
end
`,
});

/** Adds a batch to the new structures of a partition, which must be there. */
export const importSome = declareScript({
  adds: true,
  args: {
    /** Time of the partition from which the keys come. */
    lastMs: DURATION,
  },
  rows: { row: TEXT },
  reply: NOTHING,
  body: (eachRow) => /* lua */ `
local sets, hashes = ${inLua(SORTED_SETS)}, ${inLua(HASHES)}
if not stored[16] then
  redis.call('DEL', q.meta) -- which was created at the beginning of this script
  return redis.error_reply('WQPARTITIONS Another process has moved the items')
end
last = math.max(last, lastUs) -- so that later tokens of a key are larger
${
    eachRow(/* lua */ `
  local values = cjson.decode(row)
  local key = values[1]
  for i, name in ipairs(sets) do
    local score = values[i + 1]
    -- In lists of given-up keys, no two keys may have the same time.
    if score and name == 'givenup' and not redis.call('ZSCORE', q.given_up, key) then
      score = whole(q.firstFree(q.given_up, tonumber(score)))
    end
    if score then redis.call('ZADD', prefix .. name, 'NX', score, key) end
  end
  for i, name in ipairs(hashes) do
    local value = values[#sets + i + 1]
    if value then redis.call('HSET', prefix .. name, key, value) end
    if value and (name == 'priorities' or name == 'duepriorities') then redis.call('HSET', q.meta, 'ranked', 1) end
    if value and name == 'traces' then redis.call('HSET', q.meta, 'traces', 1, 'more', 1) end
    if value and name == 'items' then redis.call('HSET', q.meta, 'payloads', 1) end
  end
  if values[#values] == 1 then
    redis.call('SADD', q.folding, key)
    redis.call('HSET', q.meta, 'folding', 1)
  end`)
  }
`,
});

/** Gives the new structures of a partition their names. */
export const takeOver = declareScript({
  args: {
    /** {@linkcode Settings} as JSON. */
    settings: TEXT,
    locked: TEXT,
  },
  reply: NOTHING,
  body: /* lua */ `
local new = prefix .. 'new:'
for _, name in ipairs(${inLua(STRUCTURES)}) do
  redis.call('UNLINK', prefix .. name)
  if redis.call('EXISTS', new .. name) == 1 then redis.call('RENAME', new .. name, prefix .. name) end
end
local given = cjson.decode(settings)
local newLast = tonumber(redis.call('HGET', new .. 'meta', 'last')) or 0
local move = redis.call('HMGET', q.meta, 'repartition', 'repartitions')
redis.call('RENAME', new .. 'meta', q.meta)
redis.call('HSET', q.meta, 'partitions', locked)
if move[1] then redis.call('HSET', q.meta, 'repartition', move[1], 'repartitions', move[2]) end
for _, name in ipairs({ 'paused', 'pauses', 'keep', 'keepFor' }) do
  if given[name] then redis.call('HSET', q.meta, name, given[name]) end
end
for name, count in pairs(given.counts) do redis.call('HSET', q.meta, name, count) end
for group, until_ in pairs(given.pausedGroups) do redis.call('ZADD', q.paused_groups, until_, group) end
last = math.max(last, newLast)
`,
});

/** Removes a partition whose keys were moved. Sets its division. */
export const remove = declareScript({
  args: { division: TEXT },
  reply: NOTHING,
  body: /* lua */ `
for _, name in ipairs(${inLua(STRUCTURES)}) do redis.call('UNLINK', prefix .. name) end
local moves = redis.call('HGET', q.meta, 'repartitions')
redis.call('DEL', q.meta)
redis.call('HSET', q.meta, 'format', '${FORMAT}', 'more', 1, 'partitions', division)
if moves then redis.call('HSET', q.meta, 'repartitions', moves) end
`,
});

/** Adds some of the ready keys to the order of a partition. Replies whether keys are left. */
export const orderSome = declareScript({
  args: {},
  reply: NUMBER,
  body: /* lua */ `
if q.moving then
${moveSome}
end
return q.reply(redis.call('HEXISTS', q.meta, 'moving'))
`,
});

/** Removes a part of the order of a partition without ready keys. Replies whether parts are left. */
export const dropOrder = declareScript({
  args: {},
  reply: NUMBER,
  body: /* lua */ `
local isLeft = false
if q.plan then isLeft = q.ordered().drop() end
${dropPastOrder}
q.order, q.fair = nil, nil
return q.reply((isLeft or past[1]) and 1 or 0)
`,
});
