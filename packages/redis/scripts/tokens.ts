import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Takes tokens from a bucket that queues share. If the call is repeated, tokens are taken again, but not given back
 * again.
 *
 * Processes that wait for a token stand in a line. Each of them calls when its token has come, so a token that is there
 * belongs to the first in the line, the next one to the second, and so on. A process that takes a token goes to the end
 * of the line. A process that doesn't call in time loses its place.
 */
export const tokens = declareScript({
  retry: "marked",
  prelude: lua("throttle_prelude"),
  functions: lua("limiters"),
  args: {
    process: TEXT,
    /** A negative rate stands for an infinite rate. */
    rate: NUMBER,
    burst: NUMBER,
    /** Number of tokens to take, possibly more than the bucket contains. A negative number of tokens is given back. */
    charged: NUMBER,
    /** Number of tokens to take if the bucket contains at least this many. */
    wanted: NUMBER,
    /** Longest time until the next call of a process that waits. */
    longestMs: DURATION,
    /** Time without calls after which the throttle is forgotten, unless its bucket is full only later. */
    expireMs: optional(DURATION),
  },
  reply: fields({
    granted: NUMBER,
    /** Time until the process can have its next token. Missing if all were granted, or no token will come. */
    waitMs: optional(DURATION),
  }),
  body: lua("tokens"),
});
