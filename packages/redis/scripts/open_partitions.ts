/**
 * Scripts that say how a queue is divided into partitions. They run on the key `meta` that the queue has or would have
 * without partitions. Its field `partitions` is the division, and its field `repartition` is missing unless the keys
 * are being moved to other partitions: see `repartition.ts`.
 *
 * @module
 */

import { declareScript } from "./declare.ts";
import { DURATION, fields, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";
import { FORMAT, refuseOtherQueue } from "./format.ts";

/** Beginning of scripts that use only `meta`. */
export const metaOnly = () => /* lua */ `
local prefix = string.sub(KEYS[1], 1, -5)
local q = { meta = KEYS[1] }
local format = redis.call('HGET', q.meta, 'format')
${refuseOtherQueue("format")}
function q.reply(value)
  return value
end
`;

/** Fields of a reply with the division. */
const DIVISION = {
  /** Whether the queue is on the server. */
  exists: FLAG,
  /** Missing if the queue has no partitions. */
  division: optional(TEXT),
  moving: optional(TEXT),
};

const readDivision = /* lua */ `
local exists = redis.call('EXISTS', q.meta)
local found = redis.call('HMGET', q.meta, 'partitions', 'repartition', 'repartitions', 'order')
local division, moving = found[1], found[2]
`;

/** Reads the division, and divides a queue that is not on the server. */
export const openPartitions = declareScript({
  prelude: metaOnly,
  args: {
    /** Division of a new queue. */
    own: TEXT,
  },
  reply: fields(DIVISION),
  body: /* lua */ `
if redis.call('EXISTS', q.meta) == 0 then
  redis.call('HSET', q.meta, 'format', '${FORMAT}', 'more', 1, 'partitions', own)
end
redis.call('PERSIST', q.meta)
${readDivision}
`,
});

/** Lets the division expire, unless it is another one by now, or a process opens the queue before that. */
export const forgetPartitions = declareScript({
  prelude: metaOnly,
  args: { own: TEXT, expireMs: DURATION },
  reply: NOTHING,
  body: /* lua */ `
local found = redis.call('HMGET', q.meta, 'partitions', 'repartition')
if found[1] == own and not found[2] then redis.call('EXPIRE', q.meta, math.ceil(expireUs / 1000000)) end
`,
});

/** Reads what is known before a move. */
export const readPartitions = declareScript({
  prelude: metaOnly,
  args: {},
  reply: fields({
    ...DIVISION,
    /** Number of moves that have begun. */
    moves: NUMBER,
    /** Plan of the discipline. Missing if there is none, or if each partition has it. */
    plan: optional(TEXT),
  }),
  body: /* lua */ `
${readDivision}
local moves = tonumber(found[3]) or 0
local plan = found[4] and string.match(found[4], '^%d+ (.*)$')
`,
});

/**
 * Notes how far a move has come. Without `moving`, the move has ended. Changes nothing if another process has gone on
 * with the move, or has begun another. The reply is whether `moving` is noted.
 */
export const setMoving = declareScript({
  prelude: metaOnly,
  args: {
    /** Text noted before. Missing if there was none. */
    before: optional(TEXT),
    moving: optional(TEXT),
    /** Number of the move. */
    number: NUMBER,
    /** Division from now on. By default, it stays. */
    division: optional(TEXT),
  },
  reply: FLAG,
  body: /* lua */ `
local current = redis.call('HGET', q.meta, 'repartition') or nil
if current == moving then return 1 end -- the call was repeated because its reply was lost
local moves = tonumber(redis.call('HGET', q.meta, 'repartitions')) or 0
if current ~= before or (moves ~= number - 1 and not (before and moves == number)) then return 0 end
redis.call('HSET', q.meta, 'format', '${FORMAT}', 'more', 1, 'repartitions', number)
if moving then redis.call('HSET', q.meta, 'repartition', moving) else redis.call('HDEL', q.meta, 'repartition') end
if division == '[1]' then redis.call('HDEL', q.meta, 'partitions')
elseif division then redis.call('HSET', q.meta, 'partitions', division) end
return 1
`,
});
