import type { GiveUpReason } from "@workqueue/core";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, metaNumbers, NUMBER, optional, type ReplyField, rows, TEXT } from "./fields.ts";

const REASON = TEXT as ReplyField<GiveUpReason>;

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
  body: lua("given_up"),
});

/** Forgets given-up keys that a search finds, the newest first. One call checks at most 1,000 keys. */
export const discard = declareScript({
  args: { search: TEXT, cursor: optional(TEXT) },
  reply: fields({ discarded: NUMBER, cursor: optional(TEXT) }),
  body: lua("discard"),
});

/** Forgets the given-up keys among the rows that a search finds. */
export const discardKeys = declareScript({
  args: { search: TEXT },
  rows: { key: TEXT },
  reply: NUMBER,
  body: lua("discard_keys"),
});
