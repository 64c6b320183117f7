import { declareScript } from "./declare.ts";
import { DECIMAL, DURATION, FLAG, NOTHING, NUMBER, optional, TEXT } from "./fields.ts";
import { lua } from "./lua_files.ts";

const args = { delayMs: DURATION, replaces: FLAG, folds: FLAG };

/** Adds keys, now or after a delay. */
export const add = declareScript({ adds: true, args, rows: { key: TEXT }, reply: NOTHING, body: lua("add") });

/** Adds keys with their payloads, now or after a delay. */
export const addItems = declareScript({
  adds: true,
  args,
  rows: { key: TEXT, payload: TEXT },
  reply: NOTHING,
  body: lua("add_items"),
});

/** Arguments of scripts whose rows have delays and priorities of their own. */
const eachArgs = { replaces: FLAG, folds: FLAG, hasItems: FLAG };
const eachFields = { key: TEXT, payload: TEXT, delayMs: DURATION, priority: DECIMAL };

/**
 * Adds keys with delays and priorities of their own, and with their payloads if the queue has payloads. The reply is
 * the number of different keys of the rows that the queue didn't know.
 */
export const addEach = declareScript({
  adds: true,
  args: eachArgs,
  rows: eachFields,
  reply: NUMBER,
  body: lua("add_each"),
});

/** Like `addEach`, with the traceparents of the spans that add the keys. */
export const addTraced = declareScript({
  adds: true,
  args: eachArgs,
  rows: { ...eachFields, trace: optional(TEXT) },
  reply: NUMBER,
  body: lua("add_traced"),
});
