import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { DURATION, fields, FLAG, list, rows, TEXT } from "./fields.ts";

/** Renews the lease of an owner. */
export const renew = declareScript({
  args: {
    owner: TEXT,
    leaseMs: DURATION,
    /** Whether the owner wants to be told of adds of its keys. */
    tellsAdds: FLAG,
  },
  reply: fields({
    /** Whether the owner still had its lease. */
    isThere: FLAG,
    /** Cancelled keys that the owner has; some of them if there are many. */
    cancelled: rows({ token: TEXT, reason: TEXT }),
    /** Tokens of keys that were added while the owner has them, if it wants to know. */
    addedAgain: list(TEXT),
  }),
  body: lua("renew"),
});
