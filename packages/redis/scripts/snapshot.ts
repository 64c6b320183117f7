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
    isPaused: FLAG,
    /** Number of retries without budget. Missing if the queue has no retry budget. */
    blockedRetries: optional(NUMBER),
    /** Whether the queue has groups. */
    hasGroups: FLAG,
    /** Totals since the queue was created. */
    totals: metaNumbers({ handedOut: "handedOut", failed: "failed", givenUp: "givenUp" }),
    givenUpFor: metaNumbers(GIVEN_UP_FOR),
    /** Sorted by place. */
    readyEntries: rows({ ...ENTRY, ...PRIORITY }),
    /** Earliest deadline first. */
    delayedEntries: rows({ ...ENTRY, ...PRIORITY, dueInMs: DURATION }),
    processingEntries: rows({ ...ENTRY, ...PRIORITY, addedAgain: FLAG }),
    /** Most failures first. `dueInMs` is missing if the key is not delayed. */
    failingEntries: rows({ ...ENTRY, attempts: NUMBER, error: TEXT, dueInMs: optional(DURATION) }),
    /** Groups with blocked keys, in no order. `changesInMs` is missing if the time of the change is unknown. */
    blockedGroups: rows({ group: TEXT, reason: REASON, blocked: NUMBER, changesInMs: optional(DURATION) }),
  }),
  body: lua("snapshot"),
});
