import { declareScript } from "./declare.ts";
import { lua } from "./lua_files.ts";
import { NOTHING, TEXT } from "./fields.ts";

/** Forgets the failures of a key. */
export const forget = declareScript({
  functions: lua("limiters"),
  args: { key: TEXT },
  reply: NOTHING,
  body: lua("forget"),
});
