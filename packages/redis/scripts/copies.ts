/**
 * Scripts that copy the keys of a queue to another queue: see `copy.ts` of `@workqueue/engine`.
 *
 * @module
 */

import type { GiveUpReason } from "@workqueue/core";
import type { RetryKind } from "@workqueue/engine";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import {
  type Argument,
  DECIMAL,
  DURATION,
  fields,
  FLAG,
  NOTHING,
  NUMBER,
  optional,
  type ReplyField,
  rows,
  TEXT,
} from "./fields.ts";

const RETRY = NUMBER as Argument<RetryKind> & ReplyField<RetryKind>;

/** Key, with everything that is stored about it. */
const STORED = {
  key: TEXT,
  payload: optional(TEXT),
  trace: optional(TEXT),
  stalls: NUMBER,
  readyAtMs: optional(DURATION),
  isFirst: FLAG,
  priority: DECIMAL,
  retry: RETRY,
  dueAtMs: optional(DURATION),
  duePriority: DECIMAL,
  dueRetry: RETRY,
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
  functions: lua("limiters"),
  args: {
    /** Number of the structure, from 0 on. */
    stage: NUMBER,
    /** Cursor in the structure. At its beginning by default. */
    cursor: optional(TEXT),
    withProcessing: FLAG,
  },
  reply: fields({ entries: rows(STORED), nextStage: optional(NUMBER), nextCursor: optional(TEXT) }),
  body: lua("stored"),
});

/** Adds keys that were stored in another queue. Keys that the queue knows are left as they are. */
export const restore = declareScript({
  adds: true,
  args: {},
  rows: STORED,
  reply: NOTHING,
  body: lua("restore"),
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
  body: lua("restore_given_up"),
});
