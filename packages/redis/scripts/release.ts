import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { fields, list, NUMBER, optional, TEXT } from "./fields.ts";

/**
 * Hands back keys that an owner has without knowing it, because the reply that handed them out was lost. Each call
 * checks some of the owner's keys. Each row is a token that the owner knows about.
 */
export const release = declareScript({
  args: {
    owner: TEXT,
    /** "0" in the first call, then the cursor of the previous reply. */
    cursor: TEXT,
    /** Largest token to hand back. Missing in the first call. In later calls, the number from the previous reply. */
    final: optional(NUMBER),
  },
  rows: { token: TEXT },
  reply: fields({
    /** "0" if all keys have been checked. */
    cursor: TEXT,
    final: NUMBER,
    /** Tokens from the rows that this call found among the owner's keys. */
    seen: list(TEXT),
  }),
  body: lua("release"),
});
