import { declareScript } from "./declare.ts";
import { type Argument, DECIMAL, fields, FLAG, list, NOTHING, NUMBER, optional, rows, TEXT } from "./fields.ts";
import { lua } from "./lua_files.ts";

/** Adds a key, and notes that a process waits for it. */
export const addAndWait = declareScript({
  adds: true,
  retry: "marked",
  args: {
    key: TEXT,
    payload: optional(TEXT),
    replaces: FLAG,
    folds: FLAG,
    priority: DECIMAL,
    trace: optional(TEXT),
    process: TEXT,
    id: NUMBER,
  },
  reply: NOTHING,
  body: lua("add_and_wait"),
});

/** Use of a row of `waits`. */
const KIND = TEXT as Argument<"received" | "ended" | "kept">;

/**
 * Answers a request of a process about its waits. Each row is a wait with its key, or, for `received`, an outcome with
 * the numbers of its waits.
 */
export const waits = declareScript({
  args: { process: TEXT },
  rows: { kind: KIND, key: TEXT, id: TEXT },
  reply: fields({
    outcomes: rows({ ids: TEXT, outcome: TEXT }),
    /** Whether there are more outcomes. */
    isMore: FLAG,
    /** Numbers of waits to keep that the queue doesn't have, or whose keys will not be handed out. */
    lost: list(NUMBER),
  }),
  body: lua("waits"),
});
