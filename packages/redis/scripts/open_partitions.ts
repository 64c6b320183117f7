/**
 * Scripts that say how a queue is divided into partitions. They run on the key `meta` that the queue has or would have
 * without partitions. Its field `partitions` is the division, and its field `repartition` is missing unless the keys
 * are being moved to other partitions: see `repartition.ts`.
 *
 * @module
 */

import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";

/** Fields of a reply with the division. */
const DIVISION = {
  /** Whether the queue is on the server. */
  exists: FLAG,
  /** Missing if the queue has no partitions. */
  division: optional(TEXT),
  moving: optional(TEXT),
};

/** Reads the division, and divides a queue that is not on the server. */
export const openPartitions = declareScript({
  prelude: lua("meta_only"),
  args: {
    /** Division of a new queue. */
    own: TEXT,
  },
  reply: fields(DIVISION),
  body: lua("open_partitions"),
});

/** Lets the division expire, unless it is another one by now, or a process opens the queue before that. */
export const forgetPartitions = declareScript({
  prelude: lua("meta_only"),
  args: { own: TEXT, expireMs: DURATION },
  reply: NOTHING,
  body: lua("forget_partitions"),
});

/** Reads what is known before a move. */
export const readPartitions = declareScript({
  prelude: lua("meta_only"),
  args: {},
  reply: fields({
    ...DIVISION,
    /** Number of moves that have begun. */
    moves: NUMBER,
    /** Plan of the discipline. Missing if there is none, or if each partition has it. */
    plan: optional(TEXT),
  }),
  body: lua("read_partitions"),
});

/**
 * Notes how far a move has come. Without `moving`, the move has ended. Changes nothing if another process has gone on
 * with the move, or has begun another. The reply is whether `moving` is noted.
 */
export const setMoving = declareScript({
  prelude: lua("meta_only"),
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
  body: lua("set_moving"),
});
