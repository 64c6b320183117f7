import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DECIMAL, DURATION, FLAG, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Adds a key after its limiter's delay, or after `minDelayMs` if that is longer. `payload` replaces an existing payload
 * only if `isNewest` is true. Replies with nothing on success. If the delay was computed for the wrong
 * number of failures, changes nothing and replies with the correct number.
 */
export const addRateLimited = declareScript({
  retry: "never", // a second run would count a second failure
  adds: true,
  functions: lua("limiters"),
  args: {
    key: TEXT,
    payload: optional(TEXT),
    isNewest: FLAG,
    replaces: FLAG,
    folds: FLAG,
    retriesFirst: FLAG,
    rules: TEXT,
    given: TEXT,
    minDelayMs: DURATION,
    priority: DECIMAL,
    trace: optional(TEXT),
  },
  reply: optional(NUMBER),
  body: lua("add_rate_limited"),
});
