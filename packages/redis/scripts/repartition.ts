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
import { lua } from "./lua_files.ts";
import { DURATION, fields, list, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";

/** Locks a partition of a queue that is at rest: calls of all processes are refused from then on. */
export const lock = declareScript({
  args: { locked: TEXT },
  reply: fields({
    /** Why the partition was not locked. Missing if it is locked. */
    refusal: optional(TEXT),
  }),
  body: lua("lock"),
});

/**
 * Locks a partition that is not in use. The reply is `"locked"`; or `"moved"` if the partition is in use after a later
 * move, or `"queue"` if it is a queue of its own.
 */
export const claim = declareScript({
  prelude: lua("meta_only"),
  args: { number: NUMBER, locked: TEXT },
  reply: TEXT,
  body: lua("claim"),
});

/** Ends the lock of a move, or of an earlier one, on a partition. */
export const unlock = declareScript({
  prelude: lua("meta_only"),
  args: {
    number: NUMBER,
    /** Division of the queue. Missing if it has no partitions. */
    division: optional(TEXT),
  },
  reply: NOTHING,
  body: lua("unlock"),
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
  body: lua("read_settings"),
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
  body: lua("export_some"),
});

/** Forgets a batch that was imported. */
export const endExport = declareScript({
  args: { batch: NUMBER },
  reply: NOTHING,
  body: lua("end_export"),
});

/** Creates new structures of a partition without keys, unless the move has done so before. */
export const beginImport = declareScript({
  args: { locked: TEXT },
  reply: NOTHING,
  body: lua("begin_import"),
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
  body: lua("import_some"),
});

/** Gives the new structures of a partition their names. */
export const takeOver = declareScript({
  args: {
    /** {@linkcode Settings} as JSON. */
    settings: TEXT,
    locked: TEXT,
  },
  reply: NOTHING,
  body: lua("take_over"),
});

/** Removes a partition whose keys were moved. Sets its division. */
export const remove = declareScript({
  args: { division: TEXT },
  reply: NOTHING,
  body: lua("remove"),
});

/** Adds some of the ready keys to the order of a partition. Replies whether keys are left. */
export const orderSome = declareScript({
  args: {},
  reply: NUMBER,
  body: lua("order_some"),
});

/** Removes a part of the order of a partition without ready keys. Replies whether parts are left. */
export const dropOrder = declareScript({
  args: {},
  reply: NUMBER,
  body: lua("drop_order"),
});
