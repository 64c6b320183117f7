/**
 * Scripts that say how a queue is divided into partitions. They run on the key `meta` that the queue has or would have
 * without partitions. Its field `partitions` is the division, and its field `moving` is missing unless the keys are
 * being moved to other partitions: see `repartition.ts`.
 *
 * @module
 */

import { declareScript } from "./declare.ts";
import { fields, FLAG, NOTHING, optional, TEXT } from "./fields.ts";

const prelude = () => /* lua */ `
local q = { meta = KEYS[1] }
function q.reply(value) return value end
`;

const DIVISION = fields({
  /** Whether the queue is on the server. */
  exists: FLAG,
  /** Missing if the queue has no partitions. */
  division: optional(TEXT),
  moving: optional(TEXT),
});

const readDivision = /* lua */ `
local exists = redis.call('EXISTS', q.meta)
local found = redis.call('HMGET', q.meta, 'partitions', 'moving')
local division, moving = found[1], found[2]
`;

/** Reads the division, and divides a queue that is not on the server. */
export const openPartitions = declareScript({
  prelude,
  args: {
    /** Division of a new queue. */
    own: TEXT,
  },
  reply: DIVISION,
  body: /* lua */ `
if redis.call('EXISTS', q.meta) == 0 then redis.call('HSET', q.meta, 'format', '4', 'more', 1, 'partitions', own) end
${readDivision}
`,
});

/** Reads the division. */
export const readPartitions = declareScript({ prelude, args: {}, reply: DIVISION, body: readDivision });

/** Notes how far a move has come. Without \`moving\`, the move has ended. */
export const setMoving = declareScript({
  prelude,
  args: {
    moving: optional(TEXT),
    /** Division from now on. By default, it stays. */
    division: optional(TEXT),
  },
  reply: NOTHING,
  body: /* lua */ `
redis.call('HSET', q.meta, 'format', '4', 'more', 1)
if moving then redis.call('HSET', q.meta, 'moving', moving) else redis.call('HDEL', q.meta, 'moving') end
if division then redis.call('HSET', q.meta, 'partitions', division) end
`,
});
