import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, FLAG, rows, TEXT } from "./fields.ts";

/** Renews the lease of an owner. */
export const renew = declareScript({
  args: { owner: TEXT, leaseMs: DURATION },
  reply: fields({
    /** Whether the owner still had its lease. */
    isThere: FLAG,
    /** Cancelled keys that the owner has; some of them if there are many. */
    cancelled: rows({ token: TEXT, reason: TEXT }),
  }),
  body: lua("renew"),
});
