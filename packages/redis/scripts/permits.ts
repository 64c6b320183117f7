import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Tells a concurrency throttle how many permits a process uses and how many more it wants, and grants some of these.
 *
 * Each call replaces what the throttle knew of the process, so a call also renews the lease on the permits, gives
 * permits back, and ends the wait for permits. Processes that wait stand in a line. A free permit is reserved for the
 * first in the line, which gets a message and calls.
 */
export const permits = declareScript({
  prelude: lua("throttle_prelude"),
  args: {
    process: TEXT,
    leaseMs: DURATION,
    /** Limit in the config of the process. */
    limit: NUMBER,
    /** Number of the call. A repeated call has the same number, and gets the same reply. */
    nth: NUMBER,
    /** Number of permits that the process uses. */
    using: NUMBER,
    /** Number of further permits that the process wants now. */
    wanted: NUMBER,
    /** Time without calls after which the throttle is forgotten; at least two leases. */
    expireMs: optional(DURATION),
  },
  reply: fields({
    granted: NUMBER,
    /** Number of permits that nobody uses or waits for. */
    left: NUMBER,
    /** Time until permits of other processes may come back without a message. Missing if no such time is known. */
    waitMs: optional(DURATION),
  }),
  body: lua("permits"),
});
