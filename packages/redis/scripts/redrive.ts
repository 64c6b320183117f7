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
import { lua } from "./lua_files.ts";
import { DECIMAL, DURATION, fields, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";

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

/**
 * Notes keys for a job that has not begun. If it never begins, the notes expire. The job then adds only keys that were
 * noted.
 */
export const listForRedrive = declareScript({
  adds: true,
  args: { id: TEXT },
  rows: { key: TEXT },
  reply: NOTHING,
  body: lua("list_for_redrive"),
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
  body: lua("redrive"),
});

/** Takes the next step of the job, if it is due, and replies with the progress. */
export const redriveProgress = declareScript({
  args: {},
  reply: PROGRESS,
  body: lua("redrive_progress"),
});

/** Stops the job. The keys that it did not add are still given up. */
export const stopRedrive = declareScript({
  args: {},
  reply: PROGRESS,
  body: lua("stop_redrive"),
});
