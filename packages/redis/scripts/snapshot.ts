import { GIVEN_UP_FOR } from "./constants.ts";
import { NUMBERS } from "./counts.ts";
import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
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

/** Key, with its payload if payloads were requested. */
const ENTRY = { key: TEXT, payload: optional(TEXT) };

/** Priority of a key. Missing if no key of the queue ever had one. */
const PRIORITY = { priority: optional(DECIMAL) };

const REASON = TEXT as ReplyField<"paused" | "probing" | "limit" | "rate">;

/** Duration, or null. */
const OR_NULL: ReplyField<number | null> = {
  ...optional(DURATION),
  read: (sent) => sent === null ? null : DURATION.read(sent),
};

/** Counts and lists the keys of a queue. */
export const snapshot = declareScript({
  functions: lua("limiters"),
  args: {
    /** Maximum length of each list. */
    limit: NUMBER,
    hasItems: FLAG,
  },
  reply: fields({
    ...NUMBERS,
    paused: FLAG,
    /** Number of retries without budget. Missing if the queue has no retry budget. */
    blockedRetries: optional(NUMBER),
    /** Whether the queue has groups. */
    hasGroups: FLAG,
    /** Totals since the queue was created. */
    totals: metaNumbers({ handedOut: "handedOut", failed: "failed", givenUp: "givenUp" }),
    givenUpFor: metaNumbers(GIVEN_UP_FOR),
    /** Sorted by place. */
    readyItems: rows({ ...ENTRY, ...PRIORITY }),
    /** Earliest deadline first. */
    delayedItems: rows({ ...ENTRY, ...PRIORITY, dueInMs: DURATION }),
    processingItems: rows({ ...ENTRY, ...PRIORITY, addedAgain: FLAG }),
    /** Most failures first. `dueInMs` is missing if the key is not delayed. */
    failingItems: rows({ ...ENTRY, attempts: NUMBER, error: TEXT, dueInMs: optional(DURATION) }),
    /** Groups with blocked keys, in no order. `resumesInMs` is null if it does not depend on the time. */
    blockedGroups: rows({ group: TEXT, reason: REASON, blocked: NUMBER, resumesInMs: OR_NULL }),
  }),
  body: lua("snapshot"),
});
